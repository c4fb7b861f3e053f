/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_PATIENCE_H
#define ETWAS_TOOLS_STEER_PATIENCE_H

#include "steer/session.h"

/*
 * etwas_steer_control, for what a host may need its time for: after about two seconds it says on standard error what it
 * waits for.
 */
bool etwas_steer_control_patiently(const char *command, const char *name,
                                   struct etwas_steer_block *block, uint32_t control_code);

#endif
