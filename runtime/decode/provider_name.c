/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The name of a provider whose event has no schema: from the event's traits, from other events, or
 * well known.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "decode/builtin.h"
#include "decode/source.h"
#include "decode/text_writer.h"

/* An event's traits begin with the name, after the u16 of their size. NULL: it has none. */
static const char *provider_name_of_traits(const EVENT_RECORD *record, size_t *bytes)
{
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
        const char *name = (const char *)(uintptr_t)item->DataPtr + sizeof(uint16_t);

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS &&
            item->DataSize > sizeof(uint16_t)) {
            *bytes = strnlen(name, item->DataSize - sizeof(uint16_t));
            return name;
        }
    }
    return NULL;
}

static uint32_t provider_name_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    size_t bytes;
    const char *name = provider_name_of_traits(record, &bytes);

    return name == NULL || etwas_store_add_provider(&decoder->store,
                                                    &record->EventHeader.ProviderId, name, bytes)
               ? ERROR_NOT_FOUND
               : ERROR_NOT_ENOUGH_MEMORY;
}

const struct etwas_decode_source etwas_provider_name_source = {.learn = provider_name_learn};

static void provider_name_write(struct etwas_text_writer *text, const etwas_decoder *decoder,
                                const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    const char *name;
    size_t bytes = 0;

    if ((header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        return;
    }
    name = provider_name_of_traits(record, &bytes);
    if (name == NULL) {
        name = etwas_store_provider(&decoder->store, &header->ProviderId);
        if (name == NULL) {
            name = (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0
                       ? etwas_builtin_provider(&header->ProviderId)
                       : etwas_known_provider(&header->ProviderId);
        }
        bytes = name == NULL ? 0 : strlen(name);
    }
    if (bytes > 0) {
        etwas_text_put_utf8(text, name, bytes);
    }
}

size_t etwas_decoder_provider(const etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                              size_t size)
{
    struct etwas_text_writer out = etwas_text_begin(text, size);

    provider_name_write(&out, decoder, record);
    return etwas_text_end(&out, size);
}
