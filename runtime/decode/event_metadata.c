/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata: records that describe other records. etwas writes them for described classes, and
 * merging a trace on Windows leaves them in it. They are classic events of one class: type 32 has a
 * TRACE_EVENT_INFO, type 33 the provider's GUID and an EVENT_MAP_INFO.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "decode/source.h"
#include "etl/event_metadata.h"

static uint32_t event_metadata_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    const uint8_t *data = record->UserData;
    uint16_t bytes = record->UserDataLength;
    etwas_guid provider;

    if ((header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0 ||
        memcmp(&header->ProviderId, &etwas_etl_metadata_class, sizeof header->ProviderId) != 0) {
        return ERROR_NOT_FOUND;
    }
    switch (header->EventDescriptor.Opcode) {
    case ETWAS_ETL_EVENT_INFO_TYPE:
        return etwas_store_add(&decoder->store, data, bytes, ETWAS_RANK_METADATA);
    case ETWAS_ETL_MAP_INFO_TYPE:
        if (bytes < sizeof provider) {
            return ERROR_INVALID_DATA;
        }
        memcpy(&provider, data, sizeof provider);
        return etwas_store_add_map(&decoder->store, &provider, data + sizeof provider,
                                   bytes - sizeof provider);
    default:
        return ERROR_NOT_FOUND;
    }
}

const struct etwas_decode_source etwas_event_metadata_source = {.learn = event_metadata_learn};
