/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_ALPC, _REGISTRY and _DRIVER: groups without sources. Each emits one record that
 * says so.
 */
#include "system/groups/event_groups.h"

#include <etwas/evntrace.h>
#include <stdio.h>

#include "etl/own_record.h"

struct empty_group {
    uint32_t flag;
    const char *reason;
};

enum {
    ALPC,
    REGISTRY,
    DRIVER,
};

static const struct empty_group empty_groups[] = {
    [ALPC] = {EVENT_TRACE_FLAG_ALPC,
              "ALPC records nothing, since Linux has no local procedure calls"},
    [REGISTRY] = {EVENT_TRACE_FLAG_REGISTRY,
                  "REGISTRY records nothing, since Linux has no registry"},
    [DRIVER] = {EVENT_TRACE_FLAG_DRIVER,
                "DRIVER records nothing, since Linux's drivers have no major functions"},
};

uint32_t etwas_empty_group_flags(uint32_t flags)
{
    return flags & (EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_REGISTRY | EVENT_TRACE_FLAG_DRIVER);
}

void etwas_empty_group_explain(uint32_t flags, char *text, size_t room)
{
    size_t at = 0;

    text[0] = 0;
    for (size_t index = 0; index < sizeof empty_groups / sizeof empty_groups[0]; index++) {
        if ((flags & empty_groups[index].flag) != 0 && at < room) {
            at += (size_t)snprintf(text + at, room - at, "%s%s", at == 0 ? "" : "; ",
                                   empty_groups[index].reason);
        }
    }
}

void etwas_empty_group_emit(const struct etwas_event_group_host *host, uint32_t flag,
                            const char *reason)
{
    etwas_record_builder_begin_class(host->record, &etwas_etl_own_class, ETWAS_ETL_SILENT_FLAG_TYPE,
                                     ETWAS_ETL_SILENT_FLAG_VERSION);
    etwas_record_builder_put_u32(host->record, ETWAS_ETL_SILENT_FLAG_VERSION);
    etwas_record_builder_put_u32(host->record, flag);
    etwas_record_builder_put_ansi(host->record, reason);
    etwas_emit_now(host->emitter, etwas_record_builder_end(host->record));
}

#define GROUP(name, number)                                                                        \
    static void run_down_##name(void *state, const struct etwas_event_group_host *host,            \
                                bool is_end)                                                       \
    {                                                                                              \
        (void)state;                                                                               \
        if (!is_end) {                                                                             \
            etwas_empty_group_emit(host, empty_groups[number].flag, empty_groups[number].reason);  \
        }                                                                                          \
    }                                                                                              \
    const struct etwas_event_group etwas_event_group_##name = {.flags = EVENT_TRACE_FLAG_##number, \
                                                               .run_down = run_down_##name};

GROUP(alpc, ALPC)
GROUP(registry, REGISTRY)
GROUP(drivers, DRIVER)
