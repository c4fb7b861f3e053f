/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The name of a provider whose event has no schema: from the event's traits, from other events, or
 * from a table of well-known providers.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "decode/builtin.h"
#include "decode/source.h"
#include "decode/text_writer.h"

/* Providers of Windows and .NET that occur in traces that do not contain their names. */

struct known_provider {
    etwas_guid guid;
    const char *name;
};

static const struct known_provider providers[] = {
    {{0xe13c0d23, 0xccbc, 0x4e12, {0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}},
     "Microsoft-Windows-DotNETRuntime"},
    {{0xa669021c, 0xc450, 0x4609, {0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18}},
     "Microsoft-Windows-DotNETRuntimeRundown"},
    {{0x763fd754, 0x7086, 0x4dfe, {0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca}},
     "Microsoft-Windows-DotNETRuntimePrivate"},
    {{0x2e5dba47, 0xa3d2, 0x4d16, {0x8e, 0xe0, 0x66, 0x71, 0xff, 0xdc, 0xd7, 0xb5}},
     "System.Threading.Tasks.TplEventSource"},
    {{0x8e9f5090, 0x2d75, 0x4d03, {0x8a, 0x81, 0xe5, 0xaf, 0xbf, 0x85, 0xda, 0xf1}},
     "System.Diagnostics.Eventing.FrameworkEventSource"},
    {{0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}},
     "Microsoft-Windows-Kernel-Process"},
    {{0xedd08927, 0x9cc4, 0x4e65, {0xb9, 0x70, 0xc2, 0x56, 0x0f, 0xb5, 0xc2, 0x89}},
     "Microsoft-Windows-Kernel-File"},
    {{0x7dd42a49, 0x5329, 0x4832, {0x8d, 0xfd, 0x43, 0xd9, 0x79, 0x15, 0x3a, 0x88}},
     "Microsoft-Windows-Kernel-Network"},
    {{0xc7bde69a, 0xe1e0, 0x4177, {0xb6, 0xef, 0x28, 0x3a, 0xd1, 0x52, 0x52, 0x71}},
     "Microsoft-Windows-Kernel-Disk"},
    {{0xd1d93ef7, 0xe1f2, 0x4f45, {0x99, 0x43, 0x03, 0xd2, 0x45, 0xfe, 0x6c, 0x00}},
     "Microsoft-Windows-Kernel-Memory"},
    {{0xdd5ef90a, 0x6398, 0x47a4, {0xad, 0x34, 0x4d, 0xce, 0xcd, 0xef, 0x79, 0x5f}},
     "Microsoft-Windows-HttpService"},
    {{0x2a576b87, 0x09a7, 0x520e, {0xc2, 0x1a, 0x49, 0x42, 0xf0, 0x27, 0x1d, 0x67}},
     "Microsoft-Antimalware-Scan-Interface"},
    {{0x802ec45a, 0x1e99, 0x4b83, {0x99, 0x20, 0x87, 0xc9, 0x82, 0x77, 0xba, 0x9d}},
     "Microsoft-Windows-DxgKrnl"},
};

const char *etwas_known_provider(const etwas_guid *guid)
{
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        if (memcmp(&providers[i].guid, guid, sizeof *guid) == 0) {
            return providers[i].name;
        }
    }
    return NULL;
}

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
