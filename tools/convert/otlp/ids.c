/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Trace and span ids. An activity already has an id, which other processes and machines know too.
 * An instance is identified by its class, number, process and session.
 */

#include "convert/otlp/otlp.h"

#include "math/hash.h"

static const etwas_guid no_guid;

/* splitmix64's mixer: every bit of the result depends on all bits of the sum. */
static uint64_t mixed(uint64_t sum)
{
    sum = (sum ^ sum >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    sum = (sum ^ sum >> 27) * UINT64_C(0x94d049bb133111eb);
    return sum ^ sum >> 31;
}

/* Writes an id in big-endian order. 0 is not a valid id, and becomes 1. */
static void put_id(uint8_t *to, uint64_t sum)
{
    sum = sum != 0 ? sum : 1;
    for (int byte = 0; byte < 8; byte++) {
        to[byte] = (uint8_t)(sum >> (56 - 8 * byte));
    }
}

/* Writes a GUID's bytes in the order of its text. */
static void put_guid(uint8_t *to, const etwas_guid *guid)
{
    put_id(to, (uint64_t)guid->Data1 << 32 | (uint64_t)guid->Data2 << 16 | guid->Data3);
    memcpy(to + 8, guid->Data4, sizeof guid->Data4);
}

static bool is_none(const etwas_guid *guid)
{
    return memcmp(guid, &no_guid, sizeof no_guid) == 0;
}

/* Returns a hash of the session and of the span in it. */
static uint64_t sum_of(const struct etwas_convert *convert)
{
    const EVENT_TRACE_LOGFILEA *logfile = &convert->current.input->logfile;
    const etwas_wchar *name = logfile->LogfileHeader.LoggerName;
    const etwas_span *span = convert->span;
    uint64_t sum = ETWAS_HASH_OF_NOTHING;

    for (; name != NULL && *name != 0; name++) {
        sum = etwas_hash(sum, name, sizeof *name);
    }
    sum =
        etwas_hash(sum, &logfile->LogfileHeader.StartTime, sizeof logfile->LogfileHeader.StartTime);
    sum = etwas_hash(sum, &span->guid, sizeof span->guid);
    sum = etwas_hash(sum, &span->activity, sizeof span->activity);
    sum = etwas_hash(sum, &span->instance, sizeof span->instance);
    sum = etwas_hash(sum, &span->process, sizeof span->process);
    return etwas_hash(sum, &convert->current.record->EventHeader.TimeStamp,
                      sizeof convert->current.record->EventHeader.TimeStamp);
}

struct etwas_otlp_id etwas_otlp_id_of(const struct etwas_otlp *otlp,
                                      const struct etwas_otlp_open *parent)
{
    const struct etwas_convert *convert = otlp->convert;
    const struct etwas_event *event = &convert->current.event;
    uint64_t sum = sum_of(convert);
    struct etwas_otlp_id id;

    put_id(id.span, mixed(sum));
    if (parent != NULL) {
        memcpy(id.trace, parent->id.trace, sizeof id.trace);
    } else if (event->has_related_activity && !is_none(&event->related_activity)) {
        put_guid(id.trace, &event->related_activity);
    } else if (!is_none(&convert->span->activity)) {
        put_guid(id.trace, &convert->span->activity);
    } else {
        put_id(id.trace, mixed(sum + 1));
        put_id(id.trace + 8, mixed(sum + 2));
    }
    return id;
}

void etwas_otlp_put_id(struct etwas_output *item, const char *key, const uint8_t *id, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";

    etwas_output_text(item, ",\"");
    etwas_output_text(item, key);
    etwas_output_text(item, "\":\"");
    for (size_t index = 0; index < bytes; index++) {
        etwas_output_char(item, digits[id[index] >> 4]);
        etwas_output_char(item, digits[id[index] & 15]);
    }
    etwas_output_char(item, '"');
}
