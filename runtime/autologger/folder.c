/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "autologger/folder.h"

#include <dirent.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".autologger";

enum {
    SUFFIX = sizeof suffix - 1,
    FOLDERS = 2, /* the user's, whose files hide those of the same name in the system's */
};

/* Reports a file without a name. */
static const char not_a_name[] =
    "the name of such a file ends with .autologger, and is not too long";

/* ---- trust ----------------------------------------------------------------------------------- */

/* Returns why it is not trusted; NULL: it is. */
static const char *search_distrust_reason(const struct stat *status)
{
    bool is_secure = getauxval(AT_SECURE) != 0;

    if (status->st_uid != 0 && (is_secure || status->st_uid != geteuid())) {
        return "it belongs to another user";
    }
    return (status->st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "others than its owner may write it"
                                                        : NULL;
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Returns false if there is none. */
static bool search_folder_path(uint32_t folder, char path[PATH_MAX])
{
    const char *configuration = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    int length;

    if (folder == FOLDERS - 1) {
        length = snprintf(path, PATH_MAX, "/etc/etwas");
    } else if (configuration != NULL && configuration[0] == '/') {
        length = snprintf(path, PATH_MAX, "%s/etwas", configuration);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, PATH_MAX, "%s/.config/etwas", home);
    } else {
        return false;
    }
    return length < PATH_MAX;
}

/* Returns -1 if there is none; the path is then empty or not a folder's. */
static int search_open_folder(uint32_t folder, char path[PATH_MAX])
{
    if (!search_folder_path(folder, path)) {
        path[0] = '\0';
        return -1;
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Returns why it is not trusted; NULL: it is. */
static const char *search_folder_distrust_reason(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) == 0 ? search_distrust_reason(&status)
                                           : "it cannot be looked at";
}

/* ---- reading a file -------------------------------------------------------------------------- */

static void search_refuse(struct etwas_autologger_source *source, uint32_t code, const char *reason)
{
    source->code = code;
    source->reason = reason;
}

static void search_read_all(struct etwas_autologger_source *source, int file)
{
    ssize_t bytes = 1;

    source->text = malloc(ETWAS_AUTOLOGGER_BYTES + 1);
    if (source->text == NULL) {
        search_refuse(source, ERROR_NOT_ENOUGH_MEMORY, NULL);
        return;
    }
    while (source->bytes <= ETWAS_AUTOLOGGER_BYTES && bytes > 0) {
        bytes =
            read(file, source->text + source->bytes, ETWAS_AUTOLOGGER_BYTES + 1 - source->bytes);
        source->bytes += bytes > 0 ? (size_t)bytes : 0;
    }
    if (bytes < 0) {
        search_refuse(source, ERROR_ACCESS_DENIED, "it cannot be read");
    } else if (source->bytes > ETWAS_AUTOLOGGER_BYTES) {
        search_refuse(source, ERROR_INVALID_DATA, "it is larger than 64 KB");
    }
}

/* It does not wait for a file that is not regular, such as a pipe. */
static void search_read_file(struct etwas_autologger_source *source, int folder, const char *name)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    const char *reason;

    if (file < 0) {
        bool is_missing = errno == ENOENT || errno == ENOTDIR;

        search_refuse(source, is_missing ? ERROR_FILE_NOT_FOUND : ERROR_ACCESS_DENIED,
                      is_missing ? "there is no such file" : "it cannot be opened");
        return;
    }
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        search_refuse(source, ERROR_ACCESS_DENIED, "it is no regular file");
    } else if ((reason = search_distrust_reason(&status)) != NULL) {
        search_refuse(source, ERROR_ACCESS_DENIED, reason);
    } else {
        search_read_all(source, file);
    }
    (void)close(file);
}

/* Stores the session's name of a file. Returns false if it is no file of an AutoLogger. */
static bool search_set_session(struct etwas_autologger_source *source, const char *name,
                               size_t bytes)
{
    if (bytes <= SUFFIX || bytes - SUFFIX >= sizeof source->session || name[0] == '.' ||
        memcmp(name + bytes - SUFFIX, suffix, SUFFIX) != 0) {
        return false;
    }
    (void)snprintf(source->session, sizeof source->session, "%.*s", (int)(bytes - SUFFIX), name);
    return true;
}

/* Reads a file in an open, trusted folder. */
static void search_read_in_folder(struct etwas_autologger_source *source, int descriptor,
                                  const char *folder, const char *name)
{
    if ((size_t)snprintf(source->path, sizeof source->path, "%.*s/%s", PATH_MAX - NAME_MAX - 2,
                         folder, name) >= sizeof source->path) {
        search_refuse(source, ERROR_INVALID_DATA, not_a_name);
        return;
    }
    search_read_file(source, descriptor, name);
}

static void search_refuse_folder(struct etwas_autologger_source *source, const char *folder,
                                 const char *reason)
{
    source->session[0] = '\0';
    (void)snprintf(source->path, sizeof source->path, "%s", folder);
    search_refuse(source, ERROR_ACCESS_DENIED, reason);
}

/* ---- by name --------------------------------------------------------------------------------- */

static void search_read_path(struct etwas_autologger_source *source, const char *name, size_t bytes)
{
    const char *file = name + bytes;

    while (file != name && file[-1] != '/') {
        file--;
    }
    if (bytes >= sizeof source->path ||
        !search_set_session(source, file, bytes - (size_t)(file - name))) {
        (void)snprintf(source->path, sizeof source->path, "%.*s", PATH_MAX - 1, name);
        search_refuse(source, ERROR_INVALID_DATA, not_a_name);
        return;
    }
    (void)snprintf(source->path, sizeof source->path, "%.*s", (int)bytes, name);
    search_read_file(source, AT_FDCWD, source->path);
}

/* If there is no such file the source stays as it is. */
static void search_read_name_in(struct etwas_autologger_source *source, uint32_t folder,
                                const char *file)
{
    char path[PATH_MAX];
    int descriptor = search_open_folder(folder, path);
    const char *reason;

    if (descriptor < 0) {
        return;
    }
    if (faccessat(descriptor, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        reason = search_folder_distrust_reason(descriptor);
        search_refuse(source, ERROR_SUCCESS, NULL);
        if (reason != NULL) {
            search_refuse_folder(source, path, reason);
        } else {
            search_read_in_folder(source, descriptor, path, file);
        }
    }
    (void)close(descriptor);
}

static void search_read_name(struct etwas_autologger_source *source, const char *name, size_t bytes)
{
    char file[NAME_MAX + 1];

    if (memchr(name, '/', bytes) != NULL) {
        search_read_path(source, name, bytes);
        return;
    }
    (void)snprintf(source->path, sizeof source->path, "%.*s",
                   (int)(bytes < NAME_MAX ? bytes : NAME_MAX), name);
    if (bytes + SUFFIX > NAME_MAX) {
        search_refuse(source, ERROR_INVALID_DATA, not_a_name);
        return;
    }
    (void)snprintf(file, sizeof file, "%.*s%s", (int)bytes, name, suffix);
    search_refuse(source, ERROR_FILE_NOT_FOUND,
                  "there is no such file in the folders of AutoLoggers");
    if (!search_set_session(source, file, bytes + SUFFIX)) {
        return;
    }
    for (uint32_t folder = 0; folder < FOLDERS && source->code == ERROR_FILE_NOT_FOUND; folder++) {
        search_read_name_in(source, folder, file);
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

void etwas_autologger_search_begin(struct etwas_autologger_search *search, const char *name)
{
    *search = (struct etwas_autologger_search){.descriptor = -1, .is_one = name != NULL};
    search->listed = secure_getenv("ETWAS_AUTOLOGGER");
    search->names = name != NULL ? name : search->listed;
    if (!search->is_one && search->names != NULL &&
        (search->names[0] == '\0' || strcmp(search->names, "0") == 0)) {
        search->names = NULL;
        search->folder = FOLDERS; /* none at all */
    }
}

/* Whether the environment contains the name. */
static bool search_is_listed(const struct etwas_autologger_search *search, const char *name,
                             size_t bytes)
{
    const char *listed = search->listed;

    while (listed != NULL) {
        size_t length = strcspn(listed, ":");

        if (length == bytes && memcmp(listed, name, bytes) == 0) {
            return true;
        }
        listed = listed[length] == ':' ? listed + length + 1 : NULL;
    }
    return false;
}

static bool search_next_named(struct etwas_autologger_search *search,
                              struct etwas_autologger_source *source)
{
    while (search->names != NULL) {
        const char *name = search->names;
        size_t bytes = search->is_one ? strlen(name) : strcspn(name, ":");

        search->names = name[bytes] == ':' ? name + bytes + 1 : NULL;
        if (bytes != 0 || search->is_one) {
            source->is_in_environment = search_is_listed(search, name, bytes);
            search_read_name(source, name, bytes);
            return true;
        }
    }
    return false;
}

static int search_is_ours(const struct dirent *entry)
{
    size_t bytes = strlen(entry->d_name);

    return bytes > SUFFIX && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + bytes - SUFFIX, suffix) == 0;
}

static int search_by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void search_free_entries(struct etwas_autologger_search *search)
{
    for (int i = 0; i < search->count; i++) {
        free(search->entries[i]);
    }
    free(search->entries);
    if (search->descriptor >= 0) {
        (void)close(search->descriptor);
    }
    search->entries = NULL;
    search->count = 0;
    search->descriptor = -1;
}

/*
 * Whether the environment names it, or the user has a file with this name, so that it was found
 * already.
 */
static bool search_has_come(const struct etwas_autologger_search *search, const char *session)
{
    const char *name = search->entries[search->next]->d_name;
    char path[PATH_MAX];
    struct stat status;
    bool is_hidden;
    int users;

    if (search_is_listed(search, session, strlen(session))) {
        return true;
    }
    if (search->folder != FOLDERS) {
        return false;
    }
    users = search_open_folder(0, path);
    is_hidden = users >= 0 && search_folder_distrust_reason(users) == NULL &&
                fstatat(users, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (users >= 0) {
        (void)close(users);
    }
    return is_hidden;
}

/* `folder` is the one after the folder being read. */
static bool search_next_in_folder(struct etwas_autologger_search *search,
                                  struct etwas_autologger_source *source)
{
    for (; search->next < search->count; search->next++) {
        const char *name = search->entries[search->next]->d_name;

        if (search_set_session(source, name, strlen(name)) &&
            !search_has_come(search, source->session)) {
            search_read_in_folder(source, search->descriptor, search->path, name);
            search->next++;
            return true;
        }
    }
    return false;
}

/*
 * Opens a folder. Returns false if it is not trusted; the source says why. A folder that does not
 * exist has no files.
 */
static bool search_begin_folder(struct etwas_autologger_search *search,
                                struct etwas_autologger_source *source)
{
    const char *reason;
    int count;

    search->next = 0;
    search->descriptor = search_open_folder(search->folder++, search->path);
    if (search->descriptor < 0) {
        return true;
    }
    reason = search_folder_distrust_reason(search->descriptor);
    if (reason != NULL) {
        search_refuse_folder(source, search->path, reason);
        return false;
    }
    count = scandirat(search->descriptor, ".", &search->entries, search_is_ours, search_by_name);
    search->count = count > 0 ? count : 0;
    return true;
}

bool etwas_autologger_search_next(struct etwas_autologger_search *search,
                                  struct etwas_autologger_source *source)
{
    *source = (struct etwas_autologger_source){0};
    if (search_next_named(search, source)) {
        return true;
    }
    while (!search_next_in_folder(search, source)) {
        search_free_entries(search);
        if (search->is_one || search->folder == FOLDERS) {
            return false;
        }
        if (!search_begin_folder(search, source)) {
            return true;
        }
    }
    return true;
}

void etwas_autologger_source_free(struct etwas_autologger_source *source)
{
    free(source->text);
    source->text = NULL;
}

void etwas_autologger_search_end(struct etwas_autologger_search *search)
{
    search_free_entries(search);
}

/* ---- FileMax --------------------------------------------------------------------------------- */

void etwas_autologger_choose_file(char file_name[ETWAS_AUTOLOGGER_PATH_BYTES], uint32_t file_max)
{
    char oldest[ETWAS_AUTOLOGGER_PATH_BYTES];
    char name[ETWAS_AUTOLOGGER_PATH_BYTES];
    struct timespec oldest_time = {0};

    for (uint32_t number = 0; number < file_max; number++) {
        struct stat status;
        int length = number == 0 ? snprintf(name, sizeof name, "%s", file_name)
                                 : snprintf(name, sizeof name, "%s.%04u", file_name, number);

        if ((size_t)length >= sizeof name) {
            return; /* starting the session fails with such a name */
        }
        if (stat(name, &status) != 0) {
            (void)memcpy(file_name, name, sizeof name);
            return;
        }
        if (number == 0 || status.st_mtim.tv_sec < oldest_time.tv_sec ||
            (status.st_mtim.tv_sec == oldest_time.tv_sec &&
             status.st_mtim.tv_nsec < oldest_time.tv_nsec)) {
            oldest_time = status.st_mtim;
            memcpy(oldest, name, sizeof name);
        }
    }
    memcpy(file_name, oldest, sizeof oldest);
}
