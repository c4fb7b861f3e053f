/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes packets. A trace is a sequence of packets. */

#include "convert/perfetto/perfetto.h"

enum {
    TRACE_PACKET = 1,  /* the field of Trace */
    HEAD_BYTES = 64,   /* more than the headers before and between the parts */
    SHORT_BYTES = 128, /* a length below this takes one byte */
    SHORT_HEAD_BYTES = 2,
};

static uint8_t *put_tag(uint8_t *at, uint32_t field, enum etwas_wire_type type)
{
    return at + etwas_wire_encode(at, field << 3 | (uint32_t)type);
}

static uint8_t *put_number(uint8_t *at, uint32_t field, uint64_t value)
{
    at = put_tag(at, field, ETWAS_WIRE_VARINT);
    return at + etwas_wire_encode(at, value);
}

static uint8_t *put_length(uint8_t *at, uint32_t field, size_t length)
{
    at = put_tag(at, field, ETWAS_WIRE_LENGTH);
    return at + etwas_wire_encode(at, length);
}

static uint8_t *put_part(uint8_t *at, const struct etwas_perfetto_part *part)
{
    if (part->count > 0) {
        memcpy(at, part->bytes, part->count);
    }
    return at + part->count;
}

void etwas_perfetto_write_bytes(struct etwas_perfetto *perfetto, const uint8_t *packet,
                                size_t bytes)
{
    uint8_t head[HEAD_BYTES];

    etwas_output_bytes(perfetto->output, head,
                       (size_t)(put_length(head, TRACE_PACKET, bytes) - head));
    etwas_output_bytes(perfetto->output, packet, bytes);
}

void etwas_perfetto_write_packet(struct etwas_perfetto *perfetto)
{
    if (!perfetto->packet.is_short) {
        etwas_perfetto_write_bytes(perfetto, perfetto->packet.bytes, perfetto->packet.used);
    }
    etwas_wire_clear(&perfetto->packet);
}

static uint8_t *put_time(struct etwas_perfetto *perfetto, uint8_t *at, int64_t time_ns)
{
    at = put_number(at, PACKET_FLAGS, PACKET_NEEDS_STATE);
    if (time_ns >= perfetto->last_ns) {
        at = put_number(at, PACKET_TIMESTAMP, (uint64_t)time_ns - (uint64_t)perfetto->last_ns);
        perfetto->last_ns = time_ns;
        return at;
    }
    /* Times of a damaged file can go back, which differences cannot express. */
    at = put_number(at, PACKET_CLOCK, perfetto->primary);
    return put_number(at, PACKET_TIMESTAMP, (uint64_t)time_ns);
}

/* Writes what follows the packet's length. Returns its end. */
static uint8_t *put_body(struct etwas_perfetto *perfetto, uint8_t *at, uint32_t field,
                         int64_t time_ns, const struct etwas_perfetto_part *names,
                         const struct etwas_perfetto_part parts[2])
{
    at = put_time(perfetto, at, time_ns);
    if (names->count > 0) {
        at = put_length(at, PACKET_INTERNED, names->count);
        at = put_part(at, names);
    }
    at = put_length(at, field, parts[0].count + parts[1].count);
    at = put_part(at, &parts[0]);
    at = put_part(at, &parts[1]);
    return put_number(at, PACKET_SEQUENCE, ETWAS_PERFETTO_EVENTS);
}

/* Almost all packets are short. They are built in the output buffer. */
void etwas_perfetto_write_timed(struct etwas_perfetto *perfetto, uint32_t field, int64_t time_ns,
                                const struct etwas_perfetto_part *names,
                                const struct etwas_perfetto_part parts[2])
{
    uint8_t *body = perfetto->packet.bytes;
    uint8_t *out;
    size_t bytes;

    if (names->count + parts[0].count + parts[1].count + HEAD_BYTES >= SHORT_BYTES) {
        bytes = (size_t)(put_body(perfetto, body, field, time_ns, names, parts) - body);
        etwas_perfetto_write_bytes(perfetto, body, bytes);
        return;
    }
    out = (uint8_t *)etwas_output_room(perfetto->output, SHORT_BYTES);
    body = out + SHORT_HEAD_BYTES;
    bytes = (size_t)(put_body(perfetto, body, field, time_ns, names, parts) - body);
    (void)put_length(out, TRACE_PACKET, bytes);
    perfetto->output->used_bytes += SHORT_HEAD_BYTES + bytes;
}

void etwas_perfetto_write_event(struct etwas_perfetto *perfetto, int64_t time_ns,
                                const struct etwas_perfetto_part *names,
                                const struct etwas_perfetto_part parts[2])
{
    etwas_perfetto_write_timed(perfetto, PACKET_TRACK_EVENT, time_ns, names, parts);
}
