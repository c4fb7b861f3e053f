/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes context switches of Windows as Perfetto's EtwTraceEvent. */

#include "convert/perfetto/schedule.h"

/* Fields of EtwTraceEvent, CSwitchEtwEvent and ReadyThreadEtwEvent. */
enum {
    BUNDLE_EVENT = 2,
    TIMESTAMP = 1,
    C_SWITCH = 2,
    READY_THREAD = 3,
    PROCESSOR = 4,
    THREAD = 5,
    NEW_THREAD = 1,
    OLD_THREAD = 2,
    NEW_PRIORITY = 3,
    OLD_PRIORITY = 4,
    C_STATE = 5,
    STATE = 8,
    IDEAL_PROCESSOR = 9,
    WAIT_TIME = 10,
    REASON = 11,
    MODE = 12,
    READIED = 1,
    INCREMENT = 3,
    READY_REASON = 5,
    READY_FLAG = 6,
};

static void put_switch(struct etwas_wire *events, const struct etwas_perfetto_happening *happening)
{
    const uint8_t *payload = happening->payload;

    etwas_wire_number(events, NEW_THREAD, etwas_perfetto_payload_u32(happening, SWITCH_NEW_AT));
    etwas_wire_number(events, OLD_THREAD, etwas_perfetto_payload_u32(happening, SWITCH_OLD_AT));
    etwas_wire_zigzag(events, NEW_PRIORITY, (int8_t)payload[SWITCH_NEW_PRIORITY_AT]);
    etwas_wire_zigzag(events, OLD_PRIORITY, (int8_t)payload[SWITCH_OLD_PRIORITY_AT]);
    etwas_wire_number(events, C_STATE, payload[SWITCH_C_STATE_AT]);
    etwas_wire_number(events, STATE, payload[SWITCH_STATE_AT]);
    etwas_wire_zigzag(events, IDEAL_PROCESSOR, (int8_t)payload[SWITCH_IDEAL_AT]);
    etwas_wire_number(events, WAIT_TIME,
                      etwas_perfetto_payload_u32(happening, SWITCH_WAIT_TIME_AT));
    etwas_wire_number(events, REASON, payload[SWITCH_REASON_AT]);
    if (payload[SWITCH_VERSION_AT] == SWITCH_VERSION_OF_MODE) {
        etwas_wire_number(events, MODE, payload[SWITCH_MODE_AT]);
    }
}

static void put_ready(struct etwas_wire *events, const struct etwas_perfetto_happening *happening)
{
    const uint8_t *payload = happening->payload;

    etwas_wire_number(events, READIED, etwas_perfetto_payload_u32(happening, READY_THREAD_AT));
    etwas_wire_number(events, READY_REASON, payload[READY_REASON_AT]);
    etwas_wire_zigzag(events, INCREMENT, (int8_t)payload[READY_INCREMENT_AT]);
    etwas_wire_number(events, READY_FLAG, payload[READY_FLAG_AT]);
}

void etwas_perfetto_put_etw(struct etwas_wire *events,
                            const struct etwas_perfetto_happening *happening, bool is_switch)
{
    size_t event = etwas_wire_begin(events, BUNDLE_EVENT);
    size_t inner;

    etwas_wire_number(events, TIMESTAMP, (uint64_t)happening->time_ns);
    etwas_wire_number(events, PROCESSOR, happening->processor);
    etwas_wire_number(events, THREAD, happening->thread);
    inner = etwas_wire_begin(events, is_switch ? C_SWITCH : READY_THREAD);
    if (is_switch) {
        put_switch(events, happening);
    } else {
        put_ready(events, happening);
    }
    etwas_wire_end(events, inner);
    etwas_wire_end(events, event);
}
