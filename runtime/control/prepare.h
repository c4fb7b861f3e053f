/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What has to be there before the first control call: tables, locks, and what happens at fork.
 */
#ifndef ETWAS_CONTROL_PREPARE_H
#define ETWAS_CONTROL_PREPARE_H

/* Any control call makes it first. The first one in a process does the work. */
void etwas_prepare(void);

#endif
