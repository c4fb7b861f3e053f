/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_audit.h"

#include <errno.h>
#include <stdlib.h>

#include "file/log_file_internal.h"
#include "platform/file.h"

enum {
    SECTOR_BYTES = 512
};

/*
 * Hashes one word of each sector, and the last word, because a disk loses whole sectors. A sum over
 * all bytes would cost as much as the write.
 */
static uint32_t audit_fingerprint(const uint8_t *data, uint32_t bytes)
{
    uint64_t sum = bytes;
    uint64_t word;

    for (uint32_t at = 0; at + sizeof word <= bytes; at += SECTOR_BYTES) {
        memcpy(&word, data + at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 29;
    }
    if (bytes >= sizeof word) {
        memcpy(&word, data + bytes - sizeof word, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(sum >> 32);
}

static struct etwas_log_audit_entry *audit_entry_at(struct etwas_log_audit *audit, uint64_t number)
{
    return &audit->entries[number % ETWAS_LOG_AUDIT_BUFFERS];
}

void etwas_log_audit_begin(struct etwas_log_file *file)
{
    /* Memory that was never touched costs address space only. */
    file->audit.entries = malloc(ETWAS_LOG_AUDIT_BUFFERS * sizeof *file->audit.entries);
}

void etwas_log_audit_track(struct etwas_log_file *file, const struct etwas_drained *buffer,
                           const uint8_t *data, uint32_t data_bytes)
{
    struct etwas_log_audit *audit = &file->audit;

    if (audit->entries == NULL) {
        return;
    }
    *audit_entry_at(audit, audit->tracked) = (struct etwas_log_audit_entry){
        .time_stamp = buffer->time_stamp,
        .number = file->cursor.written + 1,
        .position = etwas_log_next(file),
        .bytes = etwas_log_is_packed(file) ? ETWAS_ETL_BUFFER_HEADER_BYTES + data_bytes
                                           : file->buffer_bytes,
        .records = buffer->records,
        .fingerprint = audit_fingerprint(data, data_bytes),
        .processor = (uint16_t)buffer->processor,
    };
    audit->tracked++;
}

void etwas_log_audit_mark_durable(struct etwas_log_file *file)
{
    file->audit.durable = file->audit.tracked;
}

void etwas_log_audit_end(struct etwas_log_file *file)
{
    free(file->audit.entries);
    file->audit = (struct etwas_log_audit){0};
}

/*
 * Whether a buffer is missing for certain: one that the system refuses to read may be there. The
 * header's number and flags may have changed since, the data have not.
 */
static bool audit_is_missing(const struct etwas_log_file *file,
                             const struct etwas_log_audit_entry *tracked)
{
    struct etwas_etl_buffer_header header;
    uint32_t end;

    etwas_file_drop_cached(file->descriptor, tracked->position, tracked->bytes);
    if (etwas_file_read(file->descriptor, file->scratch, tracked->bytes, tracked->position) !=
        tracked->bytes) {
        return errno == 0;
    }
    memcpy(&header, file->scratch, sizeof header);
    end = (header.flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0 ? tracked->bytes : header.offset;
    return header.buffer_bytes != tracked->bytes || header.time_stamp != tracked->time_stamp ||
           end < sizeof header || end > tracked->bytes ||
           audit_fingerprint(file->scratch + sizeof header, end - (uint32_t)sizeof header) !=
               tracked->fingerprint;
}

/*
 * Marks the entry as unused: with zeroes in reserved space at the end, elsewhere with an empty
 * buffer.
 */
static void audit_clear_entry(struct etwas_log_file *file,
                              const struct etwas_log_audit_entry *tracked, bool cut)
{
    if (cut) {
        memset(file->scratch, 0, tracked->bytes);
    } else {
        etwas_log_make_empty(file, tracked->bytes, tracked->number - file->numbered_before,
                             tracked->time_stamp, tracked->processor);
    }
    /* If this is refused too, the reader finds a torn buffer, and reports it. */
    (void)etwas_log_patch(file->descriptor, file->scratch, tracked->bytes, tracked->position);
}

static void audit_count_lost(struct etwas_log_file *file, struct etwas_log_audit_entry *tracked,
                             struct etwas_log_lost *lost)
{
    /* Whether no existing buffer follows it. */
    bool at_end =
        !etwas_log_cursor_replaces(&file->cursor) && tracked->number == file->cursor.written;

    /* A buffer without events holds clock snapshots, or event metadata. */
    if (tracked->records == 0) {
        etwas_log_metadata_forget(file);
    }
    lost->buffers += tracked->records != 0;
    lost->records += tracked->records;
    tracked->lost = true;
    (void)etwas_log_cursor_clear(&file->cursor, (uint32_t)(tracked->position / file->buffer_bytes));
    if (at_end) {
        lost->cut++;
        file->cursor.written--;
        file->audit.tracked--;
    }
    if (at_end && etwas_log_is_packed(file)) {
        etwas_log_pack_set_end(file, tracked->position, 0);
    }
    if (!at_end || file->has_space) {
        audit_clear_entry(file, tracked, at_end);
    }
}

/* Whether a circular file has written another buffer to its entry since. */
static bool audit_is_replaced(const struct etwas_log_file *file,
                              const struct etwas_log_audit_entry *tracked)
{
    return file->cursor.records != NULL &&
           file->cursor.written - tracked->number >= file->cursor.limit;
}

static uint64_t audit_first_entry(const struct etwas_log_audit *audit)
{
    return audit->tracked - audit->durable > ETWAS_LOG_AUDIT_BUFFERS
               ? audit->tracked - ETWAS_LOG_AUDIT_BUFFERS
               : audit->durable;
}

static void audit_truncate(struct etwas_log_file *file)
{
    uint64_t end = etwas_log_end(file);

    if (!file->has_space) {
        (void)etwas_file_truncate(file->descriptor, end);
        etwas_direct_write_truncated(&file->direct, end);
    }
    if (file->dropped_bytes > end) {
        file->dropped_bytes = end;
    }
}

struct etwas_log_lost etwas_log_audit(struct etwas_log_file *file)
{
    struct etwas_log_lost lost = {0};
    uint64_t first = audit_first_entry(&file->audit);
    bool missing = false;
    int error;

    if (file->audit.entries == NULL) {
        return lost;
    }
    for (uint64_t number = file->audit.tracked; number > first; number--) {
        struct etwas_log_audit_entry *tracked = audit_entry_at(&file->audit, number - 1);

        if (!tracked->lost && !audit_is_replaced(file, tracked) &&
            audit_is_missing(file, tracked)) {
            audit_count_lost(file, tracked, &lost);
            missing = true;
        }
    }
    if (missing) {
        audit_truncate(file);
    }
    (void)etwas_log_write_header(file, &error);
    return lost;
}
