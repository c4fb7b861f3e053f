/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_PERFETTO_SCHEDULE_H
#define ETWAS_TOOLS_CONVERT_PERFETTO_SCHEDULE_H

/*
 * What schedule.c and the two forms of its events share.
 */

#include "convert/perfetto/perfetto.h"

/* Where CSwitch, version 2, and ReadyThread have what. */
enum {
    SWITCH_NEW_AT = 0,
    SWITCH_OLD_AT = 4,
    SWITCH_NEW_PRIORITY_AT = 8,
    SWITCH_OLD_PRIORITY_AT = 9,
    SWITCH_C_STATE_AT = 10,
    SWITCH_REASON_AT = 12,
    SWITCH_MODE_AT = 13, /* of version 2; later ones have flags of the thread there */
    SWITCH_STATE_AT = 14,
    SWITCH_IDEAL_AT = 15,
    SWITCH_WAIT_TIME_AT = 16,
    SWITCH_VERSION_AT = 24, /* put behind the payload */
    SWITCH_VERSION_OF_MODE = 2,
    READY_THREAD_AT = 0,
    READY_REASON_AT = 4,
    READY_INCREMENT_AT = 5,
    READY_FLAG_AT = 6,
};

/* Events of one processor that are not written yet. */
struct etwas_perfetto_bundle {
    struct etwas_wire events;
    uint32_t running; /* the thread that was switched in last */
    bool has_switch;
    bool has_hole; /* before its first event something is missing */
};

struct etwas_perfetto_happening {
    int64_t time_ns;
    uint32_t processor;
    uint32_t thread;        /* that logged it, or ran then */
    const uint8_t *payload; /* as long as etwas_kernel_read wants it */
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
