/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_WAIT_NOTICE_H
#define ETWAS_TOOLS_STEER_WAIT_NOTICE_H

#include "steer/session.h"

#include <etwas/etwas.h>

/*
 * etwas_steer_control, for what a host may need its time for: after about two seconds it says on
 * standard error what it waits for.
 */
bool etwas_steer_control_with_notice(const char *command, const char *name,
                                     struct etwas_steer_block *block, uint32_t control_code);

/*
 * The same of STOP: etwas_stop of a handle that etwas_steer_find_session has found. `counts` has
 * the last ones then.
 */
bool etwas_steer_stop_with_notice(const char *command, const char *name, TRACEHANDLE handle,
                                  etwas_session_counts *counts);

#endif
