/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The formats of messages, which come in records of etwas, and the message of an event. */
#include "decode/message.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "decode/source.h"
#include "etl/own_record.h"
#include "etl/utf16.h"

struct message_format {
    etwas_guid guid;
    uint16_t number;
    char *text;
};

static struct message_format *message_find_format(const etwas_decoder *decoder,
                                                  const etwas_guid *guid, uint16_t number,
                                                  uint64_t *hash)
{
    struct message_format *format;

    *hash = etwas_hash_bytes(decoder->store.secret ^ number, guid, sizeof *guid);
    for (size_t cursor = 0;
         (format = etwas_hash_table_next(&decoder->formats, *hash, &cursor)) != NULL;) {
        if (format->number == number && memcmp(&format->guid, guid, sizeof *guid) == 0) {
            return format;
        }
    }
    return NULL;
}

/* Finds or adds the entry of a message; NULL: no memory. */
static struct message_format *message_format_of(etwas_decoder *decoder, const etwas_guid *guid,
                                                uint16_t number)
{
    uint64_t hash;
    struct message_format *format = message_find_format(decoder, guid, number, &hash);

    if (format == NULL) {
        format = etwas_store_reserve_bytes(&decoder->store, sizeof *format)
                     ? calloc(1, sizeof *format)
                     : NULL;
        if (format != NULL) {
            format->guid = *guid;
            format->number = number;
            if (!etwas_hash_table_add(&decoder->formats, hash, format)) {
                free(format);
                format = NULL;
            }
        }
    }
    return format;
}

static uint32_t message_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    const char *text;
    struct etwas_etl_message_format head;
    struct message_format *format;
    char *copy;

    if ((header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0 ||
        header->EventDescriptor.Opcode != ETWAS_ETL_MESSAGE_FORMAT_TYPE ||
        memcmp(&header->ProviderId, &etwas_etl_own_class, sizeof etwas_etl_own_class) != 0) {
        return ERROR_NOT_FOUND;
    }
    if (record->UserDataLength <= sizeof head) {
        return ERROR_INVALID_DATA;
    }
    memcpy(&head, record->UserData, sizeof head);
    text = (const char *)record->UserData + sizeof head;
    if (head.version != ETWAS_ETL_MESSAGE_FORMAT_VERSION ||
        memchr(text, 0, record->UserDataLength - sizeof head) == NULL) {
        return ERROR_INVALID_DATA;
    }
    format = message_format_of(decoder, &head.guid, head.number);
    if (format != NULL && format->text != NULL &&
        (decoder->store.keeps_first || strcmp(format->text, text) == 0)) {
        return ERROR_SUCCESS;
    }
    copy = format == NULL || !etwas_store_reserve_bytes(&decoder->store, strlen(text))
               ? NULL
               : strdup(text);
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    free(format->text);
    format->text = copy;
    return ERROR_SUCCESS;
}

static void message_end(etwas_decoder *decoder)
{
    for (size_t i = 0; i < decoder->formats.capacity; i++) {
        struct message_format *format = decoder->formats.slots[i].entry;

        if (format != NULL) {
            free(format->text);
            free(format);
        }
    }
    etwas_hash_table_free(&decoder->formats);
}

const struct etwas_decode_source etwas_message_source = {.learn = message_learn,
                                                         .end = message_end};

static int message_compare_formats(const void *left, const void *right)
{
    const struct message_format *first = *(const struct message_format *const *)left;
    const struct message_format *second = *(const struct message_format *const *)right;
    int order = memcmp(&first->guid, &second->guid, sizeof first->guid);

    return order != 0 ? order : first->number - second->number;
}

uint32_t etwas_decoder_messages(const etwas_decoder *decoder,
                                bool (*visit)(const etwas_guid *guid, uint16_t number,
                                              const char *format, void *context),
                                void *context)
{
    const struct message_format **sorted =
        calloc(decoder->formats.count + 1, sizeof(struct message_format *));
    size_t count = 0;

    if (sorted == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    for (size_t i = 0; i < decoder->formats.capacity; i++) {
        const struct message_format *format = decoder->formats.slots[i].entry;

        if (format != NULL && format->text != NULL) {
            sorted[count++] = format;
        }
    }
    qsort(sorted, count, sizeof(struct message_format *), message_compare_formats);
    for (size_t i = 0;
         i < count && visit(&sorted[i]->guid, sorted[i]->number, sorted[i]->text, context); i++) {
    }
    free(sorted);
    return ERROR_SUCCESS;
}

/* Writes the message of a TraceMessage. Returns whether there is a *rest (message.h). */
static bool message_write_by_format(struct etwas_text_writer *text, const etwas_decoder *decoder,
                                    const EVENT_RECORD *record, etwas_value *rest)
{
    const EVENT_HEADER *header = &record->EventHeader;
    uint64_t hash;
    const struct message_format *format =
        message_find_format(decoder, &header->ProviderId, header->EventDescriptor.Id, &hash);

    return format != NULL && format->text != NULL &&
           etwas_message_write_printf(text, format->text, record, rest);
}

static bool message_is_trace_message(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0;
}

static void message_write(struct etwas_text_writer *text, etwas_decoder *decoder,
                          const EVENT_RECORD *record)
{
    const etwas_schema *schema;
    const etwas_wchar *message;
    etwas_value rest;

    if (message_is_trace_message(record)) {
        message_write_by_format(text, decoder, record, &rest);
    } else if (etwas_decoder_schema(decoder, record, &schema) == ERROR_SUCCESS &&
               schema->info->EventMessageOffset != 0) {
        message = (const void *)((const uint8_t *)schema->info + schema->info->EventMessageOffset);
        etwas_message_write_inserts(text, message, etwas_utf16_length(message, SIZE_MAX), schema,
                                    record);
    }
}

size_t etwas_decoder_message(etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                             size_t size)
{
    struct etwas_text_writer out = etwas_text_begin(text, size);

    message_write(&out, decoder, record);
    return etwas_text_end(&out, size);
}

bool etwas_decoder_message_rest(const etwas_decoder *decoder, const EVENT_RECORD *record,
                                etwas_value *rest)
{
    struct etwas_text_writer none = etwas_text_begin(NULL, 0);

    return message_is_trace_message(record) &&
           message_write_by_format(&none, decoder, record, rest);
}
