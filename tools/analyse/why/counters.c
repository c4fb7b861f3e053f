/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The events of instances themselves, for threads without kernel events: the counters recorded with
 * START and END, and the processors on which events were logged.
 */

#include "analyse/why/why.h"

#include "analyse/counts/counts.h"
#include "event/event.h"
#include "event/names.h"

#include <string.h>

/* The format is documented in docs/reference/file-format.md. */
enum {
    RUNG_TYPE = 10,
    COUNTERS_TYPE = 13,
    VERSION = 1,
    RUNG_AT = 4,
    RUNG_PROCESS_AT = 8,
    RUNG_ERROR_AT = 12,
    RUNG_BYTES = 16,
    KNOWN_AT = 4,
    TYPE_AT = 44,
    PROCESSOR_AT = 48,
    VALUES_AT = 56,
    COUNTERS_BYTES = VALUES_AT + ETWAS_WHY_COUNTERS * sizeof(uint64_t),
    RAN = 1,
    USED = 2,
    WAITED = 4,
};

/* Returns whether it is a record of etwas itself with this type and at least `bytes` bytes. */
static bool is_own(const EVENT_RECORD *record, uint8_t type, size_t bytes)
{
    return etwas_event_is_of_class(record, &etwas_names_own_class) &&
           record->EventHeader.EventDescriptor.Opcode == type && record->UserDataLength >= bytes &&
           etwas_event_u32(record, 0) == VERSION;
}

void etwas_why_take_rung(struct etwas_why *why, const EVENT_RECORD *record)
{
    if (why->rung == 0 && is_own(record, RUNG_TYPE, RUNG_BYTES)) {
        why->rung = etwas_event_u32(record, RUNG_AT);
        why->rung_process = etwas_event_u32(record, RUNG_PROCESS_AT);
        why->rung_error = etwas_event_u32(record, RUNG_ERROR_AT);
    }
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Subtracts `begin`. Returns false if a counter decreased, so that the values are of no use. */
static bool subtract(struct etwas_why_counters *from, const struct etwas_why_counters *begin)
{
    for (uint32_t i = 0; i < ETWAS_WHY_COUNTERS; i++) {
        if (from->values[i] < begin->values[i]) {
            return false;
        }
        from->values[i] -= begin->values[i];
    }
    from->known &= begin->known;
    from->time_ns = (int64_t)etwas_kernel_ns(begin->time_ns, from->time_ns);
    return true;
}

static void take_counters(struct etwas_why_own *own, const EVENT_RECORD *record, int64_t time_ns)
{
    struct etwas_why_counters counters = {
        .known = etwas_event_u32(record, KNOWN_AT),
        .type = etwas_event_u32(record, TYPE_AT),
        .processor = etwas_event_u32(record, PROCESSOR_AT),
        .time_ns = time_ns,
    };

    memcpy(counters.values, (const char *)record->UserData + VALUES_AT, sizeof counters.values);
    if (counters.type == EVENT_TRACE_TYPE_START) {
        own->begin = counters;
    } else if (counters.type == EVENT_TRACE_TYPE_END && own->begin.type == EVENT_TRACE_TYPE_START) {
        own->is_counted = subtract(&counters, &own->begin);
        own->used = counters;
    }
}

/* ---- processors ------------------------------------------------------------------------------ */

/*
 * Returns false if the processor of the record is not known. Then the session does not have a
 * stream for each processor, or the thread logs to the stream beside these.
 */
static bool find_processor(const struct etwas_input *input, const EVENT_RECORD *record,
                           uint32_t *processor)
{
    if (is_own(record, COUNTERS_TYPE, COUNTERS_BYTES)) {
        *processor = etwas_event_u32(record, PROCESSOR_AT);
        return true;
    }
    *processor = record->BufferContext.ProcessorIndex;
    return etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode) &&
           !etwas_counts_is_beside_processors(input, *processor);
}

static void note_processor(struct etwas_why_own *own, const struct etwas_input *input,
                           const EVENT_RECORD *record)
{
    uint32_t processor;

    if (find_processor(input, record, &processor)) {
        own->processor_changes += own->has_processor && own->processor != processor;
        own->has_processor = true;
        own->processor = processor;
    }
}

/* ---- instances ------------------------------------------------------------------------------- */

void etwas_why_count(struct etwas_why *why, const struct etwas_input *input, const etwas_span *span,
                     const EVENT_RECORD *record, int64_t time_ns)
{
    struct etwas_why_own *own;

    if (!why->follows || span->place >= why->open_capacity ||
        why->open[span->place].number != span->number) {
        return;
    }
    own = &why->open[span->place].own;
    own->is_elsewhere |= record->EventHeader.ThreadId != span->thread;
    note_processor(own, input, record);
    if (is_own(record, COUNTERS_TYPE, COUNTERS_BYTES)) {
        take_counters(own, record, time_ns);
    }
}

static uint64_t no_more_than(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/*
 * Between the two readings, the thread was blocked in the time that it neither ran nor waited for a
 * processor. The time before and after them is not known. Without a voluntary switch the thread was
 * not blocked.
 */
void etwas_why_use_counters(struct etwas_why_own *own, struct etwas_why_times *times,
                            uint64_t duration_ns)
{
    const struct etwas_why_counters *used = &own->used;
    uint64_t left = no_more_than((uint64_t)used->time_ns, duration_ns);

    if (times->unknown_ns < duration_ns) {
        own->by = ETWAS_WHY_BY_SWITCHES;
    } else if (own->is_counted && !own->is_elsewhere && (used->known & RAN) != 0) {
        own->by = ETWAS_WHY_BY_COUNTERS;
        times->running_ns = no_more_than(used->values[ETWAS_WHY_RAN_NS], left);
        left -= times->running_ns;
        times->ready_ns = no_more_than(used->values[ETWAS_WHY_WAITED_NS], left);
        left -= times->ready_ns;
        if ((used->known & (WAITED | USED)) == (WAITED | USED) &&
            used->values[ETWAS_WHY_VOLUNTARY] > 0) {
            times->blocked_ns = left;
        }
        times->unknown_ns = duration_ns - times->running_ns - times->ready_ns - times->blocked_ns;
        times->faults = used->values[ETWAS_WHY_MINOR_FAULTS] + used->values[ETWAS_WHY_MAJOR_FAULTS];
    }
}
