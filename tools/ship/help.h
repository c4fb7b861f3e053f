/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_HELP_H
#define ETWAS_TOOLS_SHIP_HELP_H

/* What `etwas ship --help` says, as etwas_command_help takes it. */
extern const char *const etwas_ship_help[];

#endif
