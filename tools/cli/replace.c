/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "cli/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *command, const char *path, const char *reason)
{
    fprintf(stderr, "%s: '%s': %s\n", command, path, reason);
    return false;
}

bool etwas_replace_read_path(const struct etwas_option_use *use)
{
    if (strcmp(use->text, "-") == 0) {
        fprintf(stderr,
                "etwas %s: --%s: a session cannot write its trace to standard output. Name a file, "
                "or ./- for one that is called so\n",
                use->command, use->option->name);
        return false;
    }
    *(const char **)use->place = use->text;
    return true;
}

/* Checks for the lock that the library holds on a log file while it writes. */
static bool is_in_use(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_locked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (file >= 0) {
        (void)close(file);
    }
    return is_locked;
}

bool etwas_replace_may(const char *command, const char *path, bool force)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return true;
    }
    if (is_in_use(path)) {
        return refuse(command, path, "a session writes this file. It needs another name");
    }
    return force || status.st_size == 0 ||
           refuse(command, path, "the file is there already. --force replaces it");
}

/* Finds the field for a number: %d, %3d or %03d. Returns NULL if there is none. */
static const char *find_field(const char *name, size_t *length)
{
    for (const char *field = strchr(name, '%'); field != NULL; field = strchr(field + 1, '%')) {
        *length = 1 + strspn(field + 1, "0123456789");
        if (field[(*length)++] == 'd') {
            return field;
        }
    }
    return NULL;
}

/* Returns whether `name` is the pattern with a number in place of the field. */
static bool is_numbered(const char *name, const char *pattern, const char *field, size_t length)
{
    size_t before = (size_t)(field - pattern);
    size_t digits;

    if (strncmp(name, pattern, before) != 0) {
        return false;
    }
    name += before;
    name += strspn(name, " ");
    digits = strspn(name, "0123456789");
    return digits != 0 && strcmp(name + digits, field + length) == 0;
}

bool etwas_replace_may_numbered(const char *command, const char *pattern, bool force)
{
    const char *slash = strrchr(pattern, '/');
    const char *name = slash != NULL ? slash + 1 : pattern;
    size_t length = 0;
    const char *field = find_field(name, &length);
    char *folder = slash != NULL ? strndup(pattern, (size_t)(name - pattern)) : strdup(".");
    DIR *files = folder != NULL && field != NULL ? opendir(folder) : NULL;
    const struct dirent *entry;
    bool may = field != NULL || etwas_replace_may(command, pattern, force);

    while (may && files != NULL && (entry = readdir(files)) != NULL) {
        char *path = NULL;

        if (is_numbered(entry->d_name, name, field, length) &&
            asprintf(&path, "%s/%s", folder, entry->d_name) >= 0) {
            may = etwas_replace_may(command, path, force);
            free(path);
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    free(folder);
    return may;
}

bool etwas_replace_is_empty(const char *folder)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    bool is_empty = true;

    while (files != NULL && is_empty && (entry = readdir(files)) != NULL) {
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return is_empty;
}

/* Returns the name that the library gives to the first file of a set; NULL without memory. */
static char *first_of(const char *pattern)
{
    size_t length = 0;
    const char *field = find_field(pattern, &length);
    char *name = NULL;
    int width = field != NULL ? (int)strtol(field + 1, NULL, 10) : 0;

    if (field == NULL) {
        return strdup(pattern);
    }
    return asprintf(&name, field[1] == '0' ? "%.*s%0*d%s" : "%.*s%*d%s", (int)(field - pattern),
                    pattern, width, 1, field + length) >= 0
               ? name
               : NULL;
}

bool etwas_replace_begin(struct etwas_replaced *replaced, const char *command, const char *given,
                         bool numbered, bool force)
{
    struct stat status;
    bool is_there;
    int taken;
    char *path = numbered ? first_of(given) : strdup(given);

    *replaced = (struct etwas_replaced){.path = path};
    if (path == NULL) {
        return refuse(command, given, strerror(errno));
    }
    if (!etwas_replace_may(command, path, force)) {
        return false;
    }
    is_there = lstat(path, &status) == 0;
    replaced->is_known = is_there ? S_ISREG(status.st_mode) : errno == ENOENT;
    if (!is_there || !replaced->is_known) {
        return true;
    }
    if (asprintf(&replaced->aside, "%s.XXXXXX", path) < 0) {
        replaced->aside = NULL;
        return refuse(command, path, strerror(errno));
    }
    taken = mkostemp(replaced->aside, O_CLOEXEC);
    if (taken >= 0 && close(taken) == 0 && rename(path, replaced->aside) == 0) {
        return true;
    }
    refuse(command, path, strerror(errno));
    if (taken >= 0) {
        (void)unlink(replaced->aside);
    }
    free(replaced->aside);
    replaced->aside = NULL;
    replaced->is_known = false;
    return false;
}

void etwas_replace_end(struct etwas_replaced *replaced, bool has_begun)
{
    if (!has_begun && replaced->is_known && !is_in_use(replaced->path)) {
        (void)unlink(replaced->path);
    }
    if (replaced->aside != NULL) {
        (void)(has_begun ? unlink(replaced->aside) : rename(replaced->aside, replaced->path));
    }
    free(replaced->aside);
    free(replaced->path);
    *replaced = (struct etwas_replaced){.path = NULL};
}
