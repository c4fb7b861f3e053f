/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DUMP_COLUMNS_HELP_H
#define ETWAS_TOOLS_DUMP_COLUMNS_HELP_H

/* What each column of `etwas dump` is: the guide "columns" of the help. */
extern const char etwas_dump_columns_help[];

#endif
