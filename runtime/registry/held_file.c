/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/held_file.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/own_descriptor.h"
#include "platform/testpoint.h"
#include "registry/names.h"

enum {
    PLACES = 4,
    LIFE_BYTE = 0,
    REMOVAL_BYTE = 1,
    TRIES = 200,
    PATIENT_TRIES = 20, /* tries that wait for a place that another process is about to clear */
    PAUSE_NS = 50000,   /* the limit of the first pause */
    PAUSE_DOUBLINGS = 6,
};

enum state {
    MISSING,
    DEAD,
    LIVING,
    OTHERS,  /* living, but not the one that is requested */
    UNKNOWN, /* cannot be opened; `error` says why */
};

struct file {
    int descriptor; /* -1: not open */
    enum state state;
    int error;
};

/* ---- locks ----------------------------------------------------------------------------------- */

static struct flock held_lock_of(int byte)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

static bool held_lock_new(int file, int byte)
{
    struct flock lock = held_lock_of(byte);

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

static bool held_is_locked(int file, int byte)
{
    struct flock lock = held_lock_of(byte);

    return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool held_has_name(int folder, const char *name, int file)
{
    struct stat named;
    struct stat opened;

    return fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &opened) == 0 &&
           named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

/*
 * A file that is found unlocked and afterwards still has its name was dead when it was found: a
 * living file that takes its place has the name before the lock of the old one is released.
 */
static struct file held_open_file(int folder, const char *name, int access)
{
    struct file file = {.descriptor = -1, .state = UNKNOWN, .error = EBUSY};

    for (int try = 0; try < TRIES; try++) {
        file.descriptor = openat(folder, name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file.descriptor < 0) {
            file.error = errno;
            file.state = errno == ENOENT ? MISSING : UNKNOWN;
            return file;
        }
        if (held_is_locked(file.descriptor, LIFE_BYTE)) {
            file.state = LIVING;
            return file;
        }
        if (held_has_name(folder, name, file.descriptor)) {
            file.state = DEAD;
            return file;
        }
        (void)close(file.descriptor);
        file.descriptor = -1;
    }
    return file;
}

static uint32_t held_read_whole(int file, void **bytes, size_t *size)
{
    struct stat facts;
    char *read_bytes;
    size_t length = 0;
    ssize_t got;

    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > ETWAS_HELD_BYTES) {
        return ERROR_INVALID_DATA;
    }
    read_bytes = malloc((size_t)facts.st_size + 1);
    if (read_bytes == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    do {
        got = pread(file, read_bytes + length, (size_t)facts.st_size - length, (off_t)length);
        length += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    *bytes = read_bytes;
    *size = length;
    return ERROR_SUCCESS;
}

/* Creates a file with its lock and its content, under a temporary name. */
static uint32_t held_create_temporary(int folder, const void *bytes, size_t size,
                                      char name[ETWAS_REGISTRY_FILE_BYTES], int *file)
{
    struct etwas_file_name own = {.kind = ETWAS_REGISTRY_FILE_TEMPORARY,
                                  .nonce = etwas_registry_nonce()};
    struct iovec whole = {(void *)bytes, size};
    uint32_t code = ERROR_SUCCESS;
    int error = 0;

    etwas_file_name_format(&own, name);
    *file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*file < 0) {
        /* ENOENT: the folder has been removed. */
        return etwas_file_open_error(errno);
    }
    ETWAS_TESTPOINT(ETWAS_POINT_REGISTRY_CREATED);
    if (fchmod(*file, 0600) != 0 || !held_lock_new(*file, LIFE_BYTE)) {
        code = ERROR_NOT_SUPPORTED;
    } else if (etwas_file_write(*file, &whole, 1, 0, NULL, &error) != size) {
        code = etwas_file_write_error(error);
    }
    if (code != ERROR_SUCCESS) {
        (void)unlinkat(folder, name, 0);
        (void)close(*file);
    }
    return code;
}

/* ---- removing -------------------------------------------------------------------------------- */

/*
 * Removes the file with this name if it is dead, and returns the state of the name afterwards.
 * DEAD: another process is about to remove it. *removed: whether this call removed it. While this
 * call has the lock for removing, no other process removes the file, so it keeps its name.
 */
static enum state held_remove_dead(int folder, const char *name, bool *removed)
{
    struct file file = held_open_file(folder, name, O_RDWR);

    *removed = false;
    if (file.state == DEAD) {
        ETWAS_TESTPOINT(ETWAS_POINT_REGISTRY_FOUND_DEAD);
        if (held_lock_new(file.descriptor, REMOVAL_BYTE)) {
            ETWAS_TESTPOINT(ETWAS_POINT_REGISTRY_REMOVES);
            *removed =
                held_has_name(folder, name, file.descriptor) && unlinkat(folder, name, 0) == 0;
            file.state = MISSING;
        }
    }
    if (file.descriptor >= 0) {
        (void)close(file.descriptor);
    }
    return file.state;
}

bool etwas_held_clear(int folder, const char *name)
{
    bool removed;

    (void)held_remove_dead(folder, name, &removed);
    return removed;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void held_name_place(char name[ETWAS_REGISTRY_FILE_BYTES], const char *stem, int place)
{
    char end[4] = "";

    if (place != 0) {
        (void)snprintf(end, sizeof end, ".%d", place);
    }
    (void)snprintf(name, ETWAS_REGISTRY_FILE_BYTES, "%s%s", stem, end);
}

/*
 * A file that cannot be read counts as the requested one: acquiring nothing is better than
 * acquiring it twice.
 */
static bool held_matches_request(const struct etwas_held_request *request, int file)
{
    void *bytes = NULL;
    size_t size;
    bool it_does;

    if (request->matches == NULL || held_read_whole(file, &bytes, &size) != ERROR_SUCCESS) {
        return true;
    }
    it_does = request->matches(bytes, size, request->what);
    free(bytes);
    return it_does;
}

static struct file held_find_living(int folder, const char *name,
                                    const struct etwas_held_request *request)
{
    struct file file = held_open_file(folder, name, O_RDONLY);

    if (file.state == LIVING && !held_matches_request(request, file.descriptor)) {
        file.state = OTHERS;
    }
    if (file.descriptor >= 0) {
        (void)close(file.descriptor);
        file.descriptor = -1;
    }
    return file;
}

/*
 * Inspects all places except `own`. If `own` is -1, it inspects every place and clears dead files.
 * *free_place receives the first free place; -1: there is none.
 */
static uint32_t held_find_places(int folder, const struct etwas_held_request *request, int own,
                                 bool is_patient, int *free_place)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];
    bool is_busy = false;

    *free_place = -1;
    for (int place = 0; place < PLACES; place++) {
        struct file file;
        bool removed;

        if (place == own) {
            continue;
        }
        held_name_place(name, request->stem, place);
        file = held_find_living(folder, name, request);
        if (file.state == LIVING) {
            return ERROR_ALREADY_EXISTS;
        }
        if (file.state == UNKNOWN) {
            return etwas_file_open_error(file.error);
        }
        if (file.state == DEAD && own < 0) {
            file.state = held_remove_dead(folder, name, &removed);
        }
        is_busy = is_busy || file.state == DEAD;
        if (file.state == MISSING && *free_place < 0) {
            *free_place = place;
        }
    }
    return is_busy && is_patient        ? ERROR_BUSY
           : *free_place < 0 && own < 0 ? ERROR_NO_SYSTEM_RESOURCES
                                        : ERROR_SUCCESS;
}

/* Looks for the requested file in the user's other folders. ERROR_ALREADY_EXISTS: it is there. */
static uint32_t held_find_elsewhere(const struct etwas_held_request *request)
{
    struct etwas_registry_walk walk;
    uint32_t code = etwas_registry_walk(&walk);
    int none;

    while (code == ERROR_SUCCESS && etwas_registry_walk_on(&walk)) {
        code = held_find_places(walk.folder, request, PLACES, false, &none);
    }
    etwas_registry_walk_end(&walk);
    return code == ERROR_SUCCESS ? walk.code : code;
}

/*
 * If two processes acquire the same thing at two places, or in two folders, the later one sees the
 * other's file when it reads again. So at most one of them succeeds. If neither does, both try
 * again at different times.
 */
static uint32_t held_try_acquire(int folder, const struct etwas_held_request *request,
                                 bool is_patient, struct etwas_held_file *held)
{
    char temporary[ETWAS_REGISTRY_FILE_BYTES];
    int place;
    int none;
    uint32_t code = held_find_places(folder, request, -1, is_patient, &place);

    code = code == ERROR_SUCCESS ? held_find_elsewhere(request) : code;
    if (code == ERROR_SUCCESS) {
        code = held_create_temporary(folder, request->bytes, request->size, temporary, &held->lock);
    }
    if (code != ERROR_SUCCESS) {
        held->lock = -1;
        return code;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_REGISTRY_FOUND_FREE);
    held_name_place(held->name, request->stem, place);
    if (linkat(folder, temporary, folder, held->name, 0) != 0) {
        /* ENOENT: another process found it without its lock and removed it. */
        code = errno == EEXIST || errno == ENOENT ? ERROR_BUSY : etwas_file_open_error(errno);
        (void)unlinkat(folder, temporary, 0);
        etwas_held_forget(held);
        return code;
    }
    (void)unlinkat(folder, temporary, 0);
    held->lock = etwas_descriptor_protect(held->lock);
    code = held_find_places(folder, request, place, false, &none);
    code = code == ERROR_SUCCESS ? held_find_elsewhere(request) : code;
    if (code != ERROR_SUCCESS) {
        etwas_held_release(held);
        code = code == ERROR_ALREADY_EXISTS ? ERROR_BUSY : code;
    }
    return code;
}

static void held_pause_before(int try)
{
    uint64_t most = (uint64_t)PAUSE_NS << (try < PAUSE_DOUBLINGS ? try : PAUSE_DOUBLINGS);
    struct timespec time = {.tv_nsec = (long)(etwas_registry_nonce() % most)};

    (void)nanosleep(&time, NULL);
}

uint32_t etwas_held_acquire(struct etwas_held_file *held, const struct etwas_held_request *request)
{
    int folder;
    uint32_t code = etwas_registry_open(&folder);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    for (int try = 0; try < TRIES; try++) {
        code = held_try_acquire(folder, request, try < PATIENT_TRIES, held);
        if (code != ERROR_BUSY) {
            break;
        }
        held_pause_before(try);
    }
    return code;
}

/* ---- what a process holds -------------------------------------------------------------------- */

uint32_t etwas_held_replace(struct etwas_held_file *held, const void *bytes, size_t size)
{
    char temporary[ETWAS_REGISTRY_FILE_BYTES];
    int folder;
    int file;
    int error = ENOENT;
    uint32_t code = etwas_registry_open(&folder);

    for (int try = 0; code == ERROR_SUCCESS && error == ENOENT && try < TRIES; try++) {
        code = held_create_temporary(folder, bytes, size, temporary, &file);
        if (code != ERROR_SUCCESS) {
            return code;
        }
        if (renameat(folder, temporary, folder, held->name) == 0) {
            etwas_descriptor_close(
                held->lock); /* only now, so that a file of this name was locked at any time */
            held->lock = etwas_descriptor_protect(file);
            return ERROR_SUCCESS;
        }
        error = errno; /* ENOENT: another process found it without its lock and removed it */
        (void)unlinkat(folder, temporary, 0);
        (void)close(file);
    }
    return code != ERROR_SUCCESS ? code
           : error == ENOENT     ? ERROR_BUSY
                                 : etwas_file_open_error(error);
}

bool etwas_held_is_there(const struct etwas_held_file *held)
{
    int folder;

    return held->lock < 0 || !etwas_descriptor_is_own(held->lock) ||
           (etwas_registry_open_existing(&folder) && held_has_name(folder, held->name, held->lock));
}

void etwas_held_release(struct etwas_held_file *held)
{
    int folder;

    if (held->lock < 0) {
        return;
    }
    if (etwas_registry_open_existing(&folder) && etwas_descriptor_is_own(held->lock) &&
        held_has_name(folder, held->name, held->lock)) {
        (void)unlinkat(folder, held->name, 0);
    }
    etwas_held_forget(held);
}

void etwas_held_forget(struct etwas_held_file *held)
{
    if (held->lock >= 0) {
        etwas_descriptor_close(held->lock);
        held->lock = -1;
    }
}

/* ---- what others hold ------------------------------------------------------------------------ */

static uint32_t held_read_place(int folder, const char *name, void **bytes, size_t *size)
{
    struct file file = held_open_file(folder, name, O_RDONLY);
    uint32_t code = file.state == LIVING    ? held_read_whole(file.descriptor, bytes, size)
                    : file.state == UNKNOWN ? etwas_file_open_error(file.error)
                                            : ERROR_NOT_FOUND;

    if (file.descriptor >= 0) {
        (void)close(file.descriptor);
    }
    return code;
}

uint32_t etwas_held_read_in(int folder, const struct etwas_held_request *request, void **bytes,
                            size_t *size)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];
    uint32_t failed = ERROR_NOT_FOUND;
    uint32_t code;

    *bytes = NULL;
    for (int place = 0; place < PLACES; place++) {
        held_name_place(name, request->stem, place);
        code = held_read_place(folder, name, bytes, size);
        if (code == ERROR_SUCCESS &&
            (request->matches == NULL || request->matches(*bytes, *size, request->what))) {
            return code;
        }
        free(*bytes);
        *bytes = NULL;
        failed = code == ERROR_SUCCESS || code == ERROR_NOT_FOUND ? failed : code;
    }
    return failed;
}

uint32_t etwas_held_read(const struct etwas_held_request *request, void **bytes, size_t *size)
{
    struct etwas_registry_walk walk;
    uint32_t failed = ERROR_NOT_FOUND;
    uint32_t code = etwas_registry_walk(&walk);

    *bytes = NULL;
    if (code != ERROR_SUCCESS) {
        return code;
    }
    do {
        code = etwas_held_read_in(walk.folder, request, bytes, size);
        failed = code == ERROR_NOT_FOUND ? failed : code;
    } while (code != ERROR_SUCCESS && etwas_registry_walk_on(&walk));
    etwas_registry_walk_end(&walk);
    return failed == ERROR_NOT_FOUND && walk.code != ERROR_SUCCESS ? walk.code : failed;
}
