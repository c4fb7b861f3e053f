/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Values as text: u16 in type, u16 out type, u8 flags, and the bytes. The value comes from an event
 * with one field of that type, as every value does.
 */
#include <stdlib.h>
#include <string.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* TRACE_EVENT_INFO with one field "v" that the rest of the payload belongs to. */
static void learn_field(etwas_decoder *decoder, uint16_t in_type, uint16_t out_type,
                        uint16_t length)
{
    static const etwas_guid metadata = {
        0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};
    struct {
        TRACE_EVENT_INFO info;
        etwas_wchar name[4];
    } event = {
        .info =
            {
                .ProviderGuid = {.Data1 = 1},
                .PropertyCount = 1,
                .TopLevelPropertyCount = 1,
                .EventPropertyInfoArray = {{.NameOffset = sizeof(TRACE_EVENT_INFO),
                                            .nonStructType = {in_type, out_type, 0},
                                            .count = 1,
                                            .length = length}},
            },
        .name = u"v",
    };
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = metadata,
                        .EventDescriptor.Opcode = 32},
        .UserData = &event,
        .UserDataLength = sizeof event,
    };

    etwas_decoder_learn(decoder, &record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    etwas_decoder *decoder = open_decoder();
    uint16_t in_type = take_u16(&input) % 311;
    uint16_t out_type = take_u16(&input) % 302;
    uint8_t flags = take_u8(&input);
    EVENT_RECORD record = {.EventHeader = {.Flags = flags & (EVENT_HEADER_FLAG_32_BIT_HEADER |
                                                             EVENT_HEADER_FLAG_64_BIT_HEADER),
                                           .ProviderId = {.Data1 = 1}}};
    bool has_length = (flags & 1) != 0;

    record.UserData = take_bytes(&input, input.left, &record.UserDataLength);
    learn_field(decoder, in_type, out_type, has_length ? record.UserDataLength : 0);
    walk_event(decoder, &record);
    etwas_decoder_close(decoder);
    free(record.UserData);
    return 0;
}
