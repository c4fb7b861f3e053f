/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_COMMANDS_H
#define ETWAS_TOOLS_COMMANDS_H

/* The table of each command, defined at the end of the command's main source. */

#include "cli/command.h"

extern const struct etwas_command etwas_advise_command;
extern const struct etwas_command etwas_autologger_command;
extern const struct etwas_command etwas_clocks_command;
extern const struct etwas_command etwas_convert_command;
extern const struct etwas_command etwas_diff_command;
extern const struct etwas_command etwas_disable_command;
extern const struct etwas_command etwas_dump_command;
extern const struct etwas_command etwas_enable_command;
extern const struct etwas_command etwas_flush_command;
extern const struct etwas_command etwas_guid_command;
extern const struct etwas_command etwas_ps_command;
extern const struct etwas_command etwas_query_command;
extern const struct etwas_command etwas_record_command;
extern const struct etwas_command etwas_recover_command;
extern const struct etwas_command etwas_report_command;
extern const struct etwas_command etwas_schema_command;
extern const struct etwas_command etwas_ship_command;
extern const struct etwas_command etwas_snapshot_command;
extern const struct etwas_command etwas_spans_command;
extern const struct etwas_command etwas_start_command;
extern const struct etwas_command etwas_stat_command;
extern const struct etwas_command etwas_stop_command;
extern const struct etwas_command etwas_tail_command;
extern const struct etwas_command etwas_update_command;
extern const struct etwas_command etwas_why_command;

#endif
