/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/descriptions.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "etl/event_metadata.h"
#include "etl/kernel_class.h"
#include "etl/own_record.h"
#include "provider/description.h"
#include "provider/image_records.h"
#include "provider/metadata.h"
#include "registry/connection.h"
#include "session/session.h"

/* ---- the guest ------------------------------------------------------------------------------- */

/* used by the thread that holds the lock */
static _Alignas(uint64_t) uint8_t body[ETWAS_MESSAGE_BYTES];

static uint32_t describe_send(const struct etwas_guest *guest, const struct etwas_description *next,
                              uint64_t deadline_ns)
{
    struct etwas_message message = {.op = ETWAS_MESSAGE_DESCRIBE, .descriptor = -1};

    if (next->bytes > sizeof body - sizeof next->subject) {
        return ERROR_SUCCESS; /* no file has larger ones either: a record has 64 KB at most */
    }
    memcpy(body, &next->subject, sizeof next->subject);
    memcpy(body + sizeof next->subject, next->records, next->bytes);
    message.bytes = (uint32_t)(sizeof next->subject + next->bytes);
    return etwas_message_send(guest->connection, &message, body, deadline_ns);
}

/* Sends as many images in each message as fit. Takes the loader's lock. */
static void describe_send_images(struct etwas_guest *guest, uint64_t deadline_ns)
{
    const struct etwas_description_key subject = {.guid = ImageLoadGuid};
    struct etwas_message message = {.op = ETWAS_MESSAGE_DESCRIBE, .descriptor = -1};
    uint32_t code = ERROR_SUCCESS;

    etwas_image_records_update();
    memcpy(body, &subject, sizeof subject);
    while (code == ERROR_SUCCESS && etwas_image_records_have_more(&guest->images)) {
        struct etwas_image_cursor sent = guest->images;

        message.bytes = etwas_image_records_read(&sent, body, sizeof subject, sizeof body, 0);
        if (message.bytes > sizeof subject) {
            code = etwas_message_send(guest->connection, &message, body, deadline_ns);
        }
        guest->images = code == ERROR_SUCCESS ? sent : guest->images;
    }
}

void etwas_guest_describe(struct etwas_guest *guest, uint64_t deadline_ns)
{
    struct etwas_description_cursor sent = guest->described;
    const struct etwas_description *next;

    while ((next = etwas_descriptions_next(&sent)) != NULL &&
           describe_send(guest, next, deadline_ns) == ERROR_SUCCESS) {
        guest->described = sent;
    }
    if (guest->takes_stacks) {
        describe_send_images(guest, deadline_ns);
    }
}

/* ---- the host -------------------------------------------------------------------------------- */

static bool descriptions_is_class(const struct etwas_etl_full_header *header)
{
    if (memcmp(&header->guid, &etwas_etl_metadata_class, sizeof header->guid) == 0) {
        return header->type == ETWAS_ETL_EVENT_INFO_TYPE || header->type == ETWAS_ETL_MAP_INFO_TYPE;
    }
    return memcmp(&header->guid, &etwas_etl_own_class, sizeof header->guid) == 0 &&
           (header->type == ETWAS_ETL_MESSAGE_FORMAT_TYPE ||
            header->type == ETWAS_ETL_MANIFEST_CHUNK_TYPE);
}

/* Reads a record's header. Returns false if there is no whole record. */
static bool descriptions_read_header(const uint8_t *record, uint32_t left,
                                     struct etwas_etl_full_header *header)
{
    if (left < sizeof *header) {
        return false;
    }
    memcpy(header, record, sizeof *header);
    return header->header_type == ETWAS_ETL_FULL_HEADER64 &&
           header->marker_flags == ETWAS_ETL_MARKER_FLAGS && header->size >= sizeof *header &&
           etwas_etl_round_up_8(header->size) <= left;
}

static bool descriptions_add_record(struct etwas_description *made,
                                    const struct etwas_etl_full_header *header,
                                    const uint8_t *record)
{
    uint8_t *payload = etwas_description_add_record(made, &header->guid, header->type,
                                                    header->version, header->size - sizeof *header);

    if (payload == NULL) {
        return false;
    }
    memcpy(payload, record + sizeof *header, header->size - sizeof *header);
    return true;
}

static void descriptions_store_events(const struct etwas_description_key *subject,
                                      const uint8_t *records, uint32_t bytes)
{
    struct etwas_description *made = etwas_description_new(subject);
    struct etwas_etl_full_header header;
    bool is_sound = made != NULL;
    uint32_t at = 0;

    while (is_sound && at < bytes) {
        is_sound = descriptions_read_header(records + at, bytes - at, &header) &&
                   descriptions_is_class(&header) &&
                   descriptions_add_record(made, &header, records + at);
        at += is_sound ? (uint32_t)etwas_etl_round_up_8(header.size) : 0;
    }
    if (made != NULL && is_sound) {
        etwas_description_publish(made);
    } else if (made != NULL) {
        etwas_description_free(made);
    }
}

/* ---- images ---------------------------------------------------------------------------------- */

/*
 * Reads all records of the first image. *used: their bytes. Returns NULL if they are malformed or
 * there is no memory.
 */
static struct etwas_description *descriptions_read_image(const uint8_t *records, uint32_t bytes,
                                                         uint32_t *used)
{
    static const struct etwas_description_key none;
    struct etwas_description *image = etwas_description_new(&none);
    enum etwas_image_record expected = ETWAS_IMAGE_RECORD;
    struct etwas_etl_full_header header;
    bool is_sound = image != NULL;

    for (*used = 0; is_sound && *used < bytes; expected = ETWAS_IMAGE_RECORD_OF_BUILD) {
        is_sound = descriptions_read_header(records + *used, bytes - *used, &header);
        if (is_sound && *used != 0 && etwas_image_record_of(&header) == ETWAS_IMAGE_RECORD) {
            break; /* the next one */
        }
        is_sound = is_sound && etwas_image_record_of(&header) == expected &&
                   descriptions_add_record(image, &header, records + *used);
        *used += is_sound ? (uint32_t)etwas_etl_round_up_8(header.size) : 0;
    }
    if (!is_sound && image != NULL) {
        etwas_description_free(image);
        image = NULL;
    }
    return image;
}

static void descriptions_store_images(const uint8_t *records, uint32_t bytes)
{
    struct etwas_description *image;
    uint32_t used;

    for (uint32_t at = 0; at < bytes; at += used) {
        image = descriptions_read_image(records + at, bytes - at, &used);
        if (image == NULL) {
            break;
        }
        etwas_guest_images_add(image);
    }
    etwas_control_lock();
    etwas_crash_safe_write_all_descriptions();
    etwas_control_unlock();
}

void etwas_host_store_descriptions(const void *body, uint32_t bytes)
{
    const uint8_t *records = body;
    struct etwas_description_key subject;

    if (bytes <= sizeof subject) {
        return;
    }
    records += sizeof subject;
    bytes -= (uint32_t)sizeof subject;
    memcpy(&subject, body, sizeof subject);
    if (memcmp(&subject.guid, &ImageLoadGuid, sizeof subject.guid) == 0) {
        descriptions_store_images(records, bytes);
    } else {
        descriptions_store_events(&subject, records, bytes);
    }
}
