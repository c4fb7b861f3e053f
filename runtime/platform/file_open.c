/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Log files by their names: opened for one session alone, created, replaced, removed; and closed.
 */
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/file_internal.h"

uint32_t etwas_file_open_error(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return ERROR_PATH_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return ERROR_ACCESS_DENIED;
    case ENAMETOOLONG:
        return ERROR_FILENAME_EXCED_RANGE;
    case ENOSPC:
    case EDQUOT:
        return ERROR_DISK_FULL;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return ERROR_NO_SYSTEM_RESOURCES;
    default:
        return ERROR_BAD_PATHNAME;
    }
}

enum {
    OF_OTHERS = 0077,
    ALL_PERMISSIONS = 0777,
};

/* O_NONBLOCK: opening a FIFO must not wait for its other end. */
static int file_open_one(const char *path, int more_flags, enum etwas_file_permissions permissions)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | more_flags;

    return (int)TEMP_FAILURE_RETRY(PERMITTED(OPEN) ? open(path, flags, (mode_t)permissions) : -1);
}

/*
 * Opens in two steps, since a file that existed before must still exist when opening fails later.
 */
static int file_open_or_create(const char *path, enum etwas_file_permissions permissions,
                               bool *created)
{
    int file;

    do {
        file = file_open_one(path, 0, permissions);
        *created = file < 0 && errno == ENOENT;
        if (*created) {
            file = file_open_one(path, O_CREAT | O_EXCL, permissions);
        }
    } while (file < 0 && *created && errno == EEXIST);
    return file;
}

static bool file_is_regular(int file, struct stat *status)
{
    return PERMITTED(STAT) && fstat(file, status) == 0 && S_ISREG(status->st_mode);
}

static bool file_lock(int file)
{
    return TEMP_FAILURE_RETRY(PERMITTED(LOCK) ? flock(file, LOCK_EX | LOCK_NB) : -1) == 0;
}

uint32_t etwas_file_open(const char *path, enum etwas_file_permissions permissions, int *descriptor,
                         uint64_t *bytes, bool *created)
{
    struct stat status;
    bool made;
    int file = file_open_or_create(path, permissions, &made);

    if (file < 0) {
        return etwas_file_open_error(errno);
    }
    /* The length is read under the lock: the last owner may have been about to change it. */
    if (!file_is_regular(file, &status) || !file_lock(file) || !file_is_regular(file, &status)) {
        if (made) {
            etwas_file_remove(path, file);
        }
        (void)close(file);
        return ERROR_BAD_PATHNAME;
    }
    if (!made && permissions == ETWAS_FILE_PRIVATE && (status.st_mode & OF_OTHERS) != 0 &&
        fchmod(file, (mode_t)permissions) != 0) {
        (void)close(file);
        return ERROR_ACCESS_DENIED;
    }
    *descriptor = file;
    *bytes = (uint64_t)status.st_size;
    if (created != NULL) {
        *created = made;
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_file_create(const char *path, enum etwas_file_permissions permissions,
                           int *descriptor, bool *created)
{
    uint64_t bytes;
    bool made;
    int file;
    uint32_t code = etwas_file_open(path, permissions, &file, &bytes, &made);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* The lock comes before the truncation: a file in use keeps its contents. */
    if (!made && !etwas_file_truncate(file, 0)) {
        code = etwas_file_write_error(errno);
        (void)etwas_file_close(file);
        return code;
    }
    *descriptor = file;
    if (created != NULL) {
        *created = made;
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_file_create_beside(const char *path, enum etwas_file_permissions permissions,
                                  int *descriptor, bool *created, char **beside)
{
    struct stat status;
    int there;
    bool made;
    uint64_t bytes;
    uint32_t code;

    *beside = NULL;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        return etwas_file_create(path, permissions, descriptor, created);
    }
    /* no session writes it */
    code = etwas_file_open(path, ETWAS_FILE_SHARED, &there, &bytes, &made);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    (void)etwas_file_close(there);
    if (asprintf(beside, "%s.%ld.new", path, (long)getpid()) < 0) {
        *beside = NULL;
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_file_create(*beside, permissions, descriptor, created);
    if (code == ERROR_SUCCESS && permissions != ETWAS_FILE_PRIVATE) {
        (void)fchmod(*descriptor, status.st_mode & ALL_PERMISSIONS);
    }
    if (code != ERROR_SUCCESS) {
        free(*beside);
        *beside = NULL;
    }
    return code;
}

bool etwas_file_replace(const char *beside, const char *path)
{
    int there;
    bool made;
    uint64_t bytes;
    bool good = etwas_file_open(path, ETWAS_FILE_SHARED, &there, &bytes, &made) == ERROR_SUCCESS;

    if (good) {
        good = rename(beside, path) == 0;
        (void)etwas_file_close(there);
    }
    return good;
}

/* Creates an unnamed file on file systems without O_TMPFILE. */
static int file_create_and_unlink(const char *folder)
{
    char path[PATH_MAX];
    int file = -1;

    if (snprintf(path, sizeof path, "%s/etwas-XXXXXX", folder) < (int)sizeof path) {
        file = mkostemp(path, O_CLOEXEC);
    }
    if (file >= 0) {
        (void)unlink(path);
    }
    return file;
}

uint32_t etwas_file_create_unnamed(const char *folder, int *descriptor)
{
    int file;

    do {
        file = PERMITTED(OPEN) ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
        if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
            file = file_create_and_unlink(folder);
        }
    } while (file < 0 && errno == EINTR);
    *descriptor = file;
    return file >= 0 ? ERROR_SUCCESS : etwas_file_open_error(errno);
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

int etwas_file_create_in_memory(const char *label)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create(label, flags | MFD_NOEXEC_SEAL);

    return file < 0 && errno == EINVAL ? memfd_create(label, flags) : file;
}

/* ---- closing, and files by name -------------------------------------------------------------- */

bool etwas_file_close(int descriptor)
{
    int error = PERMITTED(CLOSE) ? 0 : errno;

    /* Unlocked by name: a fork's child may hold a copy of the descriptor for a while. */
    (void)flock(descriptor, LOCK_UN);
    if (close(descriptor) != 0) {
        error = errno;
    }
    /*
     * An interrupted close has closed the descriptor; another thread may already have its number.
     */
    errno = error;
    return error == 0 || error == EINTR;
}

void etwas_file_forget(int descriptor)
{
    (void)close(descriptor);
}

void etwas_file_remove(const char *path, int descriptor)
{
    struct stat named;
    struct stat ours;

    if (fstat(descriptor, &ours) == 0 && lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
        ours.st_ino == named.st_ino && PERMITTED(REMOVE)) {
        (void)unlink(path);
    }
}

uint64_t etwas_file_length(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

bool etwas_file_has_space(const char *path, uint64_t bytes, uint64_t reserve_on_root_bytes)
{
    char *copy = strdup(path);
    const char *parent;
    struct statvfs system;
    struct stat folder;
    struct stat root;
    bool fits = true;

    if (copy == NULL) {
        return true;
    }
    parent = dirname(copy);
    if (!PERMITTED(SPACE)) {
        fits = false;
    } else if (statvfs(parent, &system) == 0 && system.f_blocks != 0) {
        if (stat("/", &root) == 0 && stat(parent, &folder) == 0 && root.st_dev == folder.st_dev) {
            bytes += reserve_on_root_bytes;
        }
        fits = (uint64_t)system.f_bavail * system.f_frsize >= bytes;
    }
    free(copy);
    return fits;
}
