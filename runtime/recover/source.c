/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/source.h"

#include <elf.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"

static bool path_is_in_proc(const char *path)
{
    return strncmp(path, "/proc/", strlen("/proc/")) == 0;
}

/* Symbolic links are not followed, except in /proc, where they lead to open files of a process. */
static uint32_t source_open_file(struct etwas_recover_source *source, const char *path,
                                 struct stat *status)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (path_is_in_proc(path) ? 0 : O_NOFOLLOW);

    source->file = open(path, flags);
    if (source->file < 0) {
        return errno == ENOENT || errno == ENOTDIR  ? ERROR_FILE_NOT_FOUND
               : errno == EMFILE || errno == ENFILE ? ERROR_NO_SYSTEM_RESOURCES
                                                    : ERROR_ACCESS_DENIED;
    }
    if (fstat(source->file, status) != 0 || !S_ISREG(status->st_mode)) {
        return ERROR_FILE_CORRUPT;
    }
    source->file_bytes = (uint64_t)status->st_size;
    source->owner = status->st_uid;
    return ERROR_SUCCESS;
}

static bool source_begins_with(const struct etwas_recover_source *source, const char *magic,
                               size_t bytes)
{
    char found[16];

    return etwas_file_read(source->file, found, bytes, 0) == bytes &&
           memcmp(found, magic, bytes) == 0;
}

static bool source_is_locked(int file)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static uint32_t source_find_mapping(struct etwas_recover_source *source, const struct stat *status,
                                    uint32_t index)
{
    source->is_alive = source_is_locked(source->file);
    if (source_begins_with(source, ELFMAG, SELFMAG)) {
        source->is_core = true;
        return etwas_core_open(source->file, source->file_bytes, index, &source->core,
                               &source->head_address);
    }
    if (!source_begins_with(source, ETWAS_SHARED_MAGIC, strlen(ETWAS_SHARED_MAGIC))) {
        return ERROR_FILE_CORRUPT;
    }
    if (status->st_uid != geteuid() && geteuid() != 0) {
        return ERROR_ACCESS_DENIED;
    }
    return index == 0 ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

uint32_t etwas_recover_source_open(struct etwas_recover_source *source, const char *path,
                                   uint32_t index)
{
    struct stat status;
    uint32_t code;

    *source = (struct etwas_recover_source){.file = -1};
    code = source_open_file(source, path, &status);
    if (code == ERROR_SUCCESS) {
        code = source_find_mapping(source, &status, index);
    }
    if (code != ERROR_SUCCESS) {
        etwas_recover_source_close(source);
    }
    return code;
}

void etwas_recover_source_close(struct etwas_recover_source *source)
{
    etwas_core_close(source->core);
    source->core = NULL;
    if (source->file >= 0) {
        (void)close(source->file);
        source->file = -1;
    }
}

/* ---- the log file that a mapping names ------------------------------------------------------- */

/*
 * Whether this may be a log file of the mapping's user. The owner of a core file is not checked,
 * because the system writes it.
 */
static bool source_is_log_file(const struct etwas_recover_source *source, int file,
                               struct stat *status)
{
    return fstat(file, status) == 0 && S_ISREG(status->st_mode) &&
           (source->is_core || status->st_uid == source->owner || status->st_uid == geteuid());
}

/*
 * Any process may have written the path. Opening a device may have effects, and opening a pipe
 * wakes a process that waits for that: so the file is inspected first, and then that file is
 * opened. No session writes through a symbolic link.
 */
int etwas_recover_open_log(const struct etwas_recover_source *source, const char *path)
{
    struct stat before;
    struct stat after;
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    char again[32];
    int file = -1;

    if (place >= 0 && source_is_log_file(source, place, &before)) {
        (void)snprintf(again, sizeof again, "/proc/self/fd/%d", place);
        file = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0) { /* there is no /proc */
            file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
        }
        if (file >= 0 && (!source_is_log_file(source, file, &after) ||
                          after.st_ino != before.st_ino || after.st_dev != before.st_dev)) {
            (void)close(file);
            file = -1;
        }
    }
    if (place >= 0) {
        (void)close(place);
    }
    return file;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns the next position with data at or after `at`; `end` if there is none before it. */
static uint64_t file_next_data(int file, uint64_t at, uint64_t end)
{
    off_t data = lseek(file, (off_t)at, SEEK_DATA);

    if (data < 0) {
        return errno == ENXIO ? end : at; /* the file system does not report holes */
    }
    return (uint64_t)data < end ? (uint64_t)data : end;
}

static uint64_t file_next_hole(int file, uint64_t at, uint64_t end)
{
    off_t hole = lseek(file, (off_t)at, SEEK_HOLE);

    return hole > (off_t)at && (uint64_t)hole < end ? (uint64_t)hole : end;
}

bool etwas_recover_fill(int file, uint64_t at, void *zeroed, uint64_t bytes, bool *has_any)
{
    uint64_t end = at + bytes;
    struct stat status;

    if (fstat(file, &status) != 0 || end < at || end > (uint64_t)status.st_size) {
        return false;
    }
    for (uint64_t next = file_next_data(file, at, end); next < end;) {
        uint64_t behind = file_next_hole(file, next, end);

        if (etwas_file_read(file, (uint8_t *)zeroed + (next - at), behind - next, next) !=
            behind - next) {
            return false;
        }
        *has_any = true;
        next = file_next_data(file, behind, end);
    }
    return true;
}

bool etwas_recover_source_fill(const struct etwas_recover_source *source,
                               const struct etwas_shared_table *table, uint64_t at, void *zeroed,
                               uint64_t bytes, bool *has_any)
{
    uint64_t address = table->address != 0 ? table->address : source->head_address + table->offset;

    *has_any = false;
    return source->is_core
               ? etwas_core_fill(source->core, address + at, zeroed, bytes, has_any)
               : etwas_recover_fill(source->file, table->offset + at, zeroed, bytes, has_any);
}

bool etwas_recover_source_read(const struct etwas_recover_source *source,
                               const struct etwas_shared_table *table, uint64_t at, void *to,
                               uint64_t bytes)
{
    bool has_any;

    memset(to, 0, bytes);
    return etwas_recover_source_fill(source, table, at, to, bytes, &has_any);
}

bool etwas_recover_source_head(const struct etwas_recover_source *source, void *to, size_t bytes)
{
    const struct etwas_shared_table whole = {.address = source->head_address};

    return etwas_recover_source_read(source, &whole, 0, to, bytes);
}
