/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_PERFETTO_SCHEDULE_H
#define ETWAS_TOOLS_CONVERT_PERFETTO_SCHEDULE_H

/* Shared by schedule.c and the two encodings of its events. */

#include "convert/perfetto/perfetto.h"

/* Offsets in the payloads of CSwitch, version 2, and ReadyThread. */
enum {
    SWITCH_NEW_AT = 0,
    SWITCH_OLD_AT = 4,
    SWITCH_NEW_PRIORITY_AT = 8,
    SWITCH_OLD_PRIORITY_AT = 9,
    SWITCH_C_STATE_AT = 10,
    SWITCH_REASON_AT = 12,
    SWITCH_MODE_AT = 13, /* in version 2; later versions have thread flags there */
    SWITCH_STATE_AT = 14,
    SWITCH_IDEAL_AT = 15,
    SWITCH_WAIT_TIME_AT = 16,
    SWITCH_VERSION_AT = 24, /* the event's version, appended to the payload */
    SWITCH_VERSION_OF_MODE = 2,
    READY_THREAD_AT = 0,
    READY_REASON_AT = 4,
    READY_INCREMENT_AT = 5,
    READY_FLAG_AT = 6,
};

/* Events of one processor that are not written yet. */
struct etwas_perfetto_bundle {
    struct etwas_wire events;
    uint32_t running; /* the last thread switched in */
    bool has_switch;
    bool has_hole; /* events are missing before its first one */
};

struct etwas_perfetto_happening {
    int64_t time_ns;
    uint32_t processor;
    uint32_t thread;        /* that logged the event, or ran then */
    const uint8_t *payload; /* as long as etwas_kernel_read requires */
};

static inline uint32_t etwas_perfetto_payload_u32(const struct etwas_perfetto_happening *happening,
                                                  size_t at)
{
    uint32_t value;

    memcpy(&value, happening->payload + at, sizeof value);
    return value;
}

void etwas_perfetto_put_ftrace(struct etwas_perfetto *perfetto, struct etwas_wire *events,
                               const struct etwas_perfetto_happening *happening, bool is_switch);
void etwas_perfetto_put_etw(struct etwas_wire *events,
                            const struct etwas_perfetto_happening *happening, bool is_switch);

#endif
