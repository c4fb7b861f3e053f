/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The value of --quiet, in an object file of its own, so that code with notes can be linked without
 * the commands.
 */

#include "cli/quiet.h"

bool etwas_is_quiet;
