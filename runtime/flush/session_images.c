/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/session_images.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/publish.h"
#include "etl/utf16.h"
#include "platform/images.h"
#include "platform/thread.h"

/* Of the Image class. */
enum {
    TYPE_UNLOAD = 2,
    TYPE_THERE_AT_START = 3,
    TYPE_THERE_AT_END = 4,
    TYPE_LOAD = 10,
    IMAGE_VERSION = 2,
};

/* b3e675d7-2554-4f18-830b-2762732560de: which build an image is */
static const etwas_guid image_id_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

enum {
    TYPE_DEBUG_ID = 36,
    DEBUG_ID_VERSION = 2,
};

struct image_payload {
    uint64_t base;
    uint64_t bytes;
    uint32_t process_id;
    uint32_t checksum;
    uint32_t time_date_stamp;
    uint32_t reserved;
    uint64_t default_base;
    uint32_t more_reserved[4];
};
_Static_assert(sizeof(struct image_payload) == 56, "Image_Load, before its name");

struct debug_id_payload {
    uint64_t base;
    uint32_t process_id;
    uint8_t signature[16]; /* the first bytes of the build id */
    uint32_t age;
} __attribute__((packed));
_Static_assert(sizeof(struct debug_id_payload) == 32, "a debug id, before its name");

/* ---- records --------------------------------------------------------------------------------- */

struct class
{
    const etwas_guid *guid;
    uint8_t type;
    uint8_t version;
};

/* A fixed part and a name. What does not get a buffer is counted as any event is. */
static void publish(const struct etwas_session *session, const struct class *class,
                    const void *payload, uint32_t payload_bytes, const void *name,
                    uint32_t name_bytes)
{
    const MOF_FIELD fields[] = {
        {.DataPtr = (uint64_t)(uintptr_t)payload, .Length = payload_bytes},
        {.DataPtr = (uint64_t)(uintptr_t)name, .Length = name_bytes},
    };
    struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_session_key key = etwas_session_key(session);
    struct etwas_etl_instance_header header = {
        .full = {
            .size = (uint16_t)(sizeof header.full + payload_bytes + name_bytes),
            .header_type = ETWAS_ETL_FULL_HEADER64,
            .marker_flags = ETWAS_ETL_MARKER_FLAGS,
            .type = class->type,
            .version = class->version,
            .thread_id = ids.thread_id,
            .process_id = ids.process_id,
            .guid = *class->guid,
        }};
    const struct etwas_record record = {
        .header = &header,
        .header_bytes = sizeof header.full,
        .bytes = header.full.size,
        .fields = fields,
        .field_count = 2,
    };

    (void)etwas_publish(key.index, key.generation, record.bytes, &record);
}

static void write_image(const struct etwas_session *session, uint8_t type,
                        const struct etwas_image *image)
{
    const struct class class = {&ImageLoadGuid, type, IMAGE_VERSION};
    const struct image_payload payload = {
        .base = image->base,
        .bytes = image->bytes,
        .process_id = etwas_thread_ids().process_id,
        .default_base = image->linked_base,
    };
    etwas_wchar name[PATH_MAX];
    size_t units;

    if (etwas_utf8_to_utf16(image->path, strlen(image->path), name, PATH_MAX, &units) !=
        ETWAS_UTF_OK) {
        name[0] = 0;
        units = 1;
    }
    publish(session, &class, &payload, sizeof payload, name, (uint32_t)(units * sizeof name[0]));
}

/* The name is where Linux keeps the debug information of that build: it has the whole id. */
static void write_build_id(const struct etwas_session *session, const struct etwas_image *image)
{
    static const char first[] = ".build-id/";
    const struct class class = {&image_id_class, TYPE_DEBUG_ID, DEBUG_ID_VERSION};
    struct debug_id_payload payload = {
        .base = image->base,
        .process_id = etwas_thread_ids().process_id,
    };
    char name[sizeof first + 2 * ETWAS_BUILD_ID_BYTES + sizeof "/.debug"];
    size_t at = sizeof first - 1;

    memcpy(name, first, sizeof first);
    memcpy(payload.signature, image->build_id,
           image->build_id_bytes < sizeof payload.signature ? image->build_id_bytes
                                                            : sizeof payload.signature);
    for (uint32_t index = 0; index < image->build_id_bytes; index++) {
        at += (size_t)snprintf(name + at, sizeof name - at, index == 0 ? "%02x/" : "%02x",
                               image->build_id[index]);
    }
    memcpy(name + at, ".debug", sizeof ".debug");
    publish(session, &class, &payload, sizeof payload, name, (uint32_t)(at + sizeof ".debug"));
}

static void write_one(const struct etwas_session *session, uint8_t type,
                      const struct etwas_image *image)
{
    write_image(session, type, image);
    if (image->build_id_bytes != 0) {
        write_build_id(session, image);
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool is_in(const struct etwas_image *image, const struct etwas_session_images *known)
{
    for (uint32_t index = 0; index < known->count; index++) {
        if (known->list[index].base == image->base && known->list[index].bytes == image->bytes) {
            return true;
        }
    }
    return false;
}

/* Those of the one list that the other has not. */
static void write_missing(const struct etwas_session *session, uint8_t type,
                          const struct etwas_session_images *list,
                          const struct etwas_session_images *other)
{
    for (uint32_t index = 0; index < list->count; index++) {
        if (!is_in(&list->list[index], other)) {
            write_one(session, type, &list->list[index]);
        }
    }
}

void etwas_session_images_update(struct etwas_session *session)
{
    struct etwas_session_images *known = &session->images;
    struct etwas_session_images found = *known;

    if (ck_pr_load_32(&session->takes_stacks) == 0) {
        return;
    }
    /* Before they are read: what changes meanwhile is found the next time. */
    found.changes = etwas_images_changes();
    if (known->list != NULL && found.changes == known->changes) {
        return;
    }
    found.list = etwas_images_read(&found.count);
    if (found.list == NULL) {
        return;
    }
    write_missing(session, TYPE_UNLOAD, known, &found);
    write_missing(session, known->list == NULL ? TYPE_THERE_AT_START : TYPE_LOAD, &found, known);
    free(known->list);
    *known = found;
}

static void write_all(struct etwas_session *session, uint8_t type)
{
    static const struct etwas_session_images none;

    etwas_session_images_update(session);
    write_missing(session, type, &session->images, &none);
}

void etwas_session_images_repeat(struct etwas_session *session)
{
    write_all(session, TYPE_THERE_AT_START);
}

void etwas_session_images_end(struct etwas_session *session)
{
    write_all(session, TYPE_THERE_AT_END);
    free(session->images.list);
    session->images = (struct etwas_session_images){0};
}

void etwas_session_images_reset(struct etwas_session *session)
{
    session->images = (struct etwas_session_images){0};
    ck_pr_store_32(&session->takes_stacks, 0);
}
