/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that describe themselves: u8 flags, u8 and the traits, u16 and the schema, the payload. If
 * there are neither traits nor schema, the payload begins with them.
 */
#include <etwas/winmeta.h>
#include <stdlib.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    EVENT_HEADER_EXTENDED_DATA_ITEM items[2] = {{.ExtType = EVENT_HEADER_EXT_TYPE_PROV_TRAITS},
                                                {.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL}};
    EVENT_RECORD record = {.ExtendedDataCount = 2, .ExtendedData = items};
    etwas_decoder *decoder = open_decoder();
    void *traits;
    void *schema;

    record.EventHeader.Flags = take_u8(&input);
    traits = take_bytes(&input, take_u8(&input), &items[0].DataSize);
    schema = take_bytes(&input, take_u16(&input), &items[1].DataSize);
    items[0].DataPtr = (uint64_t)(uintptr_t)traits;
    items[1].DataPtr = (uint64_t)(uintptr_t)schema;
    if (items[0].DataSize + items[1].DataSize == 0) {
        record.EventHeader.EventDescriptor.Channel = WINEVENT_CHANNEL_TRACELOGGING;
    }
    record.UserData = take_bytes(&input, input.left, &record.UserDataLength);
    walk_event(decoder, &record);
    walk_event(decoder, &record);
    etwas_decoder_close(decoder);
    free(traits);
    free(schema);
    free(record.UserData);
    return 0;
}
