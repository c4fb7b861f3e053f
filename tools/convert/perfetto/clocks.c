/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock of a trace's times, and its relation to other clocks.
 *
 * All events are in one clock, the primary one. For one etwas trace that uses the performance
 * counter or the cycle counter, it is CLOCK_MONOTONIC_RAW, which is never set. Otherwise it is
 * nanoseconds since 1970, as `etwas dump` shows them: for several files, which may come from
 * several machines, for a file of another system, and for one that uses the system time. Readers
 * convert between two snapshots by a constant offset, so no event is left for them to convert. The
 * wall clock is written once a second, so that readers can show dates.
 */

#include "convert/perfetto/perfetto.h"

#include <etwas/evntrace.h>

enum {
    PACKET_SNAPSHOT = 6,
    PACKET_DROPPED = 42,
    PACKET_DEFAULTS = 59,
    DEFAULTS_EVENT = 11,
    SNAPSHOT_CLOCK = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    CLOCK_IS_INCREMENTAL = 3,
    COUNTER_VALUE = 30,
    DESCRIPTOR_COUNTER = 8,
    COUNTER_UNIT = 3,
    UNIT_NS = 1,
    STATE_BYTES = 8 << 20, /* in the spool; somewhat less than half of it in the trace */
};

#define FILETIME_OF_1970 INT64_C(116444736000000000)
#define SECOND_NS INT64_C(1000000000)

static void put_clock(struct etwas_wire *packet, uint32_t clock, int64_t time_ns)
{
    size_t began = etwas_wire_begin(packet, SNAPSHOT_CLOCK);

    etwas_wire_number(packet, CLOCK_ID, clock);
    etwas_wire_number(packet, CLOCK_TIME, (uint64_t)time_ns);
    if (clock == ETWAS_PERFETTO_STEPS) {
        etwas_wire_number(packet, CLOCK_IS_INCREMENTAL, 1);
    }
    etwas_wire_end(packet, began);
}

static int64_t not_negative(int64_t time_ns)
{
    return time_ns > 0 ? time_ns : 0;
}

/*
 * Returns the wall clock at the current event, in nanoseconds since 1970; the event's own time if
 * the trace does not have it.
 */
static int64_t wall_clock(const struct etwas_convert *convert)
{
    const struct etwas_current_event *current = &convert->current;
    etwas_clock_time time = {0, UINT64_MAX};
    int64_t since_1970;
    int64_t ns;

    if (etwas_trace_convert_time(current->input->trace,
                                 current->record->EventHeader.TimeStamp.QuadPart,
                                 ETWAS_CLOCK_SYSTEM_TIME, &time) != ERROR_SUCCESS ||
        __builtin_sub_overflow(time.value, FILETIME_OF_1970, &since_1970) ||
        __builtin_mul_overflow(since_1970, INT64_C(100), &ns)) {
        return convert->time_ns;
    }
    return ns;
}

void etwas_perfetto_write_state(struct etwas_perfetto *perfetto, int64_t time_ns, bool has_dropped)
{
    struct etwas_wire *packet = &perfetto->packet;
    size_t began;
    size_t inner;

    if (time_ns > perfetto->last_ns) {
        perfetto->last_ns = time_ns;
    }
    began = etwas_wire_begin(packet, PACKET_DEFAULTS);
    etwas_wire_number(packet, PACKET_CLOCK, ETWAS_PERFETTO_STEPS);
    inner = etwas_wire_begin(packet, DEFAULTS_EVENT);
    etwas_wire_number(packet, EVENT_TRACK, perfetto->usual_track);
    etwas_wire_end(packet, inner);
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_FLAGS, PACKET_CLEARED);
    if (has_dropped) {
        etwas_wire_number(packet, PACKET_DROPPED, 1);
    }
    etwas_perfetto_put_own_names(packet);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_EVENTS);
    etwas_perfetto_write_packet(perfetto);
    began = etwas_wire_begin(packet, PACKET_SNAPSHOT);
    put_clock(packet, ETWAS_PERFETTO_STEPS, perfetto->last_ns);
    put_clock(packet, perfetto->primary, perfetto->last_ns);
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_EVENTS);
    etwas_perfetto_write_packet(perfetto);
    etwas_perfetto_stacks_tell_again(perfetto);
}

/*
 * Readers expect heap dumps in the coarse clock, and process starts in the boot clock. Here, both
 * equal the primary clock.
 */
static void put_first_snapshot(struct etwas_perfetto *perfetto, int64_t time_ns, int64_t wall_ns)
{
    struct etwas_wire *packet = &perfetto->packet;
    size_t began = etwas_wire_begin(packet, PACKET_SNAPSHOT);
    bool is_raw = perfetto->primary == ETWAS_PERFETTO_MONOTONIC_RAW;

    put_clock(packet, ETWAS_PERFETTO_MONOTONIC_RAW, time_ns);
    put_clock(packet, ETWAS_PERFETTO_REALTIME, is_raw ? wall_ns : time_ns);
    put_clock(packet, ETWAS_PERFETTO_MONOTONIC_COARSE, time_ns);
    put_clock(packet, ETWAS_PERFETTO_BOOTTIME, time_ns);
    etwas_wire_number(packet, SNAPSHOT_PRIMARY, perfetto->primary);
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
    etwas_perfetto_write_packet(perfetto);
}

int64_t etwas_perfetto_primary_ns(const struct etwas_perfetto *perfetto, int64_t time_ns)
{
    int64_t ns;

    return __builtin_sub_overflow(time_ns, perfetto->offset_ns, &ns) ? 0 : not_negative(ns);
}

/* Begins the trace. Nothing is in the spool yet, so the snapshot is written directly. */
static void begin_at(struct etwas_perfetto *perfetto, int64_t time_ns, int64_t wall_ns)
{
    perfetto->has_begun = true;
    perfetto->first_ns = time_ns;
    perfetto->latest_ns = time_ns;
    perfetto->last_ns = time_ns;
    put_first_snapshot(perfetto, time_ns, wall_ns);
}

void etwas_perfetto_begin(struct etwas_perfetto *perfetto)
{
    if (!perfetto->has_begun) {
        perfetto->primary = ETWAS_PERFETTO_REALTIME;
        begin_at(perfetto, not_negative(etwas_input_start_ns(&perfetto->convert->run.inputs[0])),
                 0);
    }
}

/*
 * Begins the trace at the current event. A single etwas file keeps its clock, which other tools
 * know. Several files, and those of other systems, do not. The difference of the two clocks is the
 * same for all events of a file.
 */
static void begin_by_event(struct etwas_perfetto *perfetto)
{
    const struct etwas_convert *convert = perfetto->convert;
    const struct etwas_current_event *current = &convert->current;
    int64_t raw = current->record->EventHeader.TimeStamp.QuadPart;
    etwas_trace_clock clock = {.clock_snapshots = 0};
    etwas_clock_time time;

    (void)etwas_trace_query_clock(current->input->trace, &clock);
    perfetto->primary = ETWAS_PERFETTO_MONOTONIC_RAW;
    if (convert->run.count > 1 || clock.clock_snapshots == 0 ||
        clock.clock == ETWAS_CLOCK_SYSTEM_TIME ||
        etwas_trace_convert_time(current->input->trace, raw, ETWAS_CLOCK_QPC, &time) !=
            ERROR_SUCCESS ||
        __builtin_sub_overflow(convert->time_ns, time.value, &perfetto->offset_ns)) {
        perfetto->primary = ETWAS_PERFETTO_REALTIME;
        perfetto->offset_ns = 0;
    }
    begin_at(perfetto, etwas_perfetto_primary_ns(perfetto, convert->time_ns), wall_clock(convert));
}

static void put_wall_clock(struct etwas_perfetto *perfetto, int64_t time_ns)
{
    struct etwas_wire *packet = &perfetto->packet;
    size_t began = etwas_wire_begin(packet, PACKET_SNAPSHOT);

    put_clock(packet, perfetto->primary, time_ns);
    put_clock(packet, ETWAS_PERFETTO_REALTIME, wall_clock(perfetto->convert));
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
    etwas_perfetto_put_packet(perfetto);
}

/* Writes the error of the file's times from here on. */
static void put_error(struct etwas_perfetto *perfetto, struct etwas_perfetto_file *file,
                      int64_t time_ns)
{
    struct etwas_perfetto_record record = {.kind = ETWAS_PERFETTO_PUT_EVENT,
                                           .time_ns = time_ns,
                                           .file =
                                               (uint16_t)perfetto->convert->current.input->number};
    size_t began;
    size_t counter;

    if (file->error_track == 0) {
        file->error_track = ++perfetto->uuid;
        began = etwas_perfetto_begin_track(perfetto, file->error_track, 0);
        etwas_wire_text(&perfetto->packet, DESCRIPTOR_NAME, "time error");
        counter = etwas_wire_begin(&perfetto->packet, DESCRIPTOR_COUNTER);
        etwas_wire_number(&perfetto->packet, COUNTER_UNIT, UNIT_NS);
        etwas_wire_end(&perfetto->packet, counter);
        etwas_perfetto_end_track(perfetto, began);
        etwas_perfetto_put_packet(perfetto);
    }
    file->error_ns = perfetto->convert->error_ns;
    file->events++;
    etwas_wire_number(&perfetto->event, EVENT_TYPE, EVENT_COUNTER);
    etwas_wire_number(&perfetto->event, EVENT_TRACK, file->error_track);
    etwas_wire_number(&perfetto->event, COUNTER_VALUE, file->error_ns);
    etwas_perfetto_put_event(perfetto, &record, NULL);
}

/*
 * Repeating the state keeps an extracted part readable, and restores names that were first used in
 * a dropped event.
 */
void etwas_perfetto_put_state(struct etwas_perfetto *perfetto, int64_t time_ns)
{
    struct etwas_perfetto_record record = {
        .kind = ETWAS_PERFETTO_PUT_STATE, .time_ns = time_ns, .place = perfetto->has_dropped};

    if (perfetto->needs_state || perfetto->state_bytes > STATE_BYTES ||
        perfetto->names.count > ETWAS_PERFETTO_NAMES) {
        etwas_perfetto_put_event(perfetto, &record, NULL);
        etwas_perfetto_names_tell_again(&perfetto->names);
        perfetto->needs_state = false;
        perfetto->has_dropped = false;
        perfetto->state_bytes = 0;
    }
}

int64_t etwas_perfetto_time(struct etwas_perfetto *perfetto)
{
    const struct etwas_convert *convert = perfetto->convert;
    struct etwas_perfetto_file *file = &perfetto->files[convert->current.input->number - 1];
    int64_t time_ns;

    if (!perfetto->has_begun) {
        begin_by_event(perfetto);
    }
    time_ns = etwas_perfetto_primary_ns(perfetto, convert->time_ns);
    perfetto->latest_ns = time_ns > perfetto->latest_ns ? time_ns : perfetto->latest_ns;
    if (time_ns >= file->next_clock_ns) {
        file->next_clock_ns = time_ns <= INT64_MAX - SECOND_NS ? time_ns + SECOND_NS : INT64_MAX;
        if (perfetto->primary == ETWAS_PERFETTO_MONOTONIC_RAW) {
            put_wall_clock(perfetto, time_ns);
        }
        if (convert->error_ns != file->error_ns && convert->error_ns <= INT64_MAX) {
            put_error(perfetto, file, time_ns);
        }
    }
    return time_ns;
}
