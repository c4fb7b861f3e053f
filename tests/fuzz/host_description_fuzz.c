/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a guest says of its events or its images: u8, which; the records. What the host takes of
 * them is whole records, which it can give on.
 */
#include <etwas/evntrace.h>
#include <string.h>

#include "etl/layout.h"
#include "provider/metadata.h"
#include "sharing/descriptions.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ROOM = 1 << 16,
};

static void walk_records(const uint8_t *records, uint32_t bytes)
{
    struct etwas_etl_full_header header;

    for (uint32_t at = 0; at < bytes; at += (uint32_t)etwas_etl_round_up_8(header.size)) {
        MUST(bytes - at >= sizeof header);
        memcpy(&header, records + at, sizeof header);
        MUST(header.size >= sizeof header && etwas_etl_round_up_8(header.size) <= bytes - at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct etwas_metadata_cursor cursor; /* only what is new */
    struct input input = {data, size};
    const bool of_images = take_u8(&input) % 2 != 0;
    const struct etwas_description_key subject = {.guid =
                                                      of_images ? ImageLoadGuid : EventTraceGuid};
    uint8_t *room = malloc(ROOM);
    uint16_t taken;
    uint8_t *records = take_bytes(&input, input.left, &taken);
    uint8_t *body = malloc(sizeof subject + taken);
    uint32_t bytes;

    MUST(room != NULL && body != NULL);
    memcpy(body, &subject, sizeof subject);
    memcpy(body + sizeof subject, records, taken);
    etwas_host_store_descriptions(body, (uint32_t)sizeof subject + taken);
    while ((bytes = etwas_metadata_read(&cursor, true, room, ROOM, 1)) != 0) {
        walk_records(room, bytes);
    }
    MUST(!etwas_metadata_has_more(&cursor, true));
    free(room);
    free(records);
    free(body);
    return 0;
}
