/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/image_records.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl/kernel_class.h"
#include "etl/utf16.h"
#include "platform/images.h"
#include "platform/thread.h"
#include "provider/description.h"

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

/* ---- making records -------------------------------------------------------------------------- */

static bool image_add(struct etwas_description *description, const struct etwas_loaded_image *image)
{
    const struct image_payload payload = {
        .base = image->base,
        .bytes = image->bytes,
        .process_id = etwas_process_id(),
        .default_base = image->linked_base,
    };
    etwas_wchar name[PATH_MAX];
    uint8_t *place;
    size_t units;

    if (etwas_utf8_to_utf16(image->path, strlen(image->path), name, PATH_MAX, &units) !=
        ETWAS_UTF_OK) {
        name[0] = 0;
        units = 1;
    }
    place = etwas_description_add_record(description, &ImageLoadGuid, ETWAS_ETL_IMAGE_EXISTS_TYPE,
                                         ETWAS_ETL_IMAGE_VERSION,
                                         sizeof payload + units * sizeof name[0]);
    if (place != NULL) {
        memcpy(place, &payload, sizeof payload);
        memcpy(place + sizeof payload, name, units * sizeof name[0]);
    }
    return place != NULL;
}

/*
 * The name is the path at which Linux keeps the debug information of that build. It contains the
 * whole id.
 */
static bool image_add_build_id(struct etwas_description *description,
                               const struct etwas_loaded_image *image)
{
    static const char first[] = ".build-id/";
    struct debug_id_payload payload = {
        .base = image->base,
        .process_id = etwas_process_id(),
    };
    char name[sizeof first + 2 * ETWAS_BUILD_ID_BYTES + sizeof "/.debug"];
    size_t at = sizeof first - 1;
    uint8_t *place;

    memcpy(name, first, sizeof first);
    memcpy(payload.signature, image->build_id,
           image->build_id_bytes < sizeof payload.signature ? image->build_id_bytes
                                                            : sizeof payload.signature);
    for (uint32_t index = 0; index < image->build_id_bytes; index++) {
        at += (size_t)snprintf(name + at, sizeof name - at, index == 0 ? "%02x/" : "%02x",
                               image->build_id[index]);
    }
    memcpy(name + at, ".debug", sizeof ".debug");
    at += sizeof ".debug";
    place = etwas_description_add_record(description, &etwas_etl_debug_id_class,
                                         ETWAS_ETL_DEBUG_ID_TYPE, ETWAS_ETL_DEBUG_ID_VERSION,
                                         sizeof payload + at);
    if (place != NULL) {
        memcpy(place, &payload, sizeof payload);
        memcpy(place + sizeof payload, name, at);
    }
    return place != NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    UNLOADED = 64, /* how many are kept, the newest ones: small files have to hold them, too */
};

struct image_entry {
    uint64_t number;
    uint64_t base;
    uint64_t end;
    bool is_unloaded;
    bool is_covered; /* an image loaded now overlaps it: itself, or a later one */
    struct etwas_description *records;
};

struct image_table {
    struct image_entry *entries; /* by their numbers */
    uint32_t count;
    uint64_t changes; /* etwas_images_changes before the table was read; atomic */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image_table known; /* under `lock` */
static uint64_t newest;          /* the greatest number assigned; atomic */

static void image_free_table(struct image_table *table)
{
    for (uint32_t index = 0; index < table->count; index++) {
        if (table->entries[index].records != NULL) {
            etwas_description_free(table->entries[index].records);
        }
    }
    free(table->entries);
}

static struct etwas_description *image_describe(const struct etwas_loaded_image *image)
{
    static const struct etwas_description_key none;
    struct etwas_description *description = etwas_description_new(&none);

    if (description != NULL &&
        (!image_add(description, image) ||
         (image->build_id_bytes != 0 && !image_add_build_id(description, image)))) {
        etwas_description_free(description);
        description = NULL;
    }
    return description;
}

/* Reads what is loaded now, without numbers. Returns false if there is no memory. */
static bool image_read_table(struct image_table *table)
{
    struct etwas_loaded_image *images;
    bool good;

    /* Read first, so that what changes meanwhile is found the next time. */
    table->changes = etwas_images_changes();
    images = etwas_images_read(&table->count);
    table->entries =
        images != NULL ? calloc(table->count + UNLOADED, sizeof *table->entries) : NULL;
    good = table->entries != NULL;
    table->count = good ? table->count : 0;
    for (uint32_t index = 0; index < table->count; index++) {
        struct image_entry *entry = &table->entries[index];

        entry->base = images[index].base;
        entry->end = images[index].base + images[index].bytes;
        entry->records = image_describe(&images[index]);
        good = good && entry->records != NULL;
    }
    free(images);
    return good;
}

static bool image_is_same(const struct image_entry *left, const struct image_entry *right)
{
    return left->records->bytes == right->records->bytes &&
           memcmp(left->records->records, right->records->records, left->records->bytes) == 0;
}

static int image_by_number(const void *left, const void *right)
{
    uint64_t one = ((const struct image_entry *)left)->number;
    uint64_t other = ((const struct image_entry *)right)->number;

    return one < other ? -1 : one > other;
}

/*
 * Keeps unloaded images whose place is still free: the stacks of older events refer to them. In a
 * fork's child, which has no older events, nothing is kept.
 */
static void image_keep_unloaded(struct image_table *table)
{
    uint32_t most = table->count + UNLOADED;

    for (uint32_t at = known.changes == 0 ? 0 : known.count; at-- > 0 && table->count < most;) {
        struct image_entry *entry = &known.entries[at];

        if (!entry->is_covered) {
            entry->is_unloaded = true;
            table->entries[table->count++] = *entry;
            entry->records = NULL;
        }
    }
}

/*
 * Images that are still loaded keep their numbers. An image that was loaded again gets a new one.
 */
static void image_assign_numbers(struct image_table *table)
{
    uint64_t greatest = newest;

    for (uint32_t index = 0; index < table->count; index++) {
        struct image_entry *entry = &table->entries[index];

        for (uint32_t at = 0; at < known.count; at++) {
            struct image_entry *before = &known.entries[at];

            if (before->base < entry->end && entry->base < before->end) {
                before->is_covered = true;
                if (!before->is_unloaded && image_is_same(entry, before)) {
                    entry->number = before->number;
                }
            }
        }
        if (entry->number == 0) {
            entry->number = ++greatest;
        }
    }
    image_keep_unloaded(table);
    qsort(table->entries, table->count, sizeof *table->entries, image_by_number);
    ck_pr_store_64(&newest, greatest);
}

void etwas_image_records_update(void)
{
    struct image_table found = {0};

    if (etwas_images_changes() == ck_pr_load_64(&known.changes)) {
        return;
    }
    if (image_read_table(&found)) {
        (void)pthread_mutex_lock(&lock);
        if (found.changes > known.changes) {
            struct image_table before = known;

            image_assign_numbers(&found);
            known.entries = found.entries;
            known.count = found.count;
            ck_pr_store_64(&known.changes, found.changes);
            found = before;
        }
        (void)pthread_mutex_unlock(&lock);
    }
    image_free_table(&found);
}

void etwas_image_records_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void etwas_image_records_after_fork(bool in_child)
{
    if (in_child) {
        ck_pr_store_64(&known.changes, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool etwas_image_records_have_more(const struct etwas_image_cursor *cursor)
{
    return ck_pr_load_64(&newest) > cursor->seen;
}

void etwas_image_records_skip(struct etwas_image_cursor *cursor)
{
    cursor->seen = ck_pr_load_64(&newest);
}

/* Copies the records of one image. */
static void image_copy_records(uint8_t *to, const struct etwas_description *records, bool loaded,
                               int64_t stamp)
{
    for (size_t at = 0; at < records->bytes;) {
        struct etwas_etl_full_header *header = (struct etwas_etl_full_header *)(void *)(to + at);

        at += etwas_description_copy_record(to + at, records->records + at, stamp);
        if (loaded && header->type == ETWAS_ETL_IMAGE_EXISTS_TYPE) {
            header->type = ETWAS_ETL_IMAGE_LOADED_TYPE;
        }
    }
}

uint32_t etwas_image_records_read(struct etwas_image_cursor *cursor, void *data, uint32_t used,
                                  uint32_t room, int64_t stamp)
{
    bool is_full = false;

    (void)pthread_mutex_lock(&lock);
    if (cursor->begun == 0) {
        cursor->begun = newest;
    }
    for (uint32_t index = 0; index < known.count && !is_full; index++) {
        const struct image_entry *entry = &known.entries[index];
        size_t bytes = entry->records->bytes;

        if (entry->number <= cursor->seen) {
            continue;
        }
        is_full = bytes <= room && bytes > room - used;
        if (bytes <= room - used) {
            image_copy_records((uint8_t *)data + used, entry->records,
                               entry->number > cursor->begun, stamp);
            used += (uint32_t)bytes;
        }
        cursor->seen = is_full ? cursor->seen : entry->number;
    }
    if (!is_full) {
        cursor->seen = newest;
    }
    (void)pthread_mutex_unlock(&lock);
    return used;
}
