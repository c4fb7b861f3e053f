/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/index.h"

#include <stdlib.h>
#include <string.h>

#include "reader/buffer_walk.h"
#include "reader/clock_snapshots.h"
#include "reader/damage.h"
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
    /*
     * The later of two ends is taken, because the records show where they stop; but not in
     * compressed buffers, where the end is also the size to decompress to.
     */
    if (!offset_valid || (saved_valid && !compressed && header->saved_offset > header->offset)) {
        entry->data_end = header->saved_offset;
    }
    return true;
}

/* Reads a number of the buffer's header; returns `absent` if the file does not have it. */
static int64_t index_read_number(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                                 size_t field, int64_t absent)
{
    int64_t number;

    return etwas_trace_file_read(trace, entry->file_offset + field, &number, sizeof number) ==
                   sizeof number
               ? number
               : absent;
}

int64_t etwas_index_entry_collected(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry)
{
    return index_read_number(trace, entry, offsetof(struct etwas_etl_buffer_header, time_stamp),
                             INT64_MAX);
}

bool etwas_index_entry_is_replaced(struct etwas_trace *trace, const struct etwas_index_entry *entry)
{
    return index_read_number(trace, entry,
                             offsetof(struct etwas_etl_buffer_header, sequence_number),
                             entry->sequence) != entry->sequence;
}

bool etwas_index_entry_is_confirmed(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry)
{
    struct etwas_etl_buffer_header header;
    struct etwas_index_entry found;
    bool doubtful;

    return etwas_trace_file_read(trace, entry->file_offset, &header, sizeof header) ==
               sizeof header &&
           etwas_index_entry_check(&header, entry->file_offset,
                                   trace->file_bytes - entry->file_offset,
                                   trace->log.session_buffer_bytes, &found, &doubtful) &&
           found.sequence == entry->sequence && found.collected == entry->collected &&
           found.buffer_bytes == entry->buffer_bytes && found.data_end == entry->data_end &&
           found.processor == entry->processor && found.compressed == entry->compressed;
}

/* ---- the buffers ----------------------------------------------------------------------------- */

static bool index_append(struct etwas_index *index, const struct etwas_index_entry *entry)
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

/* Adds all buffers of the file, and the clock snapshots in them. Returns false without memory. */
static bool index_collect_buffers(struct etwas_index *index, struct etwas_buffer_walk *walk)
{
    struct etwas_index_entry entry;

    while (etwas_buffer_walk_next(walk, &entry)) {
        if (walk->is_doubtful) {
            etwas_trace_report(walk->trace, ETWAS_DAMAGE_BUFFER_HEADER, entry.file_offset, 0);
        }
        if (!index_append(index, &entry) ||
            (walk->has_record &&
             !etwas_clock_snapshots_add_buffer(walk->trace, &index->snapshots, entry.file_offset,
                                               &walk->beginning))) {
            return false;
        }
    }
    index->unusable = walk->unusable;
    return true;
}

/* ---- the order ------------------------------------------------------------------------------- */

static int index_compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int index_compare_by_sequence(const void *left, const void *right)
{
    const struct etwas_index_entry *a = left;
    const struct etwas_index_entry *b = right;
    int order = (a->session > b->session) - (a->session < b->session);

    order = order != 0 ? order : index_compare_numbers(a->sequence, b->sequence);
    return order != 0 ? order
                      : (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);
}

static int index_compare_by_processor(const void *left, const void *right)
{
    const struct etwas_index_entry *a = left;
    const struct etwas_index_entry *b = right;

    return a->processor != b->processor ? (int)a->processor - (int)b->processor
                                        : index_compare_by_sequence(left, right);
}

static void index_sort(struct etwas_index *index, int (*compare)(const void *, const void *))
{
    if (index->count > 0) {
        qsort(index->entries, index->count, sizeof *index->entries, compare);
    }
}

static void index_check_processors(struct etwas_trace *trace, struct etwas_index *index)
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
    struct etwas_buffer_walk walk;
    int64_t running_from;

    *index = (struct etwas_index){
        .has_searched_clock_snapshots =
            trace->log.clock_snapshots_at != 0 &&
            (!trace->timeline_complete || trace->log.fields.start.end_filetime == 0),
    };
    etwas_buffer_walk_begin(&walk, trace);
    walk.file = file;
    walk.reads_records = index->has_searched_clock_snapshots;
    etwas_trace_count(&trace->information.buffers, 1);
    etwas_trace_count(&trace->information.uncompressed_bytes, trace->log.buffer.buffer_bytes);
    if ((index->has_searched_clock_snapshots &&
         !etwas_clock_snapshots_add_first_buffer(trace, &index->snapshots, &running_from)) ||
        !index_collect_buffers(index, &walk)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    /* In a circular file an older buffer may lie behind a newer one. */
    if ((trace->log.fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) == 0 &&
        !etwas_index_find_sessions(trace, index)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    index_sort(index, index_compare_by_sequence);
    etwas_index_check_missing(trace, index);
    index_sort(index, index_compare_by_processor);
    index_check_processors(trace, index);
    return ERROR_SUCCESS;
}

void etwas_index_free(struct etwas_index *index)
{
    free(index->entries);
    free(index->snapshots.snapshots);
    *index = (struct etwas_index){0};
}
