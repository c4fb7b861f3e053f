/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_NO_ROOM_H
#define ETWAS_TOOLS_CLI_NO_ROOM_H

/* Why a file cannot grow: a limit, a quota, or a full disk. */

#include <stdint.h>

/*
 * Returns why a process (0: this one) cannot write more, as part of a sentence. It is valid until
 * the next call.
 */
const char *etwas_no_room_reason(uint32_t process);

/* Returns etwas_error_text, or for ERROR_DISK_FULL the reason for this process. */
const char *etwas_no_room_error_text(uint32_t code);

#endif
