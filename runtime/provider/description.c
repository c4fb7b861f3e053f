/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/description.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>

#include "platform/thread.h"
#include "provider/metadata.h"
#include "session/session.h"

static struct etwas_description head;
static struct etwas_description *last = &head; /* a hint: at the end, or shortly before it */

static uint32_t published;

void *etwas_description_hook;

/* ---- making one ------------------------------------------------------------------------------ */

struct etwas_description *etwas_description_new(const struct etwas_description_key *subject)
{
    struct etwas_description *description = malloc(sizeof *description);

    if (description != NULL) {
        *description = (struct etwas_description){.subject = *subject};
    }
    return description;
}

void etwas_description_free(struct etwas_description *description)
{
    free(description->records);
    free(description);
}

struct etwas_etl_full_header etwas_description_header(const etwas_guid *class_guid, uint8_t type,
                                                      uint16_t version, size_t payload_bytes)
{
    return (struct etwas_etl_full_header){
        .size = (uint16_t)(sizeof(struct etwas_etl_full_header) + payload_bytes),
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .type = type,
        .version = version,
        .guid = *class_guid,
    };
}

uint8_t *etwas_description_add_record(struct etwas_description *description,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version,
                                      size_t payload_bytes)
{
    const struct etwas_etl_full_header header =
        etwas_description_header(class_guid, type, version, payload_bytes);
    size_t bytes = etwas_etl_round_up_8(header.size);
    uint8_t *records = realloc(description->records, description->bytes + bytes);
    uint8_t *record;

    if (records == NULL) {
        return NULL;
    }
    record = records + description->bytes;
    memset(record, 0, bytes);
    memcpy(record, &header, sizeof header);
    description->records = records;
    description->bytes += bytes;
    return record + sizeof header;
}

/* ---- the list -------------------------------------------------------------------------------- */

/*
 * A hash table of the last description of each key. If there is no memory for a larger table, its
 * buckets become longer. The control lock guards it.
 */
enum {
    FEWEST_CHAINS = 64, /* always a power of 2 */
};

static struct etwas_description *fewest[FEWEST_CHAINS];
static struct etwas_description **chains = fewest;
static uint32_t chain_count = FEWEST_CHAINS;
static uint32_t subject_count;

/* FNV-1a, whose low bits are well distributed. */
static struct etwas_description **description_bucket_of(const struct etwas_description_key *subject)
{
    const uint8_t *bytes = (const uint8_t *)subject;
    uint32_t hash = UINT32_C(2166136261);

    for (size_t index = 0; index < sizeof *subject; index++) {
        hash = (hash ^ bytes[index]) * UINT32_C(16777619);
    }
    return &chains[hash & (chain_count - 1)];
}

/* The link to the last description with this key; for a new key, the link at which it belongs. */
static struct etwas_description **description_find(const struct etwas_description_key *subject)
{
    struct etwas_description **link = description_bucket_of(subject);

    while (*link != NULL && memcmp(&(*link)->subject, subject, sizeof *subject) != 0) {
        link = &(*link)->chained;
    }
    return link;
}

static void description_grow_buckets(void)
{
    struct etwas_description **old = chains;
    struct etwas_description **more = calloc(2 * (size_t)chain_count, sizeof(*more));
    uint32_t old_count = chain_count;

    if (more == NULL) {
        return;
    }
    chains = more;
    chain_count *= 2;
    for (uint32_t index = 0; index < old_count; index++) {
        while (old[index] != NULL) {
            struct etwas_description *one = old[index];
            struct etwas_description **chain = description_bucket_of(&one->subject);

            old[index] = one->chained;
            one->chained = *chain;
            *chain = one;
        }
    }
    if (old != fewest) {
        free(old);
    }
}

/* Replaces the description with the same key in its bucket. */
static void description_add_to_bucket(struct etwas_description **link,
                                      struct etwas_description *description)
{
    struct etwas_description *found = *link;

    description->chained = found != NULL ? found->chained : NULL;
    *link = description;
    if (found != NULL) {
        ck_pr_store_32(&found->replaced, 1);
    } else if (++subject_count > chain_count) {
        description_grow_buckets();
    }
}

void etwas_description_append(struct etwas_description *description)
{
    struct etwas_description *at = ck_pr_load_ptr(&last);

    ck_pr_fence_release(); /* it is complete before it is linked: pairs with next_of */
    for (;;) {
        struct etwas_description *next = ck_pr_load_ptr(&at->next);

        if (next != NULL) {
            at = next;
        } else if (ck_pr_cas_ptr(&at->next, NULL, description)) {
            break;
        }
    }
    ck_pr_store_ptr(&last, description);
    ck_pr_inc_32(&published);
}

void etwas_description_publish(struct etwas_description *description)
{
    struct etwas_description **link;
    bool known;

    etwas_control_lock();
    link = description_find(&description->subject);
    known = *link != NULL && (*link)->bytes == description->bytes &&
            memcmp((*link)->records, description->records, description->bytes) == 0;
    if (!known) {
        etwas_description_append(description);
        etwas_crash_safe_write_all_descriptions();
        description_add_to_bucket(link, description);
    }
    etwas_control_unlock();
    if (known) {
        etwas_description_free(description);
    }
}

uint32_t etwas_descriptions_count(void)
{
    return ck_pr_load_32(&published);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const struct etwas_description *description_next_of(
    const struct etwas_description *description)
{
    const struct etwas_description *next =
        ck_pr_load_ptr(description != NULL ? &description->next : &head.next);

    ck_pr_fence_acquire(); /* pairs with etwas_description_append */
    return next;
}

bool etwas_descriptions_have_more(const struct etwas_description_cursor *cursor)
{
    return (cursor->current != NULL && cursor->at < cursor->current->bytes) ||
           description_next_of(cursor->current) != NULL;
}

const struct etwas_description *etwas_descriptions_next(struct etwas_description_cursor *cursor)
{
    const struct etwas_description *next;

    while ((next = description_next_of(cursor->current)) != NULL) {
        *cursor = (struct etwas_description_cursor){.current = next, .at = next->bytes};
        if (ck_pr_load_32(&next->replaced) == 0) {
            break;
        }
    }
    return next;
}

void etwas_descriptions_skip(struct etwas_description_cursor *cursor)
{
    const struct etwas_description *next;

    while ((next = description_next_of(cursor->current)) != NULL) {
        cursor->current = next;
    }
    cursor->at = cursor->current != NULL ? cursor->current->bytes : 0;
}

/* The next record's bytes, rounded. NULL: there is none. */
static const uint8_t *description_next_record(struct etwas_description_cursor *cursor,
                                              uint32_t *bytes)
{
    const uint8_t *record;
    uint16_t size;

    while (cursor->current == NULL || cursor->at == cursor->current->bytes) {
        const struct etwas_description *next = description_next_of(cursor->current);

        if (next == NULL) {
            return NULL;
        }
        *cursor = (struct etwas_description_cursor){
            .current = next,
            .at = ck_pr_load_32(&next->replaced) != 0 ? next->bytes : 0,
        };
    }
    record = cursor->current->records + cursor->at;
    memcpy(&size, record, sizeof size);
    *bytes = (uint32_t)etwas_etl_round_up_8(size);
    return record;
}

uint32_t etwas_description_copy_record(void *to, const uint8_t *record, int64_t stamp)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_full_header header;
    uint32_t bytes;

    memcpy(&header, record, sizeof header);
    bytes = (uint32_t)etwas_etl_round_up_8(header.size);
    header.thread_id = ids.thread_id;
    header.process_id = ids.process_id;
    header.time_stamp = stamp;
    memcpy(to, record, bytes);
    memcpy(to, &header, sizeof header);
    return bytes;
}

uint32_t etwas_descriptions_read(struct etwas_description_cursor *cursor, void *data, uint32_t room,
                                 int64_t stamp)
{
    const uint8_t *record;
    uint32_t used = 0;
    uint32_t bytes;

    while ((record = description_next_record(cursor, &bytes)) != NULL &&
           (bytes > room || bytes <= room - used)) {
        if (bytes <= room) {
            used += etwas_description_copy_record((uint8_t *)data + used, record, stamp);
        }
        cursor->at += bytes;
    }
    return used;
}
