/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/pools.h"

#include "cli/quiet.h"
#include "recover/recover.h"
#include "ship/message.h"
#include "ship/run/written.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POOL_CHARACTERS = 36 + 1 + 16, /* its session's GUID and the mark of its file */
    SHOWN_NAME_BYTES = 65,
};

static const char recovered_word[] = "-recovered-";
static const char log_suffix[] = ".etl";

/* ---- each pool ------------------------------------------------------------------------------- */

static bool is_pool_name(const char *name)
{
    static const char suffix[] = ".pool";
    size_t bytes = strlen(name);

    return bytes > sizeof suffix && strcmp(name + bytes - (sizeof suffix - 1), suffix) == 0;
}

static void each_of_folder(struct etwas_ship_run *run, const char *folder,
                           void (*take)(struct etwas_ship_run *run, const char *pool,
                                        const void *context),
                           const void *context)
{
    DIR *names = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];

    while (names != NULL && (entry = readdir(names)) != NULL) {
        if (is_pool_name(entry->d_name) &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path) {
            take(run, path, context);
        }
    }
    if (names != NULL) {
        (void)closedir(names);
    }
}

static void each_pool(struct etwas_ship_run *run,
                      void (*take)(struct etwas_ship_run *run, const char *pool,
                                   const void *context),
                      const void *context)
{
    char folder[PATH_MAX];

    if (run->settings->pools != NULL) {
        each_of_folder(run, run->settings->pools, take, context);
        return;
    }
    for (uint32_t i = 0; etwas_crash_safe_folder(i, folder, sizeof folder) == 0; i++) {
        each_of_folder(run, folder, take, context);
    }
}

/*
 * Returns whether a process has locked the pool. Nothing else is checked, since reading a large
 * pool each second would take too long.
 */
static bool is_held(const char *pool)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    int file = open(pool, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool is_held = true;

    if (file >= 0) {
        is_held = fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
        (void)close(file);
    }
    return is_held;
}

static void name_pool(const etwas_guid *guid, uint64_t mark, char text[POOL_CHARACTERS + 1])
{
    const uint8_t *last = guid->Data4;

    (void)snprintf(text, POOL_CHARACTERS + 1,
                   "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x-%016" PRIx64, guid->Data1,
                   guid->Data2, guid->Data3, last[0], last[1], last[2], last[3], last[4], last[5],
                   last[6], last[7], mark);
}

/* ---- one becomes a file ---------------------------------------------------------------------- */

/* Returns whether the session's log file is, or was, in the folder. */
static bool is_of_folder(const struct etwas_ship_run *run, const etwas_recovered *found)
{
    char folder[PATH_MAX];
    struct stat its;
    struct stat ours;
    char *slash;

    if (found->log_file[0] != '/' ||
        snprintf(folder, sizeof folder, "%s", found->log_file) >= (int)sizeof folder) {
        return false;
    }
    slash = strrchr(folder, '/');
    slash[slash == folder] = '\0';
    return stat(folder, &its) == 0 && stat(run->folder, &ours) == 0 && its.st_dev == ours.st_dev &&
           its.st_ino == ours.st_ino;
}

static void name_file(const struct etwas_ship_run *run, const etwas_recovered *found, uint64_t mark,
                      char path[PATH_MAX])
{
    char pool[POOL_CHARACTERS + 1];
    char name[SHOWN_NAME_BYTES];

    etwas_recover_file_name(found, name, sizeof name);
    if (name[0] == '.') {
        name[0] = '_';
    }
    name_pool(&found->session, mark, pool);
    (void)snprintf(path, PATH_MAX, "%.3900s/%s%s%s%s", run->folder, name, recovered_word, pool,
                   log_suffix);
}

/* Creates the file durably under its name, or not at all. */
static bool make_file(const struct etwas_ship_run *run, const char *pool, const char *path)
{
    static etwas_recovered recovered;
    char hidden[PATH_MAX];
    uint32_t code;
    int file;
    bool is_made;

    (void)snprintf(hidden, sizeof hidden, "%.4000s/.recovering%s", run->folder, log_suffix);
    (void)unlink(hidden);
    code = etwas_recover(pool, 0, hidden, &recovered);
    if (code != ERROR_SUCCESS) {
        etwas_ship_message(pool, "it cannot be recovered: %s", etwas_recover_error(code));
        (void)unlink(hidden);
        return false;
    }
    file = open(hidden, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    is_made = file >= 0 && fsync(file) == 0 &&
              renameat2(AT_FDCWD, hidden, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
    if (!is_made) {
        etwas_ship_message(pool, "what was recovered cannot be kept: %s", strerror(errno));
        (void)unlink(hidden);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return is_made;
}

static void take_pool(struct etwas_ship_run *run, const char *pool, const void *context)
{
    static etwas_recovered found;
    char path[PATH_MAX];
    struct stat facts;
    uint64_t mark;

    (void)context;
    if (!etwas_ship_is_file(pool, &facts) || facts.st_size == 0 || is_held(pool)) {
        return;
    }
    mark = etwas_ship_mark(pool, &facts);
    if (etwas_ship_sources_is_finished(&run->sources, mark)) {
        return;
    }
    etwas_ship_sources_remember(&run->sources, mark);
    if (etwas_recover(pool, 0, NULL, &found) != ERROR_SUCCESS || found.is_alive ||
        !is_of_folder(run, &found)) {
        return;
    }
    name_file(run, &found, mark, path);
    if (!etwas_ship_is_missing(path)) {
        return;
    }
    if (!make_file(run, pool, path)) {
        run->unsent++;
    } else if (!etwas_is_quiet) {
        etwas_ship_message(path, "recovered of a session whose process died");
    }
}

void etwas_ship_pools_look(struct etwas_ship_run *run)
{
    each_pool(run, take_pool, NULL);
}

/* ---- one goes -------------------------------------------------------------------------------- */

static void remove_pool(struct etwas_ship_run *run, const char *pool, const void *context)
{
    static etwas_recovered found;
    char name[POOL_CHARACTERS + 1];
    struct stat facts;

    (void)run;
    if (!etwas_ship_is_file(pool, &facts) || is_held(pool) ||
        etwas_recover(pool, 0, NULL, &found) != ERROR_SUCCESS || found.is_alive) {
        return;
    }
    name_pool(&found.session, etwas_ship_mark(pool, &facts), name);
    if (strcmp(name, context) == 0 && unlink(pool) != 0) {
        etwas_ship_message(pool, "it has arrived, and cannot be removed: %s", strerror(errno));
    }
}

void etwas_ship_pools_arrived(struct etwas_ship_run *run, const char *path)
{
    char pool[POOL_CHARACTERS + 1];
    size_t bytes = strlen(path);
    const size_t behind = sizeof log_suffix - 1;
    const size_t before = sizeof recovered_word - 1;

    if (bytes < before + POOL_CHARACTERS + behind) {
        return;
    }
    memcpy(pool, path + bytes - behind - POOL_CHARACTERS, POOL_CHARACTERS);
    pool[POOL_CHARACTERS] = '\0';
    if (memcmp(path + bytes - behind - POOL_CHARACTERS - before, recovered_word, before) == 0) {
        each_pool(run, remove_pool, pool);
    }
}
