/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_file_internal.h"

#include <etwas/winerror.h>
#include <stdlib.h>

#include "etl/xpress.h"
#include "platform/file.h"
#include "platform/testpoint.h"

enum {
    TOGETHER_BYTES = 256 << 10, /* how much is written together, or one buffer */
};

bool etwas_log_pack_begin(struct etwas_log_file *file, uint64_t limit_bytes)
{
    struct etwas_log_pack *pack = &file->pack;

    pack->limit_bytes = limit_bytes;
    pack->packed_bytes = file->buffer_bytes > TOGETHER_BYTES ? file->buffer_bytes : TOGETHER_BYTES;
    pack->packed = malloc(pack->packed_bytes);
    pack->memory = malloc(ETWAS_XPRESS_MEMORY_BYTES);
    etwas_log_pack_set_end(file, file->buffer_bytes, 0);
    return pack->packed != NULL && pack->memory != NULL;
}

void etwas_log_pack_free(struct etwas_log_file *file)
{
    free(file->pack.packed);
    free(file->pack.memory);
    file->pack.packed = NULL;
    file->pack.memory = NULL;
}

/* The cursor's limit is how many buffers fit in any case. */
void etwas_log_pack_set_end(struct etwas_log_file *file, uint64_t end, uint64_t last)
{
    struct etwas_log_pack *pack = &file->pack;
    uint64_t left = pack->limit_bytes > end ? pack->limit_bytes - end : 0;
    uint64_t limit = file->cursor.written + left / file->buffer_bytes;

    pack->end = end;
    pack->last = last;
    if (pack->limit_bytes != 0) {
        file->cursor.limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX - 1;
    }
}

/* Compresses a buffer to `to`, where there is room for one of the session's. Returns its size. */
static uint32_t pack_buffer(const struct etwas_log_file *file, const struct etwas_drained *buffer,
                            uint64_t number, uint8_t *to)
{
    struct etwas_etl_buffer_header header = etwas_log_buffer_header(
        0, file->logger_id, buffer,
        buffer->sequence_number != 0 ? buffer->sequence_number : (int64_t)number);
    uint32_t bytes = etwas_xpress_encode(buffer->data, buffer->data_bytes, to + sizeof header,
                                         buffer->data_bytes, file->pack.memory);

    if (bytes != 0) {
        header.flags |= ETWAS_ETL_BUFFER_COMPRESSED;
    } else {
        bytes = buffer->data_bytes;
        memcpy(to + sizeof header, buffer->data, bytes);
    }
    header.buffer_bytes = (uint32_t)sizeof header + bytes;
    memcpy(to, &header, sizeof header);
    return header.buffer_bytes;
}

/* Compresses the first buffers, at least one. Returns how many. */
static uint32_t pack_buffers(struct etwas_log_file *file, const struct etwas_drained *buffers,
                             uint32_t count, uint32_t *sizes)
{
    uint64_t number = file->cursor.written - file->numbered_before + 1;
    uint32_t used = 0;
    uint32_t made = 0;

    while (made < count && file->pack.packed_bytes - used >= file->buffer_bytes) {
        sizes[made] = pack_buffer(file, &buffers[made], number + made, file->pack.packed + used);
        used += sizes[made++];
    }
    return made;
}

/* Notes that this buffer is in the file, as it lies at `packed`. */
static void pack_count_written(struct etwas_log_file *file, const struct etwas_drained *buffer,
                               const uint8_t *packed, uint32_t bytes,
                               struct etwas_log_write *result)
{
    uint64_t at = file->pack.end;

    etwas_log_clock_snapshots_count_buffer(file, buffer);
    etwas_log_audit_track(file, buffer, packed + ETWAS_ETL_BUFFER_HEADER_BYTES,
                          bytes - ETWAS_ETL_BUFFER_HEADER_BYTES);
    (void)etwas_log_cursor_advance(&file->cursor, buffer->records);
    etwas_log_pack_set_end(file, at + bytes, at);
    result->written++;
}

/*
 * Erases the part of the next buffer that was written, `torn` bytes, so that it does not look like
 * a buffer.
 */
static void pack_repair(struct etwas_log_file *file, uint64_t torn)
{
    if (file->has_space) {
        memset(file->scratch, 0, torn);
        if (torn == 0 || etwas_log_patch(file->descriptor, file->scratch, torn, file->pack.end)) {
            return;
        }
    }
    (void)etwas_file_truncate(file->descriptor, file->pack.end);
}

/* Compresses and writes as many as fit into the memory. */
static uint32_t pack_write_together(struct etwas_log_file *file,
                                    const struct etwas_drained *buffers, uint32_t count,
                                    struct etwas_log_write *result)
{
    uint32_t sizes[ETWAS_BATCH_BUFFERS];
    uint32_t packed = pack_buffers(file, buffers, count, sizes);
    const uint8_t *next = file->pack.packed;
    struct iovec piece = {.iov_base = file->pack.packed};
    uint64_t left;
    uint32_t taken;
    int error;

    for (uint32_t index = 0; index < packed; index++) {
        piece.iov_len += sizes[index];
    }
    left = etwas_file_write(file->descriptor, &piece, 1, file->pack.end, NULL, &error);
    for (taken = 0; taken < packed && left >= sizes[taken]; taken++) {
        pack_count_written(file, &buffers[taken], next, sizes[taken], result);
        next += sizes[taken];
        left -= sizes[taken];
    }
    if (taken < packed) {
        result->code = etwas_file_write_error(error);
        pack_repair(file, left);
    }
    return taken;
}

void etwas_log_pack_write(struct etwas_log_file *file, const struct etwas_drained *buffers,
                          uint32_t count, struct etwas_log_write *result)
{
    uint32_t room;

    while (count != 0 && result->code == ERROR_SUCCESS &&
           (room = etwas_log_cursor_room(&file->cursor, count)) != 0) {
        uint32_t written = pack_write_together(file, buffers, room, result);

        buffers += written;
        count -= written;
    }
    ETWAS_INVARIANT(file->stage == ETWAS_LOG_FILE_WRITING && etwas_log_file_is_valid(file));
}

/* ---- what is in the file --------------------------------------------------------------------- */

/*
 * Reads the header of the buffer at `at`. Returns false if no buffer is there that ends in the
 * file.
 */
static bool pack_read_header(const struct etwas_log_file *file, uint64_t at,
                             struct etwas_etl_buffer_header *header)
{
    return etwas_file_read(file->descriptor, header, sizeof *header, at) == sizeof *header &&
           header->buffer_bytes >= sizeof *header && header->buffer_bytes <= file->pack.end - at;
}

static bool pack_find_last(struct etwas_log_file *file)
{
    struct etwas_etl_buffer_header header;

    for (uint64_t at = file->buffer_bytes; at < file->pack.end; at += header.buffer_bytes) {
        if (!pack_read_header(file, at, &header)) {
            return false;
        }
        file->pack.last = at;
    }
    return true;
}

bool etwas_log_pack_mark_last(struct etwas_log_file *file, uint16_t flags)
{
    struct etwas_etl_buffer_header header;

    if (file->pack.end == file->buffer_bytes) {
        return true;
    }
    return (file->pack.last != 0 || pack_find_last(file)) &&
           pack_read_header(file, file->pack.last, &header) &&
           etwas_log_patch_flags(file->descriptor, file->pack.last,
                                 (uint16_t)(header.flags | flags));
}

bool etwas_log_pack_number_backwards(struct etwas_log_file *file)
{
    int64_t number = (int64_t)file->cursor.written;
    struct etwas_etl_buffer_header header;

    for (uint64_t at = file->buffer_bytes; at < file->pack.end; at += header.buffer_bytes) {
        if (!pack_read_header(file, at, &header) ||
            !etwas_log_patch_number(file->descriptor, at, number--)) {
            return false;
        }
    }
    return true;
}
