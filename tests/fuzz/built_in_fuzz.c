/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Events of built-in classes: u8 class, u8 type, u8 version, u8 flags, the payload. */
#include <stdlib.h>

#include "decode/builtin.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t count = etwas_kernel_class_count + etwas_config_class_count + etwas_other_class_count;
    size_t class = take_u8(&input) % count;
    etwas_decoder *decoder = open_decoder();
    EVENT_RECORD record = {.EventHeader.ProviderId = etwas_builtin_class_at(class)->guid};

    record.EventHeader.EventDescriptor.Opcode = take_u8(&input);
    record.EventHeader.EventDescriptor.Version = take_u8(&input);
    record.EventHeader.Flags = (uint16_t)(take_u8(&input) | EVENT_HEADER_FLAG_CLASSIC_HEADER);
    record.UserData = take_bytes(&input, input.left, &record.UserDataLength);
    walk_event(decoder, &record);
    etwas_decoder_close(decoder);
    free(record.UserData);
    return 0;
}
