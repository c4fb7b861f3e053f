/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/state/state.h"

#include "math/hash.h"
#include "ship/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    WRITE_OF_OTHERS = 0022,
    NAME_BYTES = 80,
};

static const char suffix[] = ".cursor";

struct etwas_ship_state {
    int folder;
    int lock;
    char path[PATH_MAX];
};

/* ---- the folder ------------------------------------------------------------------------------ */

/*
 * Creates the missing folders of the path. Whether the last one is usable is checked when it is
 * opened.
 */
static bool make_folders(const char *path)
{
    char part[PATH_MAX];
    size_t bytes = strlen(path);

    if (bytes == 0 || bytes >= sizeof part) {
        errno = bytes == 0 ? ENOENT : ENAMETOOLONG;
        return false;
    }
    for (size_t i = 1; i <= bytes; i++) {
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            if (mkdir(part, 0700) != 0 && errno != EEXIST) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Returns what is wrong with the folder, or NULL. A user with the right to write in it could make
 * this process ship nothing, or all again.
 */
static const char *wrong_with(int folder)
{
    struct stat facts;

    if (fstat(folder, &facts) != 0) {
        return strerror(errno);
    }
    if (facts.st_uid != geteuid()) {
        return "the folder is another user's; --state names one";
    }
    return (facts.st_mode & WRITE_OF_OTHERS) != 0
               ? "others may write in the folder; it must be the user's alone (chmod 700)"
               : NULL;
}

static const char *lock_folder(struct etwas_ship_state *state)
{
    const char *wrong;

    state->folder = open(state->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (state->folder < 0) {
        return strerror(errno);
    }
    wrong = wrong_with(state->folder);
    if (wrong != NULL) {
        return wrong;
    }
    state->lock =
        openat(state->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (state->lock < 0) {
        return strerror(errno);
    }
    if (flock(state->lock, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? "another 'etwas ship' has this folder" : strerror(errno);
    }
    return NULL;
}

struct etwas_ship_state *etwas_ship_state_open(const char *folder)
{
    struct etwas_ship_state *state = calloc(1, sizeof *state);
    const char *wrong;

    if (state == NULL) {
        etwas_ship_message(folder, "there is not enough memory");
        return NULL;
    }
    state->folder = state->lock = -1;
    if (!make_folders(folder)) {
        wrong = strerror(errno);
    } else {
        (void)snprintf(state->path, sizeof state->path, "%s", folder);
        wrong = lock_folder(state);
    }
    if (wrong != NULL) {
        etwas_ship_message(folder, "what was sent cannot be kept there: %s", wrong);
        etwas_ship_state_close(state);
        return NULL;
    }
    return state;
}

void etwas_ship_state_close(struct etwas_ship_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->lock >= 0) {
        (void)close(state->lock);
    }
    if (state->folder >= 0) {
        (void)close(state->folder);
    }
    free(state);
}

/* ---- one cursor ------------------------------------------------------------------------------ */

static void name_file(const struct etwas_ship_key *key, char name[NAME_BYTES])
{
    uint64_t target = etwas_hash(ETWAS_HASH_OF_NOTHING, key->target, strlen(key->target));

    (void)snprintf(name, NAME_BYTES, "%016" PRIx64 "-%016" PRIx64 "-%08" PRIx32 "%s", target,
                   key->session, key->part, suffix);
}

/*
 * Returns the number of bytes, or -1 with errno. A file that is too long has
 * ETWAS_SHIP_CURSOR_BYTES, which no cursor has.
 */
static ssize_t read_all(int file, char text[ETWAS_SHIP_CURSOR_BYTES])
{
    size_t used = 0;

    while (used < ETWAS_SHIP_CURSOR_BYTES) {
        ssize_t got = read(file, text + used, ETWAS_SHIP_CURSOR_BYTES - used);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -1 : (ssize_t)used;
        }
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* If it returns false, *reason says what is wrong with the file. NULL: there is no file. */
static bool read_file(const struct etwas_ship_state *state, const char *name,
                      struct etwas_ship_cursor *cursor, struct stat *facts, const char **reason)
{
    char text[ETWAS_SHIP_CURSOR_BYTES];
    int file = openat(state->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t bytes = -1;

    *reason = NULL;
    if (file < 0) {
        *reason = errno == ENOENT ? NULL : strerror(errno);
        return false;
    }
    if (fstat(file, facts) != 0 ||
        (bytes = S_ISREG(facts->st_mode) ? read_all(file, text) : 0) < 0) {
        *reason = strerror(errno);
    } else if (!etwas_ship_cursor_read(text, (size_t)bytes, cursor)) {
        *reason = "it makes no sense";
    }
    (void)close(file);
    return *reason == NULL;
}

/* Renames the file. It replaces one that was set aside before. */
static void set_aside(const struct etwas_ship_state *state, const char *name, const char *reason)
{
    char aside[NAME_BYTES + 8];

    (void)snprintf(aside, sizeof aside, "%s.aside", name);
    if (unlinkat(state->folder, aside, 0) != 0) {
        (void)unlinkat(state->folder, aside, AT_REMOVEDIR);
    }
    (void)renameat(state->folder, name, state->folder, aside);
    etwas_ship_message(state->path, "%s is set aside: %s; the servers are asked what they have",
                       name, reason);
}

bool etwas_ship_state_read(struct etwas_ship_state *state, const struct etwas_ship_key *key,
                           struct etwas_ship_cursor *cursor)
{
    char name[NAME_BYTES];
    struct stat facts;
    const char *reason;
    bool is_found;

    name_file(key, name);
    is_found = read_file(state, name, cursor, &facts, &reason);
    if (is_found && (strcmp(cursor->key.target, key->target) != 0 ||
                     cursor->key.session != key->session || cursor->key.part != key->part)) {
        reason = "it is of another file";
    }
    if (reason != NULL) {
        set_aside(state, name, reason);
        return false;
    }
    return is_found;
}

bool etwas_ship_state_find(struct etwas_ship_state *state, const char *target,
                           const struct etwas_ship_facts *facts, struct etwas_ship_cursor *cursor)
{
    struct etwas_ship_key key = {.session = facts->session, .part = facts->part};

    (void)snprintf(key.target, sizeof key.target, "%s", target);
    if (etwas_ship_state_read(state, &key, cursor)) {
        return true;
    }
    *cursor = (struct etwas_ship_cursor){.key = key, .written_as = facts->written_as};
    return false;
}

static bool write_all(int file, const char *text, size_t bytes)
{
    while (bytes != 0) {
        ssize_t wrote = write(file, text, bytes);

        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        text += wrote > 0 ? wrote : 0;
        bytes -= wrote > 0 ? (size_t)wrote : 0;
    }
    return fsync(file) == 0;
}

bool etwas_ship_state_write(struct etwas_ship_state *state, const struct etwas_ship_cursor *cursor)
{
    char text[ETWAS_SHIP_CURSOR_BYTES];
    char name[NAME_BYTES];
    char fresh[NAME_BYTES + 8];
    size_t bytes = etwas_ship_cursor_write(cursor, text);
    bool is_written;
    int error;
    int file;

    name_file(&cursor->key, name);
    (void)snprintf(fresh, sizeof fresh, "%s.new", name);
    /* A file of this name was left by a killed shipper, or is a link that must not be followed. */
    (void)unlinkat(state->folder, fresh, 0);
    file = openat(state->folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return false;
    }
    is_written = write_all(file, text, bytes);
    error = errno;
    (void)close(file);
    if (is_written && renameat(state->folder, fresh, state->folder, name) == 0) {
        return fsync(state->folder) == 0;
    }
    errno = is_written ? errno : error;
    error = errno;
    (void)unlinkat(state->folder, fresh, 0);
    errno = error;
    return false;
}

bool etwas_ship_state_is_gone(const struct etwas_ship_state *state)
{
    struct stat facts;

    return fstat(state->folder, &facts) == 0 && facts.st_nlink == 0;
}

void etwas_ship_state_remove(struct etwas_ship_state *state, const struct etwas_ship_key *key)
{
    char name[NAME_BYTES];

    name_file(key, name);
    (void)unlinkat(state->folder, name, 0);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_cursor(const char *name)
{
    size_t bytes = strlen(name);

    return bytes > sizeof suffix - 1 && strcmp(name + bytes - (sizeof suffix - 1), suffix) == 0;
}

bool etwas_ship_state_each(struct etwas_ship_state *state, const char *target,
                           bool (*take)(void *context, const struct etwas_ship_cursor *cursor,
                                        int64_t age_s),
                           void *context)
{
    static struct etwas_ship_cursor cursor;
    int folder = openat(state->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;
    bool goes_on = true;
    const char *reason;
    struct stat facts;

    if (names == NULL) {
        if (folder >= 0) {
            (void)close(folder);
        }
        return false;
    }
    while (goes_on && (entry = readdir(names)) != NULL) {
        if (is_cursor(entry->d_name) && read_file(state, entry->d_name, &cursor, &facts, &reason) &&
            strcmp(cursor.key.target, target) == 0) {
            goes_on = take(context, &cursor, (int64_t)time(NULL) - (int64_t)facts.st_mtime);
        }
    }
    (void)closedir(names);
    return goes_on;
}
