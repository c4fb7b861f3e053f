/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* FILE.index: written from the buffer walk, and read instead of it. */
#include "reader/index_file.h"

#include <ck_pr.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/cancel.h"
#include "platform/file.h"
#include "reader/damage.h"
#include "reader/index.h"
#include "reader/trace.h"
#include "reader/trace_table.h"

#define RECORD_BYTES sizeof(struct etwas_index_file_record)
#define CHECKED_HEADER_BYTES offsetof(struct etwas_index_file_header, checksum)

uint64_t etwas_index_file_checksum(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, (const uint8_t *)bytes + at,
               size - at < sizeof word ? size - at : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    return sum;
}

/* Computes the checksum of buffer 0, which has the session's name, start, end and counts. */
static bool index_file_checksum_of_first_buffer(struct etwas_trace *trace, uint64_t *sum)
{
    uint8_t bytes[4096];
    uint32_t left = trace->log.buffer.file_bytes;

    *sum = 0;
    for (uint64_t at = 0; left > 0;) {
        size_t wanted = left < sizeof bytes ? left : sizeof bytes;

        if (etwas_trace_file_read(trace, at, bytes, wanted) != wanted) {
            return false;
        }
        *sum = etwas_index_file_checksum(*sum, bytes, wanted);
        at += wanted;
        left -= (uint32_t)wanted;
    }
    return true;
}

/*
 * Fills the header of an index of this file as it is now. Returns false if the file cannot be read.
 */
static bool index_file_describe_trace(struct etwas_trace *trace,
                                      struct etwas_index_file_header *header)
{
    struct stat status;

    if (fstat(trace->descriptor, &status) != 0) {
        return false;
    }
    *header = (struct etwas_index_file_header){
        .version = ETWAS_INDEX_FILE_VERSION,
        .record_bytes = RECORD_BYTES,
        .file_bytes = (uint64_t)status.st_size,
        .modified_ns = (uint64_t)status.st_mtim.tv_sec * UINT64_C(1000000000) +
                       (uint64_t)status.st_mtim.tv_nsec,
    };
    memcpy(header->magic, ETWAS_INDEX_FILE_MAGIC, sizeof header->magic);
    return index_file_checksum_of_first_buffer(trace, &header->first_checksum);
}

static uint64_t index_file_record_position(uint64_t record)
{
    return sizeof(struct etwas_index_file_header) + record * RECORD_BYTES;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the records behind those of the chunk; none at the end or if the system refuses. */
static void index_file_next_chunk(struct etwas_index_file *file)
{
    uint64_t left;
    size_t wanted;

    file->at += file->held;
    left = file->header.count - file->at;
    wanted = left < ETWAS_INDEX_FILE_CHUNK ? (size_t)left : ETWAS_INDEX_FILE_CHUNK;
    file->held = (uint32_t)(etwas_file_read(file->descriptor, file->chunk, wanted * RECORD_BYTES,
                                            index_file_record_position(file->at)) /
                            RECORD_BYTES);
    file->passed = 0;
}

static void index_file_rewind_to_first(struct etwas_index_file *file)
{
    file->at = 0;
    file->held = 0;
    file->passed = 0;
}

static bool index_file_is_sound(struct etwas_index_file *file)
{
    uint64_t sum = 0;

    for (index_file_next_chunk(file); file->held > 0; index_file_next_chunk(file)) {
        sum = etwas_index_file_checksum(sum, file->chunk, file->held * RECORD_BYTES);
    }
    sum ^= etwas_index_file_checksum(0, &file->header, CHECKED_HEADER_BYTES);
    return file->at == file->header.count && sum == file->header.checksum;
}

/*
 * Returns whether the index file belongs to the owner of the trace file, to the reader or to root.
 * The writer of an index could hide buffers from its readers.
 */
static bool index_file_is_owned_by_writer(const struct etwas_index_file *file,
                                          const struct etwas_trace *trace)
{
    struct stat index;
    struct stat traced;

    return fstat(file->descriptor, &index) == 0 && fstat(trace->descriptor, &traced) == 0 &&
           (index.st_uid == traced.st_uid || index.st_uid == geteuid() || index.st_uid == 0);
}

static bool index_file_fits_trace(struct etwas_index_file *file, struct etwas_trace *trace,
                                  uint64_t bytes)
{
    struct etwas_index_file_header expected;

    if (!index_file_is_owned_by_writer(file, trace) ||
        !index_file_describe_trace(trace, &expected) ||
        etwas_file_read(file->descriptor, &file->header, sizeof file->header, 0) !=
            sizeof file->header) {
        return false;
    }
    return memcmp(&file->header, &expected, offsetof(struct etwas_index_file_header, count)) == 0 &&
           bytes % RECORD_BYTES == sizeof file->header &&
           file->header.count == bytes / RECORD_BYTES && index_file_is_sound(file);
}

/*
 * Opens the index file. Returns false if there is none, or if it does not fit the file as it is
 * now; *ignored is set then.
 */
static bool index_file_open(struct etwas_index_file *file, struct etwas_trace *trace, bool *ignored)
{
    uint64_t bytes;
    uint32_t code = etwas_trace_file_open(trace->index_path, &file->descriptor, &bytes);

    *ignored = code != ERROR_SUCCESS && code != ERROR_FILE_NOT_FOUND;
    if (code != ERROR_SUCCESS) {
        return false;
    }
    file->writes = false;
    index_file_rewind_to_first(file);
    if (!index_file_fits_trace(file, trace, bytes)) {
        (void)close(file->descriptor);
        *ignored = true;
        return false;
    }
    index_file_rewind_to_first(file);
    return true;
}

bool etwas_index_file_find(struct etwas_index_file *file, uint64_t offset,
                           struct etwas_buffer_beginning *beginning)
{
    for (;;) {
        if (file->passed == file->held) {
            index_file_next_chunk(file);
        }
        if (file->held == 0 || file->chunk[file->passed].offset > offset) {
            return false;
        }
        if (file->chunk[file->passed].offset == offset) {
            *beginning = file->chunk[file->passed].beginning;
            return true;
        }
        file->passed++;
    }
}

uint32_t etwas_index_file_build(struct etwas_trace *trace, struct etwas_index *index, bool part)
{
    ETWAS_UNCANCELLED_SCOPE; /* a cancelled thread would leave the file open */
    struct etwas_index_file file;
    bool ignored = false;
    uint32_t known = ETWAS_INDEX_FILE_NONE;
    uint32_t code;

    trace->by_index_file = part && trace->log.own && trace->log.fields.start.end_filetime != 0 &&
                           index_file_open(&file, trace, &ignored);
    if (trace->by_index_file) {
        known = ETWAS_INDEX_FILE_USED;
    } else if (ignored) {
        known = ETWAS_INDEX_FILE_IGNORED;
    }
    ck_pr_store_32(&trace->information.index_file, known);
    code = etwas_index_build(trace, index, trace->by_index_file ? &file : NULL);
    if (trace->by_index_file) {
        (void)close(file.descriptor);
    }
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void index_file_write_at(struct etwas_index_file *file, void *bytes, size_t size,
                                uint64_t at)
{
    struct iovec piece = {bytes, size};

    if (file->error == 0) {
        (void)etwas_file_write(file->descriptor, &piece, 1, at, NULL, &file->error);
    }
}

static void index_file_write_chunk(struct etwas_index_file *file)
{
    file->header.checksum =
        etwas_index_file_checksum(file->header.checksum, file->chunk, file->held * RECORD_BYTES);
    index_file_write_at(file, file->chunk, file->held * RECORD_BYTES,
                        index_file_record_position(file->at));
    file->at += file->held;
    file->held = 0;
}

bool etwas_index_file_begin(struct etwas_index_file *file, struct etwas_trace *trace,
                            int descriptor)
{
    file->descriptor = descriptor;
    file->writes = true;
    file->error = 0;
    index_file_rewind_to_first(file);
    return index_file_describe_trace(trace, &file->header);
}

void etwas_index_file_add(struct etwas_index_file *file, uint64_t offset,
                          const struct etwas_buffer_beginning *beginning)
{
    if (file->held == ETWAS_INDEX_FILE_CHUNK) {
        index_file_write_chunk(file);
    }
    file->chunk[file->held++] = (struct etwas_index_file_record){offset, *beginning};
}

uint32_t etwas_index_file_end(struct etwas_index_file *file)
{
    index_file_write_chunk(file);
    file->header.count = file->at;
    file->header.checksum ^= etwas_index_file_checksum(0, &file->header, CHECKED_HEADER_BYTES);
    index_file_write_at(file, &file->header, sizeof file->header, 0);
    return file->error == 0 ? ERROR_SUCCESS : etwas_file_write_error(file->error);
}

/* ---- etwas_trace_write_index ----------------------------------------------------------------- */

static uint32_t index_write(struct etwas_trace *trace, int descriptor)
{
    struct etwas_index_file file;
    struct etwas_index index;
    uint32_t code;

    if (trace->session_name != NULL || trace->log.fields.start.end_filetime == 0) {
        return ERROR_NOT_SUPPORTED;
    }
    etwas_trace_file_measure(trace);
    if (!etwas_index_file_begin(&file, trace, descriptor)) {
        return ERROR_FILE_CORRUPT;
    }
    trace->quiet = true; /* damage is reported when the events are read */
    etwas_trace_begin_information(trace);
    code = etwas_index_build(trace, &index, &file);
    trace->quiet = false;
    if (code == ERROR_SUCCESS) {
        code = etwas_index_can_seek(trace, &index) && !trace->information.unfinished
                   ? etwas_index_file_end(&file)
                   : ERROR_NOT_SUPPORTED;
    }
    etwas_index_free(&index);
    return code;
}

uint32_t etwas_trace_write_index(etwas_trace_handle trace, int descriptor)
{
    ETWAS_UNCANCELLED_SCOPE;
    struct etwas_trace *opened;
    uint32_t code = etwas_trace_table_acquire(&trace, 1, &opened);

    if (code == ERROR_SUCCESS) {
        code = index_write(opened, descriptor);
        etwas_trace_table_release(&trace, 1);
    }
    return code;
}
