/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that describe others: u8 flags of the events; records, each u8 type, of which 0 is the
 * last, u16 and what it has; the payload of an event of each that was described.
 */
#include <stdlib.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const etwas_guid metadata = {
        0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};
    struct input input = {data, size};
    uint16_t flags = (uint16_t)(take_u8(&input) | EVENT_HEADER_FLAG_CLASSIC_HEADER);
    EVENT_RECORD record = {.EventHeader = {.Flags = flags, .ProviderId = metadata}};
    etwas_decoder *decoder = open_decoder();

    while ((record.EventHeader.EventDescriptor.Opcode = take_u8(&input)) != 0) {
        record.UserData = take_bytes(&input, take_u16(&input), &record.UserDataLength);
        etwas_decoder_learn(decoder, &record);
        free(record.UserData);
    }
    record.UserData = take_bytes(&input, input.left, &record.UserDataLength);
    walk_all(decoder, record.UserData, record.UserDataLength, flags);
    etwas_decoder_close(decoder);
    free(record.UserData);
    return 0;
}
