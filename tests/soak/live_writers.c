/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writers of rounds with readers: events of a classic and of a modern provider in turn. An event
 * says in its header whose it is and which; its payload is the number and bytes that follow from
 * it.
 */
#include <ck_pr.h>
#include <string.h>

#include "live.h"

enum {
    MOST_BYTES = 200,
    CLASSIC = 0x50a40005
};

static uint32_t payload_of(uint32_t number, uint8_t payload[MOST_BYTES])
{
    uint32_t bytes = (uint32_t)sizeof number + number * 7 % (MOST_BYTES - (uint32_t)sizeof number);

    memset(payload, (int)(number & 0xFF), bytes);
    memcpy(payload, &number, sizeof number);
    return bytes;
}

static uint32_t log_classic(const struct live_writer *writer, const uint8_t *payload,
                            uint32_t bytes)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[MOST_BYTES];
    } event;

    memset(&event.header, 0, sizeof event.header);
    event.header.Size = (uint16_t)(sizeof event.header + bytes);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Class.Level = (uint8_t)writer->index;
    event.header.Class.Version = (uint16_t)writer->live->tag;
    event.header.Guid.Data1 = CLASSIC;
    memcpy(event.payload, payload, bytes);
    return TraceEvent(writer->live->session, &event.header);
}

static uint32_t log_modern(const struct live_writer *writer, const uint8_t *payload, uint32_t bytes)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = (uint16_t)writer->live->tag,
                                         .Opcode = (uint8_t)writer->index,
                                         .Level = TRACE_LEVEL_INFORMATION};
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, payload, bytes);
    return EventWrite(writer->live->provider, &descriptor, 1, &data);
}

void *live_write(void *argument)
{
    struct live_writer *writer = argument;
    struct live *live = writer->live;
    uint32_t pause_every = 1 + soak_upto(&writer->random, 400);

    for (uint32_t number = 0; number < live->events && ck_pr_load_32(&live->end) == 0; number++) {
        uint8_t payload[MOST_BYTES];
        uint32_t bytes = payload_of(number, payload);
        uint32_t code = number % 2 == 0 ? log_classic(writer, payload, bytes)
                                        : log_modern(writer, payload, bytes);

        switch (code) {
        case ERROR_SUCCESS:
            ck_pr_store_8(&writer->fate[number], LIVE_RECORDED);
            break;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_LOG_FILE_FULL:
            ck_pr_store_8(&writer->fate[number], LIVE_LOST);
            break;
        default:
            soak_fault(live->where, "event %u of writer %u: code %u", number, writer->index, code);
            return NULL;
        }
        /* Here alone it may be cancelled. */
        if (number % pause_every == 0) {
            soak_pause_us(soak_upto(&writer->random, 300));
        }
    }
    return NULL;
}

bool live_identify(struct live *live, const EVENT_RECORD *record, uint32_t *writer,
                   uint32_t *number)
{
    const EVENT_HEADER *header = &record->EventHeader;
    uint8_t payload[MOST_BYTES];
    uint16_t tag;

    if (header->ProviderId.Data1 == CLASSIC) {
        *writer = header->EventDescriptor.Level;
        tag = header->EventDescriptor.Version | (uint16_t)(live->tag & 0xFF00); /* its low byte */
    } else if (memcmp(&header->ProviderId, &live->provider_guid, sizeof live->provider_guid) == 0) {
        *writer = header->EventDescriptor.Opcode;
        tag = header->EventDescriptor.Id;
    } else {
        return false;
    }
    memcpy(number, record->UserData, sizeof *number);
    if (tag != (uint16_t)live->tag || *writer >= live->writer_count || *number >= live->events ||
        record->UserDataLength != payload_of(*number, payload) ||
        memcmp(payload, record->UserData, record->UserDataLength) != 0) {
        soak_fault(live->where, "event %u of writer %u, tag %u, of %u bytes is not as written",
                   *number, *writer, tag, record->UserDataLength);
        return false;
    }
    return true;
}
