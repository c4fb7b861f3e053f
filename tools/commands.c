/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* All commands, in the order of `etwas help`, and the guides that several of them share. */

#include "commands.h"
#include "cli/command.h"
#include "cli/guides.h"
#include "dump/columns_help.h"
#include "trace/window.h"
#include "where/option.h"

const struct etwas_command *const etwas_commands[] = {
    &etwas_record_command,   &etwas_recover_command,
    &etwas_start_command,    &etwas_stop_command,
    &etwas_ps_command,       &etwas_query_command,
    &etwas_update_command,   &etwas_flush_command,
    &etwas_snapshot_command, &etwas_enable_command,
    &etwas_disable_command,  &etwas_autologger_command,
    &etwas_guid_command,     &etwas_dump_command,
    &etwas_tail_command,     &etwas_schema_command,
    &etwas_stat_command,     &etwas_spans_command,
    &etwas_why_command,      &etwas_diff_command,
    &etwas_report_command,   &etwas_convert_command,
    &etwas_ship_command,     &etwas_clocks_command,
    &etwas_advise_command,   NULL,
};

const struct etwas_guide etwas_guides[] = {
    {"columns", "what dump and tail can show of an event",
     (const char *const[]){etwas_dump_columns_help, NULL}},
    {"conditions", "the expressions of --where", (const char *const[]){etwas_where_help, NULL}},
    {"times", "the times of --from and --until", (const char *const[]){etwas_window_help, NULL}},
    {NULL, NULL, NULL},
};
