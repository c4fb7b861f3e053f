/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a log file has of a session's buffers: the input is one, in two halves where its last byte
 * is odd; each buffer that is in it is asked for, alone and with the next of its processor behind
 * it. The answers are those of a search that looks at every buffer of the file, one after the
 * other. The mutator is etl_mutate.c.
 */
#include <etwas/evntrace.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "etl/layout.h"
#include "etl/xpress.h"
#include "etl_parts.h"
#include "recover/own_logs.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    MOST_BUFFERS = 64,
    MOST_BYTES = 65536,
    FILES = 2,
    BEGINNING = 32, /* of a buffer's records must come of so much of it, if it is compressed */
    PACKED_BEGINNING = 64,
};

struct file {
    const uint8_t *bytes;
    size_t size;
    int descriptor;
};

/* A buffer as it lies in one of the files. */
struct entry {
    const uint8_t *records;
    uint32_t bytes;
    uint32_t processor;
    bool is_used; /* or cannot be had */
};

struct entries {
    struct entry list[MOST_BUFFERS];
    uint32_t count;
    uint8_t unpacked[MOST_BUFFERS][MOST_BYTES];
};

static void open_file(struct file *file, const uint8_t *bytes, size_t size)
{
    *file = (struct file){bytes, size, memfd_create("log", MFD_CLOEXEC)};
    MUST(file->descriptor >= 0 && write(file->descriptor, bytes, size) == (ssize_t)size);
}

/* False: there are more than are looked for. */
static bool list(struct entries *entries, const struct file *file, uint32_t buffer_bytes)
{
    for (size_t at = buffer_bytes; at < file->size && file->size - at >= buffer_bytes;
         at += buffer_bytes) {
        struct etwas_etl_buffer_header header;

        memcpy(&header, file->bytes + at, sizeof header);
        if (header.buffer_bytes != buffer_bytes || header.saved_offset > buffer_bytes ||
            header.saved_offset <= HEADER_BYTES || header.saved_offset % 8 != 0) {
            continue;
        }
        if (entries->count == MOST_BUFFERS) {
            return false;
        }
        entries->list[entries->count++] =
            (struct entry){.records = file->bytes + at + HEADER_BYTES,
                           .bytes = header.saved_offset - HEADER_BYTES,
                           .processor = etwas_etl_buffer_processor(&header)};
    }
    return true;
}

static bool is_packed_file(const struct file *file)
{
    struct etwas_etl_log_header64 log;

    if (file->size < ETWAS_ETL_LOG_HEADER_FILE_OFFSET + sizeof log) {
        return false;
    }
    memcpy(&log, file->bytes + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, sizeof log);
    return (log.start.log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0;
}

/* Adds one of a compressed file. False: there are more than are looked for. */
static bool add_packed(struct entries *entries, const uint8_t *bytes,
                       const struct etwas_etl_buffer_header *header)
{
    uint32_t packed = header->buffer_bytes - HEADER_BYTES;
    struct entry entry = {.records = bytes + HEADER_BYTES,
                          .bytes = header->saved_offset - HEADER_BYTES,
                          .processor = etwas_etl_buffer_processor(header)};
    uint32_t least = entry.bytes < BEGINNING ? entry.bytes : BEGINNING;
    uint8_t beginning[BEGINNING];
    bool exact;

    if ((header->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0 &&
        etwas_xpress_decode(bytes + HEADER_BYTES,
                            packed < PACKED_BEGINNING ? packed : PACKED_BEGINNING, beginning, least,
                            &exact) < least) {
        return true;
    }
    if (entries->count == MOST_BUFFERS) {
        return false;
    }
    if ((header->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0) {
        uint8_t *unpacked = entries->unpacked[entries->count];

        entry.is_used =
            etwas_xpress_decode(entry.records, packed, unpacked, entry.bytes, &exact) < entry.bytes;
        entry.records = unpacked;
    }
    entries->list[entries->count++] = entry;
    return true;
}

static bool list_packed(struct entries *entries, const struct file *file, uint32_t buffer_bytes)
{
    size_t at = buffer_bytes;

    while (at < file->size && file->size - at >= HEADER_BYTES) {
        struct etwas_etl_buffer_header header;

        memcpy(&header, file->bytes + at, sizeof header);
        if (header.buffer_bytes < HEADER_BYTES || header.buffer_bytes > file->size - at) {
            return true;
        }
        if (header.buffer_bytes <= buffer_bytes &&
            header.saved_offset <= ((header.flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0
                                        ? buffer_bytes
                                        : header.buffer_bytes) &&

            header.saved_offset > HEADER_BYTES && header.saved_offset % 8 == 0 &&
            !add_packed(entries, file->bytes + at, &header)) {
            return false;
        }
        at += header.buffer_bytes;
    }
    return true;
}

static bool list_any(struct entries *entries, const struct file *file, uint32_t buffer_bytes)
{
    return is_packed_file(file) ? list_packed(entries, file, buffer_bytes)
                                : list(entries, file, buffer_bytes);
}

/* The longest that is not used yet, again and again. */
static uint32_t expected(struct entries *entries, uint32_t processor, const uint8_t *records,
                         uint32_t bytes)
{
    uint32_t has = 0;

    for (;;) {
        struct entry *longest = NULL;

        for (uint32_t index = 0; index < entries->count; index++) {
            struct entry *entry = &entries->list[index];

            if (!entry->is_used && entry->processor == processor && entry->bytes <= bytes - has &&
                memcmp(entry->records, records + has, entry->bytes) == 0 &&
                (longest == NULL || entry->bytes > longest->bytes)) {
                longest = entry;
            }
        }
        if (longest == NULL) {
            return has;
        }
        longest->is_used = true;
        has += longest->bytes;
    }
}

static void ask(struct etwas_log_tail *tail, struct entries *entries)
{
    static uint8_t records[2 * MOST_BYTES];
    uint32_t count = entries->count;

    for (uint32_t index = 0; index < count; index++) {
        const struct entry *first = &entries->list[index];
        const struct entry *second = &entries->list[(index + 1) % count];
        uint32_t bytes = first->bytes;

        memcpy(records, first->records, bytes);
        if (index % 2 == 0) {
            memcpy(records + bytes, second->records, second->bytes);
            bytes += second->bytes;
        }
        MUST(etwas_log_tail_has(tail, first->processor, records, bytes) ==
             expected(entries, first->processor, records, bytes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct entries entries;
    struct file files[FILES];
    uint64_t said = size < 4 ? 0 : etl_number(data, 4);
    uint32_t buffer_bytes =
        said >= 128 && said <= MOST_BYTES && said % 8 == 0 ? (uint32_t)said : 1024;
    size_t half = size > 0 && data[size - 1] % 2 != 0 ? size / 2 & ~(size_t)7 : size;
    struct etwas_log_tail *tail;

    open_file(&files[0], data, half);
    open_file(&files[1], data + half, size - half);
    entries.count = 0;
    tail =
        etwas_log_tail_open((const int[]){files[0].descriptor, files[1].descriptor}, buffer_bytes);
    if (list_any(&entries, &files[0], buffer_bytes) &&
        list_any(&entries, &files[1], buffer_bytes)) {
        MUST((tail == NULL) == (entries.count == 0));
        ask(tail, &entries);
    }
    etwas_log_tail_close(tail);
    (void)close(files[0].descriptor);
    (void)close(files[1].descriptor);
    return 0;
}
