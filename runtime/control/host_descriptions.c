/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/host_descriptions.h"

#include <string.h>

#include "etl/event_metadata.h"
#include "etl/own_record.h"
#include "provider/description.h"

static bool describes(const struct etwas_etl_full_header *header)
{
    if (header->header_type != ETWAS_ETL_FULL_HEADER64 ||
        header->marker_flags != ETWAS_ETL_MARKER_FLAGS) {
        return false;
    }
    if (memcmp(&header->guid, &etwas_etl_metadata_class, sizeof header->guid) == 0) {
        return header->type == ETWAS_ETL_EVENT_INFO_TYPE || header->type == ETWAS_ETL_MAP_INFO_TYPE;
    }
    return etwas_etl_is_own_record(header) && header->type == ETWAS_ETL_MESSAGE_FORMAT_TYPE;
}

/* One record, of which *used bytes are taken. False: it is none that describes events. */
static bool add_record(struct etwas_description *made, const uint8_t *record, uint32_t left,
                       uint32_t *used)
{
    struct etwas_etl_full_header header;
    uint8_t *payload;

    if (left < sizeof header) {
        return false;
    }
    memcpy(&header, record, sizeof header);
    *used = (uint32_t)etwas_etl_round_up_8(header.size);
    if (header.size < sizeof header || *used > left || !describes(&header)) {
        return false;
    }
    payload = etwas_description_add(made, &header.guid, header.type, header.version,
                                    header.size - sizeof header);
    if (payload == NULL) {
        return false;
    }
    memcpy(payload, record + sizeof header, header.size - sizeof header);
    return true;
}

void etwas_host_take_description(const void *body, uint32_t bytes)
{
    const uint8_t *records = body;
    struct etwas_description_subject subject;
    struct etwas_description *made;
    uint32_t at = sizeof subject;
    bool is_sound = bytes > sizeof subject;

    if (!is_sound) {
        return;
    }
    memcpy(&subject, body, sizeof subject);
    made = etwas_description_new(&subject);
    while (made != NULL && is_sound && at < bytes) {
        uint32_t used;

        is_sound = add_record(made, records + at, bytes - at, &used);
        at += is_sound ? used : 0;
    }
    if (made != NULL && is_sound) {
        etwas_description_publish(made);
    } else if (made != NULL) {
        etwas_description_free(made);
    }
}
