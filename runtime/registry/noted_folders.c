/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/noted_folders.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"

static const char notes_name[] = "folders";

enum {
    NAME_BYTES = 24,
};

/* ---- notes ----------------------------------------------------------------------------------- */

static void name_note(const char *path, char name[NAME_BYTES])
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */

    for (; *path != 0; path++) {
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001B3);
    }
    (void)snprintf(name, NAME_BYTES, "f.%016llx", (unsigned long long)hash);
}

/* Each process that needs it writes it, always the same: what one that is killed leaves unfinished the next one finishes. */
static void write_note(int notes, const char *path)
{
    char name[NAME_BYTES];
    int note;

    name_note(path, name);
    note = openat(notes, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (note >= 0) {
        (void)(pwrite(note, path, strlen(path) + 1, 0) > 0); /* without space it is not noted */
        (void)close(note);
    }
}

/* False: it is not finished, or none. */
static bool read_note(int notes, const char *name, char path[ETWAS_FOLDER_BYTES], uint32_t *code)
{
    int note = openat(notes, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    size_t length = 0;

    if (note < 0) {
        *code = etwas_file_open_error(errno);
        return false;
    }
    length = etwas_file_read(note, path, ETWAS_FOLDER_BYTES, 0);
    (void)close(note);
    return length != 0 && path[0] == '/' && path[length - 1] == 0;
}

/* ---- which are noted ------------------------------------------------------------------------- */

static bool is_folder(int folder, const char *path)
{
    struct stat own;
    struct stat named;

    return fstat(folder, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

static bool is_known(int folder, const char *path)
{
    char name[ETWAS_FOLDER_BYTES];
    bool it_is = false;

    for (uint32_t index = 0; !it_is && etwas_shared_folder_of_all(index, name); index++) {
        it_is = strcmp(name, path) == 0 || is_folder(folder, name);
    }
    return it_is;
}

void etwas_noted_folders_add(int folder, const char *path)
{
    char of_all[ETWAS_FOLDER_BYTES];
    char opened[ETWAS_FOLDER_BYTES];
    int last;
    int notes;

    if (is_known(folder, path) || !etwas_shared_folder_of_all(ETWAS_FOLDERS_OF_ALL - 1, of_all) ||
        etwas_shared_folder_open(of_all, opened, &last) != ERROR_SUCCESS) {
        return;
    }
    (void)mkdirat(last, notes_name, 0700);
    notes = openat(last, notes_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (notes >= 0) {
        write_note(notes, path);
        (void)close(notes);
    }
    (void)close(last);
}

/* ---- looking --------------------------------------------------------------------------------- */

uint32_t etwas_noted_folders_open(DIR **notes)
{
    char of_all[ETWAS_FOLDER_BYTES];
    uint32_t code;
    int opened;
    int last;

    *notes = NULL;
    code = etwas_shared_folder_of_all(ETWAS_FOLDERS_OF_ALL - 1, of_all)
               ? etwas_shared_folder_reach(of_all, &last)
               : (uint32_t)ERROR_PATH_NOT_FOUND;
    if (code == ERROR_SUCCESS) {
        opened = openat(last, notes_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        code = opened < 0 ? etwas_file_open_error(errno) : (uint32_t)ERROR_SUCCESS;
        (void)close(last);
    }
    if (code == ERROR_SUCCESS) {
        *notes = fdopendir(opened);
        if (*notes == NULL) {
            (void)close(opened);
            code = ERROR_NO_SYSTEM_RESOURCES;
        }
    }
    return code == ERROR_NO_SYSTEM_RESOURCES ? code : (uint32_t)ERROR_SUCCESS;
}

bool etwas_noted_folders_next(DIR *notes, char path[ETWAS_FOLDER_BYTES], uint32_t *code)
{
    const struct dirent *found;

    *code = ERROR_SUCCESS;
    while (*code != ERROR_NO_SYSTEM_RESOURCES && (found = readdir(notes)) != NULL) {
        if (strncmp(found->d_name, "f.", 2) == 0 &&
            read_note(dirfd(notes), found->d_name, path, code)) {
            return true;
        }
    }
    return false;
}

static bool is_named(const char *path)
{
    char name[ETWAS_FOLDER_BYTES];
    bool it_is = false;

    for (uint32_t index = 0; !it_is && etwas_shared_folder_name(index, name); index++) {
        it_is = strcmp(name, path) == 0;
    }
    return it_is;
}

bool etwas_noted_folders_name(uint32_t index, char path[ETWAS_FOLDER_BYTES])
{
    uint32_t count = 0;
    bool is_found = false;
    uint32_t code;
    DIR *notes;

    while (etwas_shared_folder_name(count, path)) {
        if (count++ == index) {
            return true;
        }
    }
    if (etwas_shared_folder_is_alone()) {
        return false;
    }
    (void)etwas_noted_folders_open(&notes);
    while (notes != NULL && !is_found && etwas_noted_folders_next(notes, path, &code)) {
        is_found = !is_named(path) && count++ == index;
    }
    if (notes != NULL) {
        (void)closedir(notes);
    }
    return is_found;
}

/* ---- clearing -------------------------------------------------------------------------------- */

static bool is_gone(const char *path)
{
    int folder;
    uint32_t code = etwas_shared_folder_reach(path, &folder);

    if (code == ERROR_SUCCESS) {
        (void)close(folder);
    }
    return code == ERROR_PATH_NOT_FOUND;
}

/*
 * A process that makes the folder anew may find its note just before the note is removed. So the note is renamed first, to
 * t.HASH: a process that makes the folder later writes a note of its own, and for one that did so earlier this one does.
 */
static bool clear(int notes, const char *name)
{
    char path[ETWAS_FOLDER_BYTES];
    char taken[NAME_BYTES];
    uint32_t code;

    (void)snprintf(taken, sizeof taken, "t%.22s", name + 1);
    if (!read_note(notes, name, path, &code) ||
        (name[0] != 't' && (!is_gone(path) || renameat(notes, name, notes, taken) != 0))) {
        return false;
    }
    if (!is_gone(path)) {
        write_note(notes, path);
    }
    return unlinkat(notes, taken, 0) == 0;
}

uint32_t etwas_noted_folders_clear(void)
{
    const struct dirent *found;
    uint32_t removed = 0;
    DIR *notes;

    (void)etwas_noted_folders_open(&notes);
    while (notes != NULL && (found = readdir(notes)) != NULL) {
        if (strncmp(found->d_name, "f.", 2) == 0 || strncmp(found->d_name, "t.", 2) == 0) {
            removed += clear(dirfd(notes), found->d_name);
        }
    }
    if (notes != NULL) {
        (void)closedir(notes);
    }
    return removed;
}
