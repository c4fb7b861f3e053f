/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/folder.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"

static const char list_name[] = "folders";

enum {
    NAME_BYTES = 24,
};

/* ---- the list's files ------------------------------------------------------------------------ */

static void listed_folder_name(const char *path, char name[NAME_BYTES])
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */

    for (; *path != 0; path++) {
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001B3);
    }
    (void)snprintf(name, NAME_BYTES, "f.%016llx", (unsigned long long)hash);
}

/*
 * Each process that needs the file writes it, always with the same content. If a process is killed
 * before it finishes, the next one finishes.
 */
static void listed_folder_write(int list, const char *path)
{
    char name[NAME_BYTES];
    int file;

    listed_folder_name(path, name);
    file = openat(list, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        (void)(pwrite(file, path, strlen(path) + 1, 0) >
               0); /* without space the folder is not listed */
        (void)close(file);
    }
}

/* Reads one file of the list. Returns false if it is incomplete, or is no file of the list. */
static bool listed_folder_read(int list, const char *name, char path[ETWAS_FOLDER_BYTES],
                               uint32_t *code)
{
    int file = openat(list, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    size_t length = 0;

    if (file < 0) {
        *code = etwas_file_open_error(errno);
        return false;
    }
    length = etwas_file_read(file, path, ETWAS_FOLDER_BYTES, 0);
    (void)close(file);
    return length != 0 && path[0] == '/' && path[length - 1] == 0;
}

/* ---- folders to list ------------------------------------------------------------------------- */

static bool listed_folder_is_folder(int folder, const char *path)
{
    struct stat own;
    struct stat named;

    return fstat(folder, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

static bool listed_folder_is_known(int folder, const char *path)
{
    char name[ETWAS_FOLDER_BYTES];
    bool it_is = false;

    for (uint32_t index = 0; !it_is && etwas_shared_folder_of_all(index, name); index++) {
        it_is = strcmp(name, path) == 0 || listed_folder_is_folder(folder, name);
    }
    return it_is;
}

void etwas_listed_folders_add(int folder, const char *path)
{
    char of_all[ETWAS_FOLDER_BYTES];
    char opened[ETWAS_FOLDER_BYTES];
    int last;
    int list;

    if (listed_folder_is_known(folder, path) ||
        !etwas_shared_folder_of_all(ETWAS_FOLDERS_OF_ALL - 1, of_all) ||
        etwas_shared_folder_open(of_all, opened, &last) != ERROR_SUCCESS) {
        return;
    }
    (void)mkdirat(last, list_name, 0700);
    list = openat(last, list_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (list >= 0) {
        listed_folder_write(list, path);
        (void)close(list);
    }
    (void)close(last);
}

/* ---- reading the list ------------------------------------------------------------------------ */

uint32_t etwas_listed_folders_open(DIR **list)
{
    char of_all[ETWAS_FOLDER_BYTES];
    uint32_t code;
    int opened;
    int last;

    *list = NULL;
    code = etwas_shared_folder_of_all(ETWAS_FOLDERS_OF_ALL - 1, of_all)
               ? etwas_shared_folder_reach(of_all, &last)
               : (uint32_t)ERROR_PATH_NOT_FOUND;
    if (code == ERROR_SUCCESS) {
        opened = openat(last, list_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        code = opened < 0 ? etwas_file_open_error(errno) : (uint32_t)ERROR_SUCCESS;
        (void)close(last);
    }
    if (code == ERROR_SUCCESS) {
        *list = fdopendir(opened);
        if (*list == NULL) {
            (void)close(opened);
            code = ERROR_NO_SYSTEM_RESOURCES;
        }
    }
    return code == ERROR_NO_SYSTEM_RESOURCES ? code : (uint32_t)ERROR_SUCCESS;
}

bool etwas_listed_folders_next(DIR *list, char path[ETWAS_FOLDER_BYTES], uint32_t *code)
{
    const struct dirent *found;

    *code = ERROR_SUCCESS;
    while (*code != ERROR_NO_SYSTEM_RESOURCES && (found = readdir(list)) != NULL) {
        if (strncmp(found->d_name, "f.", 2) == 0 &&
            listed_folder_read(dirfd(list), found->d_name, path, code)) {
            return true;
        }
    }
    return false;
}

static bool listed_folder_is_named(const char *path)
{
    char name[ETWAS_FOLDER_BYTES];
    bool it_is = false;

    for (uint32_t index = 0; !it_is && etwas_shared_folder_name(index, name); index++) {
        it_is = strcmp(name, path) == 0;
    }
    return it_is;
}

bool etwas_listed_folders_name(uint32_t index, char path[ETWAS_FOLDER_BYTES])
{
    uint32_t count = 0;
    bool is_found = false;
    uint32_t code;
    DIR *list;

    while (etwas_shared_folder_name(count, path)) {
        if (count++ == index) {
            return true;
        }
    }
    if (etwas_shared_folder_is_alone()) {
        return false;
    }
    (void)etwas_listed_folders_open(&list);
    while (list != NULL && !is_found && etwas_listed_folders_next(list, path, &code)) {
        is_found = !listed_folder_is_named(path) && count++ == index;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return is_found;
}

/* ---- clearing the list ----------------------------------------------------------------------- */

static bool listed_folder_is_gone(const char *path)
{
    int folder;
    uint32_t code = etwas_shared_folder_reach(path, &folder);

    if (code == ERROR_SUCCESS) {
        (void)close(folder);
    }
    return code == ERROR_PATH_NOT_FOUND;
}

/*
 * A process that makes the folder again may find its file just before this removes it. So the file
 * is renamed first, to t.HASH. A process that makes the folder later writes its own file; for one
 * that made it earlier this call writes the file again.
 */
static bool listed_folder_clear(int list, const char *name)
{
    char path[ETWAS_FOLDER_BYTES];
    char taken[NAME_BYTES];
    uint32_t code;

    (void)snprintf(taken, sizeof taken, "t%.22s", name + 1);
    if (!listed_folder_read(list, name, path, &code) ||
        (name[0] != 't' &&
         (!listed_folder_is_gone(path) || renameat(list, name, list, taken) != 0))) {
        return false;
    }
    if (!listed_folder_is_gone(path)) {
        listed_folder_write(list, path);
    }
    return unlinkat(list, taken, 0) == 0;
}

uint32_t etwas_listed_folders_clear(void)
{
    const struct dirent *found;
    uint32_t removed = 0;
    DIR *list;

    (void)etwas_listed_folders_open(&list);
    while (list != NULL && (found = readdir(list)) != NULL) {
        if (strncmp(found->d_name, "f.", 2) == 0 || strncmp(found->d_name, "t.", 2) == 0) {
            removed += listed_folder_clear(dirfd(list), found->d_name);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return removed;
}
