/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_QUIET_H
#define ETWAS_TOOLS_CLI_QUIET_H

#include <stdbool.h>

/*
 * --quiet was given: neither notes nor progress go to standard error. Errors do, and what says that
 * an answer lacks something: damage and losses.
 */
extern bool etwas_is_quiet;

#endif
