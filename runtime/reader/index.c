/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/index.h"

#include <stdlib.h>
#include <string.h>

#include "reader/damage.h"
#include "reader/index_file.h"
#include "reader/knots.h"
#include "reader/source.h"
#include "reader/trace.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

/* ---- an entry -------------------------------------------------------------------------------- */

bool etwas_index_entry_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                             uint64_t available, uint32_t largest_data_bytes,
                             struct etwas_index_entry *entry, bool *doubtful)
{
    bool compressed = (header->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;
    uint32_t limit = compressed ? largest_data_bytes : header->buffer_bytes;
    bool offset_valid = header->offset >= HEADER_BYTES && header->offset <= limit;
    bool saved_valid = header->saved_offset >= HEADER_BYTES && header->saved_offset <= limit;

    if (header->buffer_bytes < HEADER_BYTES ||
        header->buffer_bytes > ETWAS_ETL_LARGEST_BUFFER_BYTES || available < HEADER_BYTES ||
        (!offset_valid && !saved_valid)) {
        return false;
    }
    *doubtful = header->offset != header->saved_offset;
    *entry = (struct etwas_index_entry){
        .file_offset = file_offset,
        .sequence = header->sequence_number,
        .collected = header->time_stamp,
        .buffer_bytes = header->buffer_bytes,
        .file_bytes = available < header->buffer_bytes ? (uint32_t)available : header->buffer_bytes,
        .data_end = header->offset,
        .processor = etwas_etl_buffer_processor(header),
        .logger_id = header->logger_id,
        .compressed = compressed,
    };
    /* Of two ends take the later: records say themselves where they stop. Not in compressed
     * buffers, where the end is also the size to decompress to. */
    if (!offset_valid || (saved_valid && !compressed && header->saved_offset > header->offset)) {
        entry->data_end = header->saved_offset;
    }
    return true;
}

/* A number of the buffer's header; `absent` where the file does not give it. */
static int64_t read_number(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                           size_t field, int64_t absent)
{
    int64_t number;

    return etwas_source_read(trace, entry->file_offset + field, &number, sizeof number) ==
                   sizeof number
               ? number
               : absent;
}

int64_t etwas_index_entry_collected(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry)
{
    return read_number(trace, entry, offsetof(struct etwas_etl_buffer_header, time_stamp),
                       INT64_MAX);
}

bool etwas_index_entry_is_replaced(struct etwas_trace *trace, const struct etwas_index_entry *entry)
{
    return read_number(trace, entry, offsetof(struct etwas_etl_buffer_header, sequence_number),
                       entry->sequence) != entry->sequence;
}

bool etwas_index_entry_is_confirmed(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry)
{
    struct etwas_etl_buffer_header header;
    struct etwas_index_entry found;
    bool doubtful;

    return etwas_source_read(trace, entry->file_offset, &header, sizeof header) == sizeof header &&
           etwas_index_entry_check(&header, entry->file_offset,
                                   trace->file_bytes - entry->file_offset,
                                   trace->log.session_buffer_bytes, &found, &doubtful) &&
           found.sequence == entry->sequence && found.collected == entry->collected &&
           found.buffer_bytes == entry->buffer_bytes && found.data_end == entry->data_end &&
           found.processor == entry->processor && found.compressed == entry->compressed;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool append(struct etwas_index *index, const struct etwas_index_entry *entry)
{
    if (index->count == index->capacity) {
        size_t capacity = index->capacity == 0 ? 256 : index->capacity * 2;
        struct etwas_index_entry *entries =
            realloc(index->entries, capacity * sizeof *index->entries);

        if (entries == NULL) {
            return false;
        }
        index->entries = entries;
        index->capacity = capacity;
    }
    index->entries[index->count++] = *entry;
    return true;
}

/* A buffer whose header cannot be used, or a stretch of the file where none was found. */
static void report_skipped(struct etwas_trace *trace, struct etwas_index *index,
                           etwas_damage_kind kind, uint64_t offset, uint64_t bytes)
{
    uint64_t stride = trace->log.buffer.buffer_bytes;
    uint64_t buffers = trace->log.uniform ? (bytes + stride - 1) / stride : 1;

    etwas_trace_report(trace, kind, offset, bytes);
    etwas_trace_count(&trace->information.buffers_damaged, buffers);
    index->unusable += buffers;
}

enum added {
    ADDED_NONE,
    ADDED_BUFFER,
    ADDED_NO_MEMORY
};

/* Adds the buffer at `offset`. An unusable header is for the caller to report. */
static enum added add_buffer(struct etwas_trace *trace, struct etwas_index *index, uint64_t offset,
                             const struct etwas_etl_buffer_header *header)
{
    struct etwas_index_entry entry;
    bool doubtful;

    if (!etwas_index_entry_check(header, offset, trace->file_bytes - offset,
                                 trace->log.session_buffer_bytes, &entry, &doubtful)) {
        return ADDED_NONE;
    }
    if (trace->log.uniform && entry.buffer_bytes != trace->log.buffer.buffer_bytes) {
        return ADDED_NONE;
    }
    if (doubtful) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, offset, 0);
    }
    if (entry.file_bytes == entry.buffer_bytes) {
        etwas_trace_count(&trace->information.buffers, 1);
        etwas_trace_count(&trace->information.uncompressed_bytes,
                          entry.compressed ? entry.data_end : entry.buffer_bytes);
    }
    return append(index, &entry) ? ADDED_BUFFER : ADDED_NO_MEMORY;
}

/* The `wanted` first bytes of a buffer, or fewer where the file ends. */
static size_t read_beginning(struct etwas_trace *trace, struct etwas_index *index, uint64_t offset,
                             struct etwas_buffer_beginning *beginning, size_t wanted)
{
    struct etwas_index_file *file = index->file;
    size_t got;

    if (file != NULL && !file->writes && etwas_index_file_find(file, offset, beginning)) {
        return wanted;
    }
    if (file == NULL || !file->writes) {
        return etwas_source_read(trace, offset, beginning, wanted);
    }
    got = etwas_source_read(trace, offset, beginning, sizeof *beginning);
    if (got == sizeof *beginning) {
        etwas_index_file_add(file, offset, beginning);
    }
    return got < wanted ? got : wanted;
}

/* Where buffers all have one size, a bad header costs its own buffer and no more. */
static uint32_t walk_uniform(struct etwas_trace *trace, struct etwas_index *index, uint64_t offset)
{
    uint64_t stride = trace->log.buffer.buffer_bytes;
    uint64_t hole = UINT64_MAX; /* where a run of buffers of size 0 began */
    struct etwas_buffer_beginning beginning;
    struct etwas_etl_buffer_header *header = &beginning.header;
    size_t wanted = index->looked_for_knots ? sizeof beginning : sizeof *header;

    while (offset < trace->file_bytes) {
        size_t got = read_beginning(trace, index, offset, &beginning, wanted);
        uint64_t left = trace->file_bytes - offset;
        uint64_t here = left < stride ? left : stride;

        if (got < sizeof *header && got < left) {
            report_skipped(trace, index, ETWAS_DAMAGE_READ, offset, here);
        } else if (got < sizeof *header) {
            report_skipped(trace, index, ETWAS_DAMAGE_TRUNCATED, offset, here);
        } else if (header->buffer_bytes == 0) {
            /* Space allocated ahead reads as 0. Nothing is wrong unless buffers follow it. */
            uint64_t data = etwas_source_next_data(trace, offset);

            if (hole == UINT64_MAX) {
                hole = offset;
            }
            if (data > offset + stride) {
                offset = data / stride * stride - stride;
            }
        } else {
            enum added result;

            if (hole != UINT64_MAX) {
                report_skipped(trace, index, ETWAS_DAMAGE_BUFFER_HEADER, hole, offset - hole);
            }
            hole = UINT64_MAX;
            result = add_buffer(trace, index, offset, header);
            if (result == ADDED_BUFFER && got == sizeof beginning &&
                !etwas_knots_add_buffer(trace, &index->knots, offset, &beginning)) {
                result = ADDED_NO_MEMORY;
            }
            if (result == ADDED_NO_MEMORY) {
                return ERROR_NOT_ENOUGH_MEMORY;
            }
            if (result == ADDED_NONE) {
                report_skipped(trace, index, ETWAS_DAMAGE_BUFFER_HEADER, offset, here);
            }
        }
        offset += stride;
    }
    return ERROR_SUCCESS;
}

/* Does a buffer of a compressed file begin here? Stricter than what a reader of a sound file needs,
 * because it is asked of every byte after a damaged header. */
static bool looks_like_buffer(const struct etwas_trace *trace,
                              const struct etwas_etl_buffer_header *header, uint64_t left)
{
    return header->buffer_bytes > HEADER_BYTES && header->buffer_bytes <= left &&
           header->buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           header->offset == header->saved_offset && header->offset > HEADER_BYTES &&
           header->offset <= trace->log.session_buffer_bytes && header->reference_count == 0 &&
           header->state == ETWAS_ETL_BUFFER_STATE_FLUSH && header->flags <= 0x7F &&
           header->type == ETWAS_ETL_BUFFER_GENERIC;
}

/* The next offset after `offset` where a buffer seems to begin; the file's end if there is none. */
static uint64_t find_next_buffer(struct etwas_trace *trace, uint64_t offset)
{
    enum {
        CHUNK_BYTES = 16384
    };
    uint8_t chunk[CHUNK_BYTES];
    struct etwas_etl_buffer_header header;

    for (offset++; offset < trace->file_bytes; offset += CHUNK_BYTES - HEADER_BYTES + 1) {
        size_t got = etwas_source_read(trace, offset, chunk, sizeof chunk);

        for (size_t i = 0; i + sizeof header <= got; i++) {
            memcpy(&header, chunk + i, sizeof header);
            if (looks_like_buffer(trace, &header, trace->file_bytes - offset - i)) {
                return offset + i;
            }
        }
    }
    return trace->file_bytes;
}

/*
 * Whether nothing but zeroes comes from here on: space set aside. Between the last buffer and the first hole
 * there may be some that the file really has.
 */
static bool is_unused(struct etwas_trace *trace, uint64_t offset)
{
    uint64_t words[512];

    while (offset < trace->file_bytes) {
        uint64_t data = etwas_source_next_data(trace, offset);
        size_t got;

        if (data > offset) {
            offset = data;
            continue;
        }
        memset(words, 0, sizeof words);
        got = etwas_source_read(trace, offset, words, sizeof words);
        for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
            if (words[index] != 0) {
                return false;
            }
        }
        if (got == 0) {
            return false;
        }
        offset += got;
    }
    return true;
}

/* Where every buffer has its own size, each says where the next begins. */
static uint32_t walk_chain(struct etwas_trace *trace, struct etwas_index *index, uint64_t offset)
{
    struct etwas_buffer_beginning beginning;
    const struct etwas_etl_buffer_header *header = &beginning.header;

    while (offset < trace->file_bytes) {
        uint64_t left = trace->file_bytes - offset;
        size_t got = read_beginning(trace, index, offset, &beginning, sizeof *header);
        enum added result;

        if (got < sizeof *header) {
            report_skipped(trace, index, got < left ? ETWAS_DAMAGE_READ : ETWAS_DAMAGE_TRUNCATED,
                           offset, left);
            return ERROR_SUCCESS;
        }
        if (header->buffer_bytes == 0 && is_unused(trace, offset)) {
            return ERROR_SUCCESS;
        }
        result = add_buffer(trace, index, offset, header);
        if (result == ADDED_NO_MEMORY) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        if (result == ADDED_BUFFER) {
            offset += header->buffer_bytes;
        } else {
            uint64_t next = find_next_buffer(trace, offset);

            report_skipped(trace, index, ETWAS_DAMAGE_BUFFER_HEADER, offset, next - offset);
            offset = next;
        }
    }
    return ERROR_SUCCESS;
}

/* ---- the order ------------------------------------------------------------------------------- */

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_sequence(const void *left, const void *right)
{
    const struct etwas_index_entry *a = left;
    const struct etwas_index_entry *b = right;
    int order = (a->session > b->session) - (a->session < b->session);

    order = order != 0 ? order : compare_i64(a->sequence, b->sequence);
    return order != 0 ? order
                      : (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);
}

static int by_processor_and_sequence(const void *left, const void *right)
{
    const struct etwas_index_entry *a = left;
    const struct etwas_index_entry *b = right;

    return a->processor != b->processor ? (int)a->processor - (int)b->processor
                                        : by_sequence(left, right);
}

static void sort(struct etwas_index *index, int (*compare)(const void *, const void *))
{
    if (index->count > 0) {
        qsort(index->entries, index->count, sizeof *index->entries, compare);
    }
}

static void check_processors(struct etwas_trace *trace, struct etwas_index *index)
{
    for (size_t i = 0; i < index->count; i++) {
        const struct etwas_index_entry *entry = &index->entries[i];

        if (i > 0 && entry->processor == index->entries[i - 1].processor) {
            continue;
        }
        index->processors++;
        if (entry->processor >= trace->log.fields.start.number_of_processors) {
            etwas_trace_report(trace, ETWAS_DAMAGE_PROCESSOR, entry->file_offset, 0);
        }
    }
}

bool etwas_index_can_seek(const struct etwas_trace *trace, const struct etwas_index *index)
{
    if (!trace->log.own || trace->log.fields.clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        return false;
    }
    for (size_t i = 0; i < index->count; i++) {
        if (index->entries[i].session != 0) {
            return false;
        }
    }
    return true;
}

uint32_t etwas_index_build(struct etwas_trace *trace, struct etwas_index *index,
                           struct etwas_index_file *file)
{
    uint64_t first = trace->log.buffer.buffer_bytes;
    uint32_t code;

    *index = (struct etwas_index){
        .looked_for_knots = trace->log.knots_at != 0 && (!trace->timeline_complete ||
                                                         trace->log.fields.start.end_filetime == 0),
        .file = file,
    };
    etwas_trace_count(&trace->information.buffers, 1);
    etwas_trace_count(&trace->information.uncompressed_bytes, first);
    if (index->looked_for_knots && !etwas_knots_add_first(trace, &index->knots)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = trace->log.uniform ? walk_uniform(trace, index, first) : walk_chain(trace, index, first);
    index->file = NULL;
    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* In a circular file what is older may stand behind what is newer. */
    if ((trace->log.fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) == 0 &&
        !etwas_index_find_sessions(trace, index)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    sort(index, by_sequence);
    etwas_index_check_missing(trace, index);
    sort(index, by_processor_and_sequence);
    check_processors(trace, index);
    return ERROR_SUCCESS;
}

void etwas_index_free(struct etwas_index *index)
{
    free(index->entries);
    free(index->knots.knots);
    *index = (struct etwas_index){0};
}
