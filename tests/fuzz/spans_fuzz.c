/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events of instances and activities in any order, with room for a few: of each u8 opcode, u8 which
 * kind of event, u8 its activity, and as many bytes of its item as a u8 says.
 */
#include <stdlib.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ROOM = 20,
};

/* What began is what is open, has ended, or was replaced. */
static void check(const etwas_spans *spans, uint32_t what, const etwas_span *span)
{
    if ((what != ETWAS_SPAN_NONE) != (span != NULL) || (span != NULL && span->place >= ROOM) ||
        etwas_spans_count(spans, ETWAS_SPANS_OPEN) > ROOM ||
        etwas_spans_count(spans, ETWAS_SPANS_STARTED) !=
            etwas_spans_count(spans, ETWAS_SPANS_OPEN) +
                etwas_spans_count(spans, ETWAS_SPANS_ENDED) +
                etwas_spans_count(spans, ETWAS_SPANS_REPLACED)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    etwas_spans *spans;

    if (etwas_spans_open(ROOM, &spans) != ERROR_SUCCESS) {
        abort();
    }
    for (int64_t time = 0; input.left > 0; time++) {
        EVENT_RECORD record = {.EventHeader.EventDescriptor.Opcode = take_u8(&input)};
        EVENT_HEADER_EXTENDED_DATA_ITEM item = {0};
        uint8_t kind = take_u8(&input);
        const etwas_span *span;
        void *bytes;

        record.EventHeader.Flags = (kind & 1) != 0 ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0;
        record.EventHeader.ProviderId.Data1 = kind >> 1 & 3;
        record.EventHeader.ActivityId.Data1 = take_u8(&input);
        item.ExtType = (kind & 1) != 0 ? EVENT_HEADER_EXT_TYPE_INSTANCE_INFO
                                       : EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID;
        bytes = take_bytes(&input, take_u8(&input), &item.DataSize);
        item.DataPtr = (uintptr_t)bytes;
        record.ExtendedData = &item;
        record.ExtendedDataCount = kind >> 7;
        check(spans, etwas_spans_take(spans, &record, kind >> 3 & 1, time, &span), span);
        free(bytes);
    }
    etwas_spans_close(spans);
    return 0;
}
