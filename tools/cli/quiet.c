/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The value of --quiet, in an object of its own: what has notes is linked without the commands,
 * too.
 */

#include "cli/quiet.h"

bool etwas_is_quiet;
