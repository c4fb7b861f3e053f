/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/event_record.h"

#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>

#include "platform/thread.h"

/* Adds a piece. Returns false if the record would be too long. */
static bool record_add_piece(struct etwas_event_record *built, const void *piece, uint32_t bytes)
{
    MOF_FIELD *field = &built->pieces[built->record.field_count];

    if (bytes > ETWAS_ETL_LARGEST_RECORD_BYTES - built->record.bytes) {
        return false;
    }
    if (bytes != 0) {
        field->DataPtr = (uint64_t)(uintptr_t)piece;
        field->Length = bytes;
        built->record.bytes += bytes;
        built->record.field_count++;
    }
    return true;
}

static bool record_add_item(struct etwas_event_record *built, uint16_t type, const void *data,
                            uint32_t bytes)
{
    static const uint8_t zeroes[8];
    struct etwas_etl_extended_item *item = &built->items[built->item_count];
    size_t item_bytes = etwas_etl_round_up_8(sizeof *item + (size_t)bytes);

    if (item_bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        return false;
    }
    *item = (struct etwas_etl_extended_item){
        .item_bytes = (uint16_t)item_bytes, .type = type, .data_bytes = (uint16_t)bytes};
    if (built->item_count != 0) {
        item[-1].linkage = ETWAS_ETL_ITEM_LINKAGE;
    }
    built->item_count++;
    return record_add_piece(built, item, sizeof *item) && record_add_piece(built, data, bytes) &&
           record_add_piece(built, zeroes, (uint32_t)(item_bytes - sizeof *item - bytes));
}

/* The blocks that are metadata. A block without a type is absent. */
struct record_metadata {
    EVENT_DATA_DESCRIPTOR event;
    EVENT_DATA_DESCRIPTOR provider;
};

static uint32_t record_find_metadata(const struct etwas_event_arguments *event,
                                     struct record_metadata *found)
{
    for (uint32_t index = 0; index < event->data_count; index++) {
        const EVENT_DATA_DESCRIPTOR *block = &event->data[index];
        EVENT_DATA_DESCRIPTOR *metadata_block;

        switch (block->Type) {
        case EVENT_DATA_DESCRIPTOR_TYPE_NONE:
            continue;
        case EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA:
        case EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM:
            metadata_block = &found->event;
            break;
        case EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA:
        case EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM:
            metadata_block = &found->provider;
            break;
        case EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE:
            return ERROR_NOT_SUPPORTED;
        default:
            return ERROR_INVALID_PARAMETER;
        }
        if (metadata_block->Type != EVENT_DATA_DESCRIPTOR_TYPE_NONE ||
            !etwas_event_metadata_of(block, metadata_block)) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    return ERROR_SUCCESS;
}

static bool record_add_metadata(struct etwas_event_record *built, uint16_t type,
                                const EVENT_DATA_DESCRIPTOR *block)
{
    return block->Type == EVENT_DATA_DESCRIPTOR_TYPE_NONE ||
           record_add_item(built, type, (const void *)(uintptr_t)block->Ptr, block->Size);
}

static bool record_add_data(struct etwas_event_record *built,
                            const struct etwas_event_arguments *event, bool typed)
{
    for (uint32_t index = 0; index < event->data_count; index++) {
        const EVENT_DATA_DESCRIPTOR *block = &event->data[index];

        if (!typed || block->Type == EVENT_DATA_DESCRIPTOR_TYPE_NONE) {
            const uint32_t bytes = ck_pr_load_32(&block->Size);

            if (!record_add_piece(built, (const void *)(uintptr_t)block->Ptr, bytes)) {
                return false;
            }
            built->data_bytes += bytes;
        }
    }
    return true;
}

static uint32_t record_add_pieces(struct etwas_event_record *built,
                                  const struct etwas_event_arguments *event, bool typed)
{
    struct record_metadata metadata = {0};
    uint32_t code = typed ? record_find_metadata(event, &metadata) : (uint32_t)ERROR_SUCCESS;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (event->related != NULL && !record_add_item(built, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
                                                   event->related, sizeof *event->related)) {
        return ERROR_ARITHMETIC_OVERFLOW;
    }
    return record_add_metadata(built, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &metadata.provider) &&
                   record_add_metadata(built, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
                                       &metadata.event) &&
                   record_add_data(built, event, typed)
               ? ERROR_SUCCESS
               : ERROR_ARITHMETIC_OVERFLOW;
}

_Static_assert(sizeof(EVENT_DESCRIPTOR) == 16, "a descriptor lies in the header as it is");
_Static_assert(offsetof(struct etwas_etl_event_header, keyword) -
                       offsetof(struct etwas_etl_event_header, id) ==
                   offsetof(EVENT_DESCRIPTOR, Keyword),
               "a descriptor lies in the header as it is");

void etwas_event_record_fill(struct etwas_event_record *built,
                             const struct etwas_event_arguments *event,
                             const struct etwas_recipients *recipients)
{
    const uint64_t start = etwas_event_record_start(built, event);
    const struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_event_header *header = &built->header;

    memcpy(header, &start, sizeof start);
    header->thread_id = ids.thread_id;
    header->process_id = ids.process_id;
    memcpy(&header->provider_id, &recipients->guid, sizeof header->provider_id);
    memcpy(&header->id, event->descriptor, sizeof *event->descriptor);
    header->kernel_time = 0;
    header->user_time = 0;
    header->activity_id = event->activity != NULL ? *event->activity : etwas_activity_id();
}

uint32_t etwas_event_record_list(struct etwas_event_record *built,
                                 const struct etwas_event_arguments *event, uint32_t options)
{
    if (event->data_count > MAX_EVENT_DATA_DESCRIPTORS ||
        (event->data_count != 0 && event->data == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < event->data_count; index++) {
        if (event->data[index].Ptr == 0 && event->data[index].Size != 0) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    built->item_count = 0;
    built->data_bytes = 0;
    built->record = (struct etwas_unstamped_record){
        .event = &built->header,
        .header_bytes = sizeof built->header,
        .bytes = sizeof built->header,
        .fields = built->pieces,
    };
    return record_add_pieces(built, event, (options & ETWAS_EVENT_PROVIDER_TYPED) != 0);
}

/* ---- the items of a session ------------------------------------------------------------------ */

/* Returns whether the record has the related activity's item, which is a head and 16 bytes. */
static bool record_has_related(const struct etwas_event_record *built)
{
    return built->item_count != 0 &&
           built->items[0].type == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID;
}

static MOF_FIELD *record_piece_of_items(struct etwas_event_record *built)
{
    return &built->pieces[record_has_related(built) ? 2 : 0];
}

void etwas_event_record_reserve_items(struct etwas_event_record *built)
{
    MOF_FIELD *piece = record_piece_of_items(built);

    memmove(piece + 1, piece,
            (size_t)(&built->pieces[built->record.field_count] - piece) * sizeof *piece);
    *piece = (MOF_FIELD){0};
    built->record.field_count++;
}

bool etwas_event_record_set_items(struct etwas_event_record *built, struct etwas_event_items *items)
{
    MOF_FIELD *piece = record_piece_of_items(built);
    bool metadata_follows = built->item_count > (record_has_related(built) ? 1 : 0);

    if (items->bytes > ETWAS_ETL_LARGEST_RECORD_BYTES - (built->record.bytes - piece->Length)) {
        return false;
    }
    built->record.bytes += items->bytes - piece->Length;
    *piece = (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)items->data, .Length = items->bytes};
    built->header.size = (uint16_t)built->record.bytes;
    if (items->bytes != 0 || built->item_count != 0) {
        built->header.flags |= ETWAS_ETL_EVENT_EXTENDED_INFO;
    } else {
        built->header.flags &= (uint16_t)~ETWAS_ETL_EVENT_EXTENDED_INFO;
    }
    if (record_has_related(built)) {
        built->items[0].linkage =
            items->bytes != 0 || metadata_follows ? ETWAS_ETL_ITEM_LINKAGE : 0;
    }
    etwas_event_items_end(items, metadata_follows);
    return true;
}
