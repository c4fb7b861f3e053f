/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Messages by a format: u8 flags, u16 and a record with a format, the arguments. */
#include <stdlib.h>
#include <string.h>

#include "etl/own_record.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t flags = take_u8(&input);
    etwas_decoder *decoder = open_decoder();
    EVENT_RECORD format = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_own_class,
                        .EventDescriptor.Opcode = ETWAS_ETL_MESSAGE_FORMAT_TYPE}};
    EVENT_RECORD record = {.EventHeader.Flags =
                               (uint16_t)(flags | EVENT_HEADER_FLAG_TRACE_MESSAGE)};
    struct etwas_etl_message_format head = {0};

    format.UserData = take_bytes(&input, take_u16(&input), &format.UserDataLength);
    memcpy(&head, format.UserData,
           format.UserDataLength < sizeof head ? format.UserDataLength : sizeof head);
    record.EventHeader.ProviderId = head.guid;
    record.EventHeader.EventDescriptor.Id = head.number;
    record.UserData = take_bytes(&input, input.left, &record.UserDataLength);
    etwas_decoder_learn(decoder, &format);
    walk_event(decoder, &record);
    etwas_decoder_close(decoder);
    free(format.UserData);
    free(record.UserData);
    return 0;
}
