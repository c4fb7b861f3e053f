/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The table of verbs (provider/source.h), through which all other folders use this one. */
#include "provider/source.h"

#include "system/groups/event_groups.h"
#include "system/keywords.h"
#include "system/logger.h"
#include "system/stream/event_group.h"
#include "system/unavailability.h"

static uint32_t source_silent(uint32_t flags, char *text, size_t room)
{
    if (text != NULL) {
        etwas_empty_group_explain(flags, text, room);
    }
    return etwas_empty_group_flags(flags);
}

const struct etwas_source etwas_kernel_source = {
    .flags = etwas_event_group_flags,
    .silent = source_silent,
    .keywords = etwas_system_provider_keywords,
    .explain = etwas_unavailability_explain,
    .begin = etwas_system_logger_begin,
    .start = etwas_system_logger_start,
    .await_run_down = etwas_system_logger_await_run_down,
    .state = etwas_system_logger_state,
    .update = etwas_system_logger_change,
    .run_down = etwas_system_logger_capture,
    .before_snapshot = etwas_system_logger_emit_symbols,
    .end = etwas_system_logger_end,
    .forget = etwas_system_logger_forget,
};
