/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/manifests.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ID = 0xFFFE, /* and Task */
    CHUNK_OPCODE = 0xFE,
    FORMAT_XML = 1,
    MAGIC = 0x5B,
    CHUNKS_LIMIT = 4096, /* the most in a document; most chunks have 65,280 bytes */
    /*
     * The most documents that are incomplete at a time; the oldest is dropped, because lost chunks
     * never come.
     */
    PARTIAL_LIMIT = 32,
};

struct chunk_header {
    uint8_t format;
    uint8_t major;
    uint8_t minor;
    uint8_t magic;
    uint16_t total;
    uint16_t number;
};
_Static_assert(sizeof(struct chunk_header) == 8, "what a chunk begins with");

struct chunk {
    uint8_t *xml; /* NULL: not allocated yet */
    size_t bytes;
};

struct etwas_partial_manifest {
    struct etwas_partial_manifest *older;
    etwas_guid provider;
    uint32_t process_id;
    uint32_t thread_id;
    struct chunk_header first; /* of chunk 0 */
    uint32_t missing;
    size_t bytes;
    struct chunk chunks[];
};

bool etwas_is_manifest_chunk(const EVENT_RECORD *record)
{
    const EVENT_DESCRIPTOR *descriptor = &record->EventHeader.EventDescriptor;

    return descriptor->Id == CHUNK_ID && descriptor->Task == CHUNK_ID &&
           descriptor->Opcode == CHUNK_OPCODE &&
           record->UserDataLength > sizeof(struct chunk_header) &&
           ((const uint8_t *)record->UserData)[offsetof(struct chunk_header, magic)] == MAGIC;
}

/* Returns the link to the document that the record continues; if there is none, *link is NULL. */
static struct etwas_partial_manifest **chunks_find(struct etwas_manifest_chunks *chunks,
                                                   const EVENT_RECORD *record)
{
    struct etwas_partial_manifest **link = &chunks->newest;
    const EVENT_HEADER *header = &record->EventHeader;

    while (*link != NULL &&
           ((*link)->process_id != header->ProcessId || (*link)->thread_id != header->ThreadId ||
            memcmp(&(*link)->provider, &header->ProviderId, sizeof header->ProviderId) != 0)) {
        link = &(*link)->older;
    }
    return link;
}

static void chunks_forget(struct etwas_manifest_chunks *chunks,
                          struct etwas_partial_manifest **link)
{
    struct etwas_partial_manifest *partial = *link;

    if (partial == NULL) {
        return;
    }
    *link = partial->older;
    chunks->count--;
    for (uint32_t i = 0; i < partial->first.total; i++) {
        free(partial->chunks[i].xml);
    }
    free(partial);
}

static void chunks_forget_oldest(struct etwas_manifest_chunks *chunks)
{
    struct etwas_partial_manifest **link = &chunks->newest;

    while ((*link)->older != NULL) {
        link = &(*link)->older;
    }
    chunks_forget(chunks, link);
}

/* Begins a document. Returns false if there is no memory. */
static bool chunks_begin(struct etwas_manifest_chunks *chunks, const EVENT_RECORD *record,
                         const struct chunk_header *envelope)
{
    struct etwas_partial_manifest *partial =
        calloc(1, sizeof *partial + envelope->total * sizeof partial->chunks[0]);

    if (partial == NULL) {
        return false;
    }
    partial->older = chunks->newest;
    partial->provider = record->EventHeader.ProviderId;
    partial->process_id = record->EventHeader.ProcessId;
    partial->thread_id = record->EventHeader.ThreadId;
    partial->first = *envelope;
    partial->missing = envelope->total;
    chunks->newest = partial;
    if (++chunks->count > PARTIAL_LIMIT) {
        chunks_forget_oldest(chunks);
    }
    return true;
}

/* Whether the chunk belongs to the document and is not stored yet. */
static bool chunks_continue(const struct etwas_partial_manifest *partial,
                            const struct chunk_header *envelope, size_t bytes)
{
    return envelope->major == partial->first.major && envelope->minor == partial->first.minor &&
           envelope->total == partial->first.total &&
           partial->chunks[envelope->number].xml == NULL &&
           bytes <= ETWAS_MANIFEST_LIMIT_BYTES - partial->bytes;
}

static bool chunks_store(struct etwas_partial_manifest *partial, uint16_t number,
                         const uint8_t *xml, size_t bytes)
{
    uint8_t *copy = malloc(bytes);

    if (copy == NULL) {
        return false;
    }
    partial->chunks[number] = (struct chunk){.xml = memcpy(copy, xml, bytes), .bytes = bytes};
    partial->bytes += bytes;
    partial->missing--;
    return true;
}

/* Joins the chunks into one document. Returns false if there is no memory. */
static bool chunks_complete(struct etwas_manifest_chunks *chunks,
                            const struct etwas_partial_manifest *partial,
                            struct etwas_manifest_document *document)
{
    uint8_t *whole = realloc(chunks->document, partial->bytes);

    if (whole == NULL) {
        return false;
    }
    chunks->document = whole;
    for (uint32_t i = 0; i < partial->first.total; i++) {
        memcpy(whole, partial->chunks[i].xml, partial->chunks[i].bytes);
        whole += partial->chunks[i].bytes;
    }
    document->xml = chunks->document;
    document->bytes = partial->bytes;
    return true;
}

static uint32_t chunks_add(struct etwas_manifest_chunks *chunks,
                           struct etwas_partial_manifest **link,
                           const struct chunk_header *envelope, const uint8_t *xml, size_t bytes,
                           struct etwas_manifest_document *document)
{
    bool enough;

    if (!chunks_continue(*link, envelope, bytes)) {
        chunks_forget(chunks, link);
        return ERROR_INVALID_DATA;
    }
    enough = chunks_store(*link, envelope->number, xml, bytes);
    if (enough && (*link)->missing > 0) {
        return ERROR_SUCCESS;
    }
    enough = enough && chunks_complete(chunks, *link, document);
    chunks_forget(chunks, link);
    return enough ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

uint32_t etwas_manifest_chunks_add(struct etwas_manifest_chunks *chunks, const EVENT_RECORD *record,
                                   struct etwas_manifest_document *document)
{
    const uint8_t *payload = record->UserData;
    struct etwas_partial_manifest **link = chunks_find(chunks, record);
    struct chunk_header envelope;

    memcpy(&envelope, payload, sizeof envelope);
    *document = (struct etwas_manifest_document){
        .version = (uint16_t)(envelope.major << 8 | envelope.minor),
    };
    if (envelope.format != FORMAT_XML || envelope.number >= envelope.total ||
        envelope.total > CHUNKS_LIMIT) {
        chunks_forget(chunks, link);
        return ERROR_INVALID_DATA;
    }
    if (envelope.number == 0) {
        chunks_forget(chunks, link);
        if (!chunks_begin(chunks, record, &envelope)) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        link = &chunks->newest;
    }
    if (*link == NULL) {
        return ERROR_SUCCESS;
    }
    return chunks_add(chunks, link, &envelope, payload + sizeof envelope,
                      record->UserDataLength - sizeof envelope, document);
}

void etwas_manifest_chunks_free(struct etwas_manifest_chunks *chunks)
{
    while (chunks->newest != NULL) {
        chunks_forget(chunks, &chunks->newest);
    }
    free(chunks->document);
    *chunks = (struct etwas_manifest_chunks){0};
}
