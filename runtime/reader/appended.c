/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions of an appended file. Each numbered its buffers from 1 again. They are numbered when
 * a processor takes them and written when they are full, so the first in the file need not be
 * number 1: where a number 1 is there again, the session begins with the first number since the one
 * before that was there already, or with buffers just before it that were open together with the
 * number 1.
 */
#include "reader/index.h"

#include <stdlib.h>
#include <string.h>

#include "etl/record.h"
#include "etl/xpress.h"
#include "reader/source.h"
#include "reader/trace.h"

#define NONE SIZE_MAX

enum {
    BEGINNING_BYTES = 1024,        /* more than a header: a match may go on behind it */
    ENOUGH_COMPRESSED_BYTES = 128, /* for a header, however badly it compresses */
};

/* The first bytes of a buffer's records, as far as the file gives them. Returns how many. */
static size_t read_beginning(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                             uint8_t *bytes, size_t wanted)
{
    uint64_t offset = entry->file_offset + ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint8_t compressed[ENOUGH_COMPRESSED_BYTES];
    bool exact;
    size_t got;

    if (!entry->compressed) {
        return etwas_source_read(trace, offset, bytes, wanted);
    }
    got = etwas_source_read(trace, offset, compressed, sizeof compressed);
    return etwas_xpress_decode(compressed, got, bytes, wanted, &exact);
}

/* Of the buffer's first record; INT64_MAX if that cannot be read. */
static int64_t first_stamp(struct etwas_trace *trace, const struct etwas_index_entry *entry)
{
    struct etwas_etl_system_header system; /* the beginning of every header with a stamp there */
    struct etwas_record record;
    uint8_t bytes[BEGINNING_BYTES];

    if (read_beginning(trace, entry, bytes, sizeof bytes) < sizeof system ||
        etwas_record_measure(bytes, &record) != ETWAS_RECORD_MEASURED ||
        record.kind == ETWAS_RECORD_PERFINFO || record.kind == ETWAS_RECORD_MESSAGE ||
        record.kind == ETWAS_RECORD_OPAQUE) {
        return INT64_MAX;
    }
    memcpy(&system, bytes, sizeof system);
    return system.time_stamp;
}

/* Where the session of number 1 at `one` begins: at `begin` or earlier, but behind `before`. */
static size_t find_begin(struct etwas_trace *trace, const struct etwas_index *index, size_t before,
                         size_t begin, size_t one)
{
    int64_t first = first_stamp(trace, &index->entries[one]);
    int64_t last = etwas_index_entry_collected(trace, &index->entries[one]);

    while (begin > before + 1) {
        int64_t collected = etwas_index_entry_collected(trace, &index->entries[begin - 1]);

        if (collected < first || collected > last) {
            break;
        }
        begin--;
    }
    return begin;
}

bool etwas_index_find_sessions(struct etwas_trace *trace, struct etwas_index *index)
{
    size_t *seen = calloc(index->count + 1, sizeof *seen); /* behind the last with this number */
    size_t begin = 0;                                      /* of this session, */
    size_t one = 0;                                        /* its number 1 */
    size_t again = NONE; /* the first of its numbers that was there already */
    uint32_t session = 0;

    if (seen == NULL) {
        return false;
    }
    for (size_t at = 0; at < index->count; at++) {
        int64_t number = index->entries[at].sequence;

        index->entries[at].session = session;
        if (number <= 0 || (uint64_t)number > index->count) {
            continue;
        }
        if (seen[number] > begin && again == NONE) {
            again = at;
        }
        if (number == 1 && seen[1] > begin) {
            begin = find_begin(trace, index, one, again, at);
            again = NONE;
            session++;
            for (size_t i = begin; i <= at; i++) {
                index->entries[i].session = session;
            }
        }
        one = number == 1 ? at : one;
        seen[number] = at + 1;
    }
    free(seen);
    return true;
}
