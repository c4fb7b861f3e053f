/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_ALPC, _REGISTRY and _DRIVER: topics without a source.
 */
#include "system/silent.h"

#include <etwas/evntrace.h>
#include <stdio.h>

#include "system/topics.h"

static const struct {
    uint32_t flag;
    const char *reason;
} silent[] = {
    {EVENT_TRACE_FLAG_ALPC, "ALPC records nothing, since Linux has no local procedure calls"},
    {EVENT_TRACE_FLAG_REGISTRY, "REGISTRY records nothing, since Linux has no registry"},
    {EVENT_TRACE_FLAG_DRIVER,
     "DRIVER records nothing, since Linux's drivers have no major functions"},
};

uint32_t etwas_silent_flags(uint32_t flags)
{
    return flags & etwas_topic_silent.flags;
}

void etwas_silent_explain(uint32_t flags, char *text, size_t room)
{
    size_t at = 0;

    text[0] = 0;
    for (size_t index = 0; index < sizeof silent / sizeof silent[0]; index++) {
        if ((flags & silent[index].flag) != 0 && at < room) {
            at += (size_t)snprintf(text + at, room - at, "%s%s", at == 0 ? "" : "; ",
                                   silent[index].reason);
        }
    }
}

const struct etwas_topic etwas_topic_silent = {
    .flags = EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_REGISTRY | EVENT_TRACE_FLAG_DRIVER,
};
