/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* The file itself: opening, and reading at a position. */
#include "reader/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "reader/damage.h"

/* ENOENT means a missing file or a missing folder; ETW distinguishes the two. */
static uint32_t trace_file_missing_code(const char *path)
{
    char *folder = strdup(path);
    uint32_t code = ERROR_FILE_NOT_FOUND;
    struct stat status;
    char *slash;

    if (folder == NULL) {
        return code;
    }
    slash = strrchr(folder, '/');
    if (slash != NULL && slash != folder) {
        *slash = 0;
        if (stat(folder, &status) != 0) {
            code = ERROR_PATH_NOT_FOUND;
        }
    }
    free(folder);
    return code;
}

uint32_t etwas_trace_file_open(const char *path, int *descriptor, uint64_t *file_bytes)
{
    struct stat status;
    int opened;

    /* Without O_NONBLOCK the open of a pipe would wait for a writer. */
    do {
        opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (opened < 0 && errno == EINTR);
    if (opened < 0) {
        return errno == ENOENT ? trace_file_missing_code(path) : etwas_file_open_error(errno);
    }
    if (fstat(opened, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(opened);
        return S_ISDIR(status.st_mode) ? ERROR_ACCESS_DENIED : ERROR_BAD_PATHNAME;
    }
    *descriptor = opened;
    *file_bytes = (uint64_t)status.st_size;
    return ERROR_SUCCESS;
}

void etwas_trace_file_measure(struct etwas_trace *trace)
{
    struct etwas_index_entry *first = &trace->log.buffer;
    struct stat status;

    if (fstat(trace->descriptor, &status) == 0) {
        trace->file_bytes = (uint64_t)status.st_size;
    }
    ck_pr_store_64(&trace->information.file_bytes, trace->file_bytes);
    first->file_bytes =
        trace->file_bytes < first->buffer_bytes ? (uint32_t)trace->file_bytes : first->buffer_bytes;
}

size_t etwas_trace_file_read(struct etwas_trace *trace, uint64_t offset, void *target, size_t bytes)
{
    size_t done;

    if (offset >= trace->file_bytes && trace->head != NULL) {
        return 0;
    }
    if (trace->head != NULL) {
        done = trace->file_bytes - offset < bytes ? (size_t)(trace->file_bytes - offset) : bytes;
        memcpy(target, trace->head + offset, done);
        return done;
    }
    done = offset <= INT64_MAX ? etwas_file_read(trace->descriptor, target, bytes, offset) : 0;
    etwas_trace_count(&trace->information.bytes_read, done);
    return done;
}

uint64_t etwas_trace_file_next_data(const struct etwas_trace *trace, uint64_t offset)
{
    off_t next = lseek(trace->descriptor, (off_t)offset, SEEK_DATA);

    if (next >= 0) {
        return (uint64_t)next;
    }
    return errno == ENXIO ? trace->file_bytes : offset;
}
