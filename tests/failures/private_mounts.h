/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Mounts that only this process and its children see, and that are gone with them, however they
 * end.
 */
#ifndef ETWAS_FAILURES_PRIVATE_MOUNTS_H
#define ETWAS_FAILURES_PRIVATE_MOUNTS_H

/*
 * Call it first in main, while there is one thread. Needs root, or a system where users may have
 * namespaces of their own. Returns NULL, or why it cannot be.
 */
const char *enter_private_mounts(void);

#endif
