/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/manifest_chunk.h"

#include <ck_pr.h>
#include <errno.h>
#include <string.h>

#include "etl/own_record.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "provider/description.h"

enum {
    MAGIC = 0x5B,
    VERSION_SHIFT = 16,
};

/* The header of each chunk. */
struct manifest_chunk_header {
    uint8_t format;
    uint8_t major;
    uint8_t minor;
    uint8_t magic;
    uint16_t total;
    uint16_t number;
};
_Static_assert(sizeof(struct manifest_chunk_header) == 8, "what a chunk begins with");

/* The pieces of the payload, whose sizes were read once: another thread may change them. */
struct chunk_payload {
    const void *pieces[MAX_EVENT_DATA_DESCRIPTORS];
    uint32_t sizes[MAX_EVENT_DATA_DESCRIPTORS];
    uint32_t count;
    size_t bytes;
};

/* Lists the pieces of a payload. Returns false if it is not a chunk's. */
static bool chunk_list_pieces(struct chunk_payload *payload,
                              const struct etwas_event_arguments *event)
{
    const size_t most = ETWAS_DESCRIPTION_PAYLOAD_BYTES - sizeof(struct etwas_etl_manifest_chunk);

    payload->count = 0;
    payload->bytes = 0;
    for (uint32_t index = 0; index < event->data_count && index < MAX_EVENT_DATA_DESCRIPTORS;
         index++) {
        const EVENT_DATA_DESCRIPTOR *block = &event->data[index];

        if (block->Type == EVENT_DATA_DESCRIPTOR_TYPE_NONE) {
            payload->pieces[payload->count] = (const void *)(uintptr_t)block->Ptr;
            payload->sizes[payload->count] = ck_pr_load_32(&block->Size);
            payload->bytes += payload->sizes[payload->count++];
        }
    }
    return payload->bytes > sizeof(struct manifest_chunk_header) && payload->bytes <= most;
}

/* Copies the first bytes of the payload, as many as there is room for. */
static void chunk_copy_pieces(uint8_t *to, size_t room, const struct chunk_payload *payload)
{
    for (uint32_t index = 0; index < payload->count && room > 0; index++) {
        size_t bytes = payload->sizes[index] < room ? payload->sizes[index] : room;

        memcpy(to, payload->pieces[index], bytes);
        to += bytes;
        room -= bytes;
    }
}

static bool chunk_is_same(const uint8_t *known, const struct chunk_payload *payload)
{
    for (uint32_t index = 0; index < payload->count; index++) {
        if (memcmp(known, payload->pieces[index], payload->sizes[index]) != 0) {
            return false;
        }
        known += payload->sizes[index];
    }
    return true;
}

/* ---- known chunks ---------------------------------------------------------------------------- */

/*
 * The known chunks, linked by `chained`, the newest first. The list only grows, lock-free, because
 * a signal handler may have interrupted a thread that adds a chunk.
 */
static struct etwas_description *known_chunks;

enum {
    BEFORE = sizeof(struct etwas_etl_full_header) + sizeof(struct etwas_etl_manifest_chunk),
};

/* Finds the newest chunk with this key; NULL: there is none. */
static struct etwas_description *chunk_find_known(const struct etwas_description_key *subject)
{
    struct etwas_description *one = ck_pr_load_ptr(&known_chunks);

    ck_pr_fence_acquire(); /* pairs with add */
    while (one != NULL && memcmp(&one->subject, subject, sizeof *subject) != 0) {
        one = one->chained;
    }
    return one;
}

static void chunk_add_known(struct etwas_description *description)
{
    void *newest;

    do {
        newest = ck_pr_load_ptr(&known_chunks);
        description->chained = newest;
        ck_pr_fence_release(); /* it is complete before it is linked: pairs with chunk_find_known */
    } while (!ck_pr_cas_ptr(&known_chunks, newest, description));
    etwas_description_append(description);
}

/* ---- keeping --------------------------------------------------------------------------------- */

static bool chunk_is_known(const struct etwas_description *found,
                           const struct chunk_payload *payload)
{
    struct etwas_etl_full_header header;

    if (found == NULL) {
        return false;
    }
    memcpy(&header, found->records, sizeof header);
    return header.size == BEFORE + payload->bytes &&
           chunk_is_same(found->records + BEFORE, payload);
}

static struct etwas_description *chunk_make_description(const struct etwas_description_key *subject,
                                                        const struct chunk_payload *payload)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    const struct etwas_etl_full_header header = etwas_description_header(
        &etwas_etl_own_class, ETWAS_ETL_MANIFEST_CHUNK_TYPE, ETWAS_ETL_MANIFEST_CHUNK_VERSION,
        sizeof(struct etwas_etl_manifest_chunk) + payload->bytes);
    const struct etwas_etl_manifest_chunk head = {
        .version = ETWAS_ETL_MANIFEST_CHUNK_VERSION,
        .process_id = ids.process_id,
        .thread_id = ids.thread_id,
        .provider = subject->guid,
    };
    struct etwas_description *made =
        etwas_memory_allocate_permanent(sizeof *made + etwas_etl_round_up_8(header.size));

    if (made != NULL) {
        made->subject = *subject;
        made->bytes = etwas_etl_round_up_8(header.size);
        made->records = (uint8_t *)(made + 1);
        memcpy(made->records, &header, sizeof header);
        memcpy(made->records + sizeof header, &head, sizeof head);
        chunk_copy_pieces(made->records + BEFORE, payload->bytes, payload);
    }
    return made;
}

static void chunk_store(const etwas_guid *provider, const struct chunk_payload *payload)
{
    struct etwas_description_key subject = {.guid = *provider, .kind = ETWAS_DESCRIBES_BY_MANIFEST};
    struct etwas_description *found;
    struct etwas_description *made;
    struct manifest_chunk_header envelope;
    void (*hook)(void);

    chunk_copy_pieces((uint8_t *)&envelope, sizeof envelope, payload);
    if (envelope.magic != MAGIC) {
        return;
    }
    subject.number =
        (uint32_t)(envelope.major << 8 | envelope.minor) << VERSION_SHIFT | envelope.number;
    found = chunk_find_known(&subject);
    if (chunk_is_known(found, payload)) {
        return;
    }
    made = chunk_make_description(&subject, payload);
    if (made == NULL) {
        return;
    }
    chunk_add_known(made);
    if (found != NULL) {
        ck_pr_store_32(&found->replaced, 1);
    }
    hook = (void (*)(void))(uintptr_t)ck_pr_load_ptr(&etwas_description_hook);
    if (hook != NULL) {
        hook();
    }
}

void etwas_manifest_chunk_store(const etwas_guid *provider,
                                const struct etwas_event_arguments *event)
{
    const int error = errno;
    struct chunk_payload payload;

    if (event->descriptor->Task == ETWAS_MANIFEST_CHUNK_ID &&
        event->descriptor->Opcode == ETWAS_MANIFEST_CHUNK_OPCODE &&
        chunk_list_pieces(&payload, event)) {
        chunk_store(provider, &payload);
    }
    errno = error;
}
