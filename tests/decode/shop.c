/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const etwas_guid shop = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};

uint32_t learn_document(etwas_decoder *decoder, const char *xml)
{
    return learn_manifest(decoder, &shop, xml, strlen(xml), 32000);
}

uint32_t learn_inside(etwas_decoder *decoder, const char *inside)
{
    char *xml = malloc(strlen(inside) + sizeof BEFORE BETWEEN BEHIND);
    uint32_t error;

    assert_non_null(xml);
    sprintf(xml, "%s%s%s", BEFORE, inside, BETWEEN BEHIND);
    error = learn_document(decoder, xml);
    free(xml);
    return error;
}

EVENT_RECORD event(uint16_t id, uint8_t version, const void *payload, size_t bytes)
{
    return (EVENT_RECORD){
        .EventHeader =
            {
                .Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
                .ProviderId = shop,
                .EventDescriptor = {.Id = id, .Version = version},
            },
        .UserData = (void *)(uintptr_t)payload,
        .UserDataLength = (uint16_t)bytes,
    };
}

const char *shown_event(etwas_decoder *decoder, uint16_t id, const void *payload, size_t bytes)
{
    EVENT_RECORD record = event(id, 0, payload, bytes);

    return shown(decoder, &record);
}

const etwas_schema *schema_of(etwas_decoder *decoder, uint16_t id)
{
    EVENT_RECORD record = event(id, 0, "", 0);
    const etwas_schema *schema;

    assert_int_equal(etwas_decoder_schema(decoder, &record, &schema), ERROR_SUCCESS);
    return schema;
}

const char *string_at(const etwas_schema *schema, uint32_t offset)
{
    static char text[256];
    const etwas_wchar *units = (const void *)((const uint8_t *)schema->info + offset);
    size_t i = 0;

    if (offset == 0) {
        return "(none)";
    }
    for (; units[i] != 0; i++) {
        assert_true(i + 1 < sizeof text && units[i] < 0x80);
        text[i] = (char)units[i];
    }
    text[i] = 0;
    return text;
}

bool is_known(etwas_decoder *decoder)
{
    return strcmp(shown_event(decoder, 2, "", 0), "Shop/Closed") == 0;
}
