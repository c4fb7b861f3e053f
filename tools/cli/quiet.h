/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_QUIET_H
#define ETWAS_TOOLS_CLI_QUIET_H

#include <stdbool.h>

/*
 * --quiet was given: no notes and no progress on standard error. Errors are still printed, and
 * damage and losses, which make an answer incomplete.
 */
extern bool etwas_is_quiet;

#endif
