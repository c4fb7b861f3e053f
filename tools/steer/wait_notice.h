/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_WAIT_NOTICE_H
#define ETWAS_TOOLS_STEER_WAIT_NOTICE_H

#include "steer/session.h"

#include <etwas/etwas.h>

/*
 * Does the same as etwas_steer_control, for requests that a host may need time for. After about two
 * seconds, prints on standard error what it is waiting for.
 */
bool etwas_steer_control_with_notice(const char *command, const char *name,
                                     struct etwas_steer_block *block, uint32_t control_code);

/*
 * Stops a session in the same way, with etwas_stop. `handle` is from etwas_steer_find_session. Sets
 * `counts` to the last ones.
 */
bool etwas_steer_stop_with_notice(const char *command, const char *name, TRACEHANDLE handle,
                                  etwas_session_counts *counts);

#endif
