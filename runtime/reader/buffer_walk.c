/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/buffer_walk.h"

#include <string.h>

#include "reader/damage.h"
#include "reader/index_file.h"
#include "reader/trace.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES
#define NONE UINT64_MAX

void etwas_buffer_walk_begin(struct etwas_buffer_walk *walk, struct etwas_trace *trace)
{
    *walk = (struct etwas_buffer_walk){
        .trace = trace,
        .offset = trace->log.buffer.buffer_bytes,
        .until = trace->file_bytes,
        .hole = NONE,
    };
}

/* ---- what is reported ------------------------------------------------------------------------ */

/* Reports a buffer whose header cannot be used, or a place of the file where none was found. */
static void walk_report_skipped(struct etwas_buffer_walk *walk, etwas_damage_kind kind,
                                uint64_t offset, uint64_t bytes)
{
    struct etwas_trace *trace = walk->trace;
    uint64_t stride = trace->log.buffer.buffer_bytes;
    uint64_t buffers = trace->log.uniform ? (bytes + stride - 1) / stride : 1;

    etwas_trace_report(trace, kind, offset, bytes);
    etwas_trace_count(&trace->information.buffers_damaged, buffers);
    walk->unusable += buffers;
}

/* Reports the hole, if there is one, because a buffer follows it. */
static void walk_report_hole(struct etwas_buffer_walk *walk)
{
    if (walk->hole != NONE) {
        walk_report_skipped(walk, ETWAS_DAMAGE_BUFFER_HEADER, walk->hole,
                            walk->offset - walk->hole);
        walk->hole = NONE;
    }
}

static void walk_begin_hole(struct etwas_buffer_walk *walk)
{
    if (walk->hole == NONE) {
        walk->hole = walk->offset;
    }
}

/* Reports that the file has less than a header at the walk's position; `bytes` are skipped. */
static void walk_report_short(struct etwas_buffer_walk *walk, size_t got, uint64_t left,
                              uint64_t bytes)
{
    if (got < left) {
        walk_report_skipped(walk, ETWAS_DAMAGE_READ, walk->offset, bytes);
    } else if (!walk->grows && !etwas_trace_may_end_anywhere(walk->trace)) {
        walk_report_skipped(walk, ETWAS_DAMAGE_TRUNCATED, walk->offset, bytes);
    }
}

/* ---- a buffer -------------------------------------------------------------------------------- */

/*
 * Reads the first `wanted` bytes of the buffer at the walk's position, or fewer if the file ends.
 */
static size_t walk_read_beginning(struct etwas_buffer_walk *walk, size_t wanted)
{
    struct etwas_buffer_beginning *beginning = &walk->beginning;
    struct etwas_index_file *file = walk->file;
    size_t got;

    if (file != NULL && !file->writes && etwas_index_file_find(file, walk->offset, beginning)) {
        got = wanted;
    } else if (file == NULL || !file->writes) {
        got = etwas_trace_file_read(walk->trace, walk->offset, beginning, wanted);
    } else {
        got = etwas_trace_file_read(walk->trace, walk->offset, beginning, sizeof *beginning);
        if (got == sizeof *beginning) {
            etwas_index_file_add(file, walk->offset, beginning);
        }
        got = got < wanted ? got : wanted;
    }
    walk->has_record = got == sizeof *beginning;
    return got;
}

static bool walk_file_is_preallocated(const struct etwas_trace *trace)
{
    return (trace->log.fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) != 0;
}

/*
 * Returns whether the buffer is complete, in a file that grows or grew. A buffer that is being
 * written into preallocated space appears from its beginning on: its last byte is still 0, and
 * nothing follows it.
 */
static bool walk_is_whole(const struct etwas_buffer_walk *walk,
                          const struct etwas_index_entry *entry)
{
    struct etwas_trace *trace = walk->trace;
    uint64_t end = entry->file_offset + entry->buffer_bytes;
    uint32_t next = 0;
    uint8_t last;

    if (entry->file_bytes < entry->buffer_bytes || !walk_file_is_preallocated(trace) ||
        entry->collected <= walk->known_until) {
        return entry->file_bytes == entry->buffer_bytes;
    }
    (void)etwas_trace_file_read(trace, end, &next, sizeof next);
    return next != 0 ||
           etwas_trace_file_read(trace, end - sizeof last, &last, sizeof last) != sizeof last ||
           last != 0;
}

enum {
    PAGE_BYTES = 4096, /* a write that a kill interrupts ends at such a boundary of the file */
};

/*
 * Shortens the entry of a buffer whose process was killed while it was written into preallocated
 * space: zeroes follow what was written. If the last page has any other byte, all of the buffer was
 * written; whether a compressed buffer ends in zeroes by itself is found when it is decoded.
 */
static void walk_cut_at_zeroes(const struct etwas_buffer_walk *walk,
                               struct etwas_index_entry *entry)
{
    const uint64_t begin = entry->file_offset + HEADER_BYTES;
    uint64_t end = entry->file_offset + entry->buffer_bytes;
    uint8_t page[PAGE_BYTES];
    uint32_t left = 0;

    while (left == 0 && end > begin) {
        const uint64_t from = (end - 1) / PAGE_BYTES * PAGE_BYTES;

        left = (uint32_t)(end - (from > begin ? from : begin));
        if (etwas_trace_file_read(walk->trace, end - left, page, left) != left) {
            return;
        }
        end -= left;
        while (left > 0 && page[left - 1] == 0) {
            left--;
        }
    }
    end += left;
    if (!entry->compressed) {
        end = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
    if (end < entry->file_offset + entry->buffer_bytes) {
        entry->file_bytes = (uint32_t)(end - entry->file_offset);
    }
}

enum found {
    FOUND_NONE,
    FOUND_BUFFER,
    FOUND_EARLIER, /* the walk continues at an earlier place */
    FOUND_END      /* the buffer there is not complete yet */
};

/*
 * Goes back to the hole, if the file grows. The file is written in order, so everything before this
 * buffer is written by now.
 */
static bool walk_goes_back(struct etwas_buffer_walk *walk)
{
    if (!walk->grows || walk->hole == NONE || walk->offset <= walk->sure) {
        return false;
    }
    walk->sure = walk->offset;
    walk->offset = walk->hole;
    walk->hole = NONE;
    return true;
}

/* Checks the header that was read. The caller reports an unusable one. */
static enum found walk_find_buffer(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry)
{
    struct etwas_trace *trace = walk->trace;

    if (!etwas_index_entry_check(&walk->beginning.header, walk->offset,
                                 trace->file_bytes - walk->offset, trace->log.session_buffer_bytes,
                                 entry, &walk->is_doubtful)) {
        return FOUND_NONE;
    }
    if (trace->log.uniform && entry->buffer_bytes != trace->log.buffer.buffer_bytes) {
        return FOUND_NONE;
    }
    if (walk->grows && !walk_is_whole(walk, entry)) {
        return FOUND_END;
    }
    if (!walk->grows && entry->file_bytes == entry->buffer_bytes &&
        etwas_trace_may_end_anywhere(trace) && !walk_is_whole(walk, entry)) {
        walk_cut_at_zeroes(walk, entry);
    }
    if (walk_goes_back(walk)) {
        return FOUND_EARLIER;
    }
    walk_report_hole(walk);
    if (entry->file_bytes == entry->buffer_bytes) {
        etwas_trace_count(&trace->information.buffers, 1);
        etwas_trace_count(&trace->information.uncompressed_bytes,
                          entry->compressed ? entry->data_end : entry->buffer_bytes);
    }
    return FOUND_BUFFER;
}

/* ---- buffers of one size --------------------------------------------------------------------- */

/* Skips preallocated space, which reads as 0. It is damage only if something follows it. */
static void walk_pass_hole(struct etwas_buffer_walk *walk)
{
    uint64_t stride = walk->trace->log.buffer.buffer_bytes;
    uint64_t data = etwas_trace_file_next_data(walk->trace, walk->offset);

    walk_begin_hole(walk);
    walk->offset = data > walk->offset + stride ? data / stride * stride : walk->offset + stride;
}

/*
 * Goes to the next buffer of a file whose buffers have one size. An unusable header costs its own
 * buffer alone.
 */
static bool walk_next_uniform(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry)
{
    uint64_t stride = walk->trace->log.buffer.buffer_bytes;
    const struct etwas_etl_buffer_header *header = &walk->beginning.header;
    size_t wanted = walk->reads_records ? sizeof walk->beginning : sizeof *header;

    while (walk->offset < walk->until) {
        size_t got = walk_read_beginning(walk, wanted);
        uint64_t left = walk->trace->file_bytes - walk->offset;
        uint64_t here = left < stride ? left : stride;
        enum found found = FOUND_NONE;

        if (got < sizeof *header) {
            walk_report_short(walk, got, left, here);
        } else if (header->buffer_bytes == 0) {
            walk_pass_hole(walk);
            continue;
        } else {
            found = walk_find_buffer(walk, entry);
            if (found == FOUND_EARLIER) {
                continue;
            }
            if (found == FOUND_NONE && walk->grows) {
                walk_begin_hole(walk);
            } else if (found == FOUND_NONE) {
                walk_report_hole(walk);
                walk_report_skipped(walk, ETWAS_DAMAGE_BUFFER_HEADER, walk->offset, here);
            }
        }
        walk->offset += stride;
        if (found != FOUND_NONE) {
            return found == FOUND_BUFFER;
        }
    }
    return false;
}

/* ---- buffers of different sizes -------------------------------------------------------------- */

/*
 * Returns whether a buffer of a compressed file may begin here. The test is stricter than a sound
 * file needs, because it is applied to every byte after a damaged header.
 */
static bool walk_looks_like_buffer(const struct etwas_trace *trace,
                                   const struct etwas_etl_buffer_header *header, uint64_t left)
{
    return header->buffer_bytes > HEADER_BYTES && header->buffer_bytes <= left &&
           header->buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           header->offset == header->saved_offset && header->offset > HEADER_BYTES &&
           header->offset <= trace->log.session_buffer_bytes && header->reference_count == 0 &&
           header->state == ETWAS_ETL_BUFFER_STATE_FLUSH && header->flags <= 0x7F &&
           header->type == ETWAS_ETL_BUFFER_GENERIC;
}

/*
 * Returns the next offset after `offset` where a buffer seems to begin; the file's end if there is
 * none.
 */
static uint64_t walk_find_next_buffer(struct etwas_trace *trace, uint64_t offset)
{
    enum {
        CHUNK_BYTES = 16384
    };
    uint8_t chunk[CHUNK_BYTES];
    struct etwas_etl_buffer_header header;

    for (offset++; offset < trace->file_bytes; offset += CHUNK_BYTES - HEADER_BYTES + 1) {
        size_t got = etwas_trace_file_read(trace, offset, chunk, sizeof chunk);

        for (size_t i = 0; i + sizeof header <= got; i++) {
            memcpy(&header, chunk + i, sizeof header);
            if (walk_looks_like_buffer(trace, &header, trace->file_bytes - offset - i)) {
                return offset + i;
            }
        }
    }
    return trace->file_bytes;
}

/*
 * Returns whether only zeroes follow: preallocated space. There may be written zeroes between the
 * last buffer and the first hole.
 */
static bool walk_is_unused(struct etwas_trace *trace, uint64_t offset)
{
    uint64_t words[512];

    while (offset < trace->file_bytes) {
        uint64_t data = etwas_trace_file_next_data(trace, offset);
        size_t got;

        if (data > offset) {
            offset = data;
            continue;
        }
        memset(words, 0, sizeof words);
        got = etwas_trace_file_read(trace, offset, words, sizeof words);
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

/*
 * Returns whether the file ends in a part of a header, in preallocated space. That means that its
 * process was killed.
 */
static bool walk_ends_in_header(const struct etwas_buffer_walk *walk)
{
    struct etwas_trace *trace = walk->trace;

    return walk_file_is_preallocated(trace) && etwas_trace_may_end_anywhere(trace) &&
           walk_is_unused(trace, walk->offset + HEADER_BYTES);
}

/*
 * Goes to the next buffer of a file whose buffers differ in size: each one's header says where the
 * next begins.
 */
static bool walk_next_in_chain(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry)
{
    struct etwas_trace *trace = walk->trace;
    const struct etwas_etl_buffer_header *header = &walk->beginning.header;

    while (walk->offset < walk->until) {
        uint64_t left = trace->file_bytes - walk->offset;
        size_t got = walk_read_beginning(walk, sizeof *header);
        enum found found;
        uint64_t next;

        if (got < sizeof *header) {
            walk_report_short(walk, got, left, left);
            walk->offset = walk->until;
            return false;
        }
        if ((header->buffer_bytes == 0 && walk_is_unused(trace, walk->offset)) ||
            walk_ends_in_header(walk)) {
            walk->offset = walk->until;
            return false;
        }
        found = walk_find_buffer(walk, entry);
        if (found == FOUND_EARLIER) {
            continue;
        }
        if (found == FOUND_BUFFER) {
            walk->offset += header->buffer_bytes;
            return true;
        }
        if (found == FOUND_END) {
            walk->offset = walk->until;
            return false;
        }
        next = walk_find_next_buffer(trace, walk->offset);
        if (walk->grows) {
            walk_begin_hole(walk);
        } else {
            walk_report_skipped(walk, ETWAS_DAMAGE_BUFFER_HEADER, walk->offset,
                                next - walk->offset);
        }
        walk->offset = next;
    }
    return false;
}

bool etwas_buffer_walk_next(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry)
{
    return walk->trace->log.uniform ? walk_next_uniform(walk, entry)
                                    : walk_next_in_chain(walk, entry);
}
