/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Opens a log file: creates it, or prepares an existing one to be appended to, and reserves its
 * space if requested.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/log_file_internal.h"
#include "platform/file.h"
#include "platform/testpoint.h"

bool etwas_log_write_header(struct etwas_log_file *file, int *error)
{
    struct iovec vector = {.iov_base = file->scratch, .iov_len = file->buffer_bytes};

    memcpy(file->scratch, file->header.content, file->header.bytes);
    etwas_log_pad(file, file->scratch, file->header.bytes);
    return etwas_file_write(file->descriptor, &vector, 1, 0, NULL, error) == file->buffer_bytes;
}

void etwas_log_free(struct etwas_log_file *file)
{
    etwas_log_audit_end(file);
    etwas_log_cursor_end(&file->cursor);
    etwas_log_pack_free(file);
    etwas_log_clock_snapshots_free(&file->clock_snapshots);
    etwas_log_header_free(&file->header);
    free(file->scratch);
    free(file->temporary_path);
    free(file->final_path);
    free(file);
}

/*
 * Returns the entries for data buffers, 0 for no limit. The configuration ensures that there are
 * some.
 */
static uint32_t log_file_entries(const struct etwas_log_file_options *options)
{
    uint64_t limit = options->maximum_bytes / options->buffer_bytes;

    if (limit == 0) {
        return 0;
    }
    return limit > UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)limit - 1;
}

/* How long the file may become; 0: no limit. */
static uint64_t log_file_most_bytes(const struct etwas_log_file *file)
{
    if (etwas_log_is_packed(file)) {
        return file->pack.limit_bytes;
    }
    return file->cursor.limit != 0 ? etwas_log_position(file, file->cursor.limit + 1) : 0;
}

/*
 * Prepares everything except the file itself, so that faults in the request are found before the
 * file is touched.
 */
static uint32_t log_file_prepare(const struct etwas_log_file_options *options,
                                 struct etwas_log_file **prepared)
{
    bool circular = (options->log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0;
    bool compressed = (options->log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0;
    uint32_t limit = log_file_entries(options);
    struct etwas_log_file *file;
    uint32_t code;

    if (circular && limit < 2) {
        return ERROR_INVALID_PARAMETER;
    }
    file = malloc(sizeof *file);
    if (file == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *file = (struct etwas_log_file){
        .descriptor = -1,
        .buffer_bytes = options->buffer_bytes,
        .logger_id = options->logger_id,
        .processors = options->least_processors,
        .has_space = (options->log_file_mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) != 0 &&
                     options->maximum_bytes != 0,
        .part = options->part,
        .takes_stacks = options->takes_stacks,
        .ended = options->ended,
        .earlier = options->after,
        .before = options->before,
        .counted = options->before,
        .scratch = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), options->buffer_bytes),
    };
    etwas_log_audit_begin(file);
    code = etwas_log_header_build(&file->header, options);
    if (code == ERROR_SUCCESS &&
        (file->scratch == NULL || !etwas_log_cursor_begin(&file->cursor, limit, circular) ||
         (compressed && !etwas_log_pack_begin(file, log_file_most_bytes(file))))) {
        code = ERROR_NOT_ENOUGH_MEMORY;
    }
    if (code != ERROR_SUCCESS) {
        etwas_log_free(file);
        return code;
    }
    *prepared = file;
    return ERROR_SUCCESS;
}

static uint32_t log_file_set_space_aside(const struct etwas_log_file *file)
{
    int error =
        file->has_space ? etwas_file_allocate(file->descriptor, log_file_most_bytes(file)) : 0;

    return error != 0 ? etwas_file_write_error(error) : ERROR_SUCCESS;
}

static uint32_t log_file_begin_new(struct etwas_log_file *file,
                                   const struct etwas_log_file_options *options)
{
    int error;
    uint32_t code;

    if (!etwas_log_clock_snapshots_begin(file, options)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_log_write_header(file, &error) ? log_file_set_space_aside(file)
                                                : etwas_file_write_error(error);
    if (code != ERROR_SUCCESS) {
        /* A file that existed before was empty, and is empty again. */
        (void)etwas_file_truncate(file->descriptor, 0);
    }
    return code;
}

/* Zeroes what follows the last whole buffer, which becomes reserved space. */
static bool log_file_clear_tail(const struct etwas_log_file *file, uint64_t end,
                                uint64_t file_bytes)
{
    memset(file->scratch, 0, file->buffer_bytes);
    for (uint64_t at = end; at < file_bytes; at += file->buffer_bytes) {
        uint64_t left = file_bytes - at;
        size_t length = left < file->buffer_bytes ? (size_t)left : file->buffer_bytes;

        if (!etwas_log_patch(file->descriptor, file->scratch, length, at)) {
            return false;
        }
    }
    return true;
}

/*
 * Marks the file as in progress again: its last buffer is no longer marked as the last, its end is
 * unknown, and what follows its last whole buffer is removed.
 */
static uint32_t log_file_reopen(struct etwas_log_file *file, const struct etwas_log_append *append,
                                uint64_t file_bytes)
{
    uint64_t end = etwas_log_end(file);
    uint16_t flags = (uint16_t)(append->last_flags & ~ETWAS_ETL_BUFFER_FLUSH_MARKER);
    bool good =
        flags == append->last_flags || etwas_log_patch_flags(file->descriptor, append->last, flags);

    good = good && etwas_log_patch(file->descriptor, file->header.content, file->header.bytes, 0);
    good = good && (file->has_space ? log_file_clear_tail(file, end, file_bytes)
                                    : etwas_file_truncate(file->descriptor, end));
    return good ? ERROR_SUCCESS : ERROR_WRITE_FAULT;
}

/* Restores the file as far as the system permits. */
static void log_file_restore(const struct etwas_log_file *file,
                             const struct etwas_log_append *append, const uint8_t *first,
                             uint64_t file_bytes)
{
    (void)etwas_log_patch(file->descriptor, first, file->buffer_bytes, 0);
    if (append->buffers > 1) {
        (void)etwas_log_patch_flags(file->descriptor, append->last, append->last_flags);
    }
    (void)etwas_file_truncate(file->descriptor, file_bytes);
}

static uint32_t log_file_begin_appending(struct etwas_log_file *file,
                                         const struct etwas_log_file_options *options,
                                         uint64_t file_bytes)
{
    struct etwas_log_append append;
    uint8_t *first = malloc(file->buffer_bytes);
    uint32_t code = first != NULL
                        ? etwas_log_append_check(file->descriptor, file_bytes, options, &append)
                        : ERROR_NOT_ENOUGH_MEMORY;

    if (code != ERROR_SUCCESS) {
        free(first);
        return code;
    }
    etwas_log_header_free(&file->header);
    file->header = append.header;
    file->cursor.written = append.buffers - 1;
    file->numbered_before = file->cursor.written;
    file->synced = file->cursor.written;
    if (etwas_log_is_packed(file)) {
        etwas_log_pack_set_end(file, append.end, append.last);
    }
    memcpy(first, file->header.content, file->buffer_bytes);
    etwas_log_header_continue(&file->header, options);
    /* A file that is already longer keeps its length. */
    code = etwas_log_clock_snapshots_begin(file, options) ? log_file_set_space_aside(file)
                                                          : ERROR_NOT_ENOUGH_MEMORY;
    if (code == ERROR_SUCCESS) {
        code = log_file_reopen(file, &append, file_bytes);
    }
    if (code != ERROR_SUCCESS) {
        log_file_restore(file, &append, first, file_bytes);
    }
    free(first);
    return code;
}

static uint32_t log_file_open_new(struct etwas_log_file *file,
                                  const struct etwas_log_file_options *options,
                                  enum etwas_file_permissions permissions, bool *created)
{
    if (!options->replaces_whole) {
        return etwas_file_create(options->path, permissions, &file->descriptor, created);
    }
    file->final_path = strdup(options->path);
    return file->final_path != NULL
               ? etwas_file_create_beside(options->path, permissions, &file->descriptor, created,
                                          &file->temporary_path)
               : ERROR_NOT_ENOUGH_MEMORY;
}

/* Opens the file and writes its beginning. */
static uint32_t log_file_begin(struct etwas_log_file *file,
                               const struct etwas_log_file_options *options)
{
    bool appends = (options->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0;
    uint64_t file_bytes = 0;
    bool created;
    enum etwas_file_permissions permissions =
        options->is_private ? ETWAS_FILE_PRIVATE : ETWAS_FILE_SHARED;
    uint32_t code = appends ? etwas_file_open(options->path, permissions, &file->descriptor,
                                              &file_bytes, &created)
                            : log_file_open_new(file, options, permissions, &created);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = file_bytes != 0 ? log_file_begin_appending(file, options, file_bytes)
                           : log_file_begin_new(file, options);
    if (code != ERROR_SUCCESS) {
        if (created) {
            etwas_file_remove(file->temporary_path != NULL ? file->temporary_path : options->path,
                              file->descriptor);
        }
        (void)etwas_file_close(file->descriptor);
    }
    return code;
}

uint32_t etwas_log_file_create(const struct etwas_log_file_options *options,
                               struct etwas_log_file **created)
{
    struct etwas_log_file *file = NULL;
    uint32_t code = log_file_prepare(options, &file);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = log_file_begin(file, options);
    if (code != ERROR_SUCCESS) {
        etwas_log_free(file);
        return code;
    }
    etwas_direct_write_begin(&file->direct, file->descriptor, file->buffer_bytes,
                             log_file_most_bytes(file), file->has_space);
    if (options->after != NULL) {
        etwas_direct_write_inherit(&file->direct, &options->after->direct,
                                   etwas_log_next(options->after));
    }
    ETWAS_INVARIANT(etwas_log_file_is_valid(file));
    *created = file;
    return ERROR_SUCCESS;
}
