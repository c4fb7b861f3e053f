/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/folder.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"

uint32_t etwas_shared_folder_reach(const char *path, int *descriptor)
{
    struct stat facts;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0) { /* the path is a link, or no folder */
        return errno == ELOOP || errno == ENOTDIR ? ERROR_ACCESS_DENIED
                                                  : etwas_file_open_error(errno);
    }
    if (fstat(folder, &facts) != 0 || facts.st_uid != geteuid() || (facts.st_mode & 077) != 0) {
        (void)close(folder);
        return ERROR_ACCESS_DENIED;
    }
    *descriptor = folder;
    return ERROR_SUCCESS;
}

static uint32_t open_folder(const char *path, int *descriptor)
{
    uint32_t code;

    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return etwas_file_open_error(errno);
    }
    code = etwas_shared_folder_reach(path, descriptor);
    if (code == ERROR_SUCCESS && faccessat(*descriptor, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        code = etwas_file_open_error(errno); /* the file system is read-only */
        (void)close(*descriptor);
    }
    return code;
}

/*
 * Joins an absolute path, which is needed when the program has changed its folder. Returns false if
 * it is longer than any path may be.
 */
static bool folder_join(char path[ETWAS_FOLDER_BYTES], const char *folder, const char *name)
{
    char here[ETWAS_FOLDER_BYTES] = "";
    int length;

    if (folder[0] != '/' && getcwd(here, sizeof here - 1) != NULL) {
        (void)strcat(here, "/");
    }
    length = snprintf(path, ETWAS_FOLDER_BYTES, "%s%s%s", here, folder, name);
    return length > 0 && length < ETWAS_FOLDER_BYTES;
}

static bool folder_join_user(char path[ETWAS_FOLDER_BYTES], const char *format)
{
    char name[64];

    (void)snprintf(name, sizeof name, format, (unsigned)geteuid());
    return folder_join(path, name, "");
}

/*
 * Returns whether $XDG_RUNTIME_DIR is the user's own and another folder than /run/user/UID, which
 * is searched anyway. In another user's environment (su, sudo) it is that user's, and no folder is
 * made there.
 */
static bool folder_is_users_own(const char *folder)
{
    struct stat facts;
    struct stat of_all;
    char path[ETWAS_FOLDER_BYTES];

    return folder[0] == '/' && stat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
           !(folder_join_user(path, "/run/user/%u") && stat(path, &of_all) == 0 &&
             facts.st_ino == of_all.st_ino && facts.st_dev == of_all.st_dev);
}

static const char *only_folder(void)
{
    const char *named = secure_getenv("ETWAS_RUNTIME_DIR");

    return named != NULL && named[0] != 0 ? named : NULL;
}

bool etwas_shared_folder_is_alone(void)
{
    return only_folder() != NULL;
}

bool etwas_shared_folder_of_all(uint32_t index, char path[ETWAS_FOLDER_BYTES])
{
    path[0] = 0;
    return index == 0   ? folder_join_user(path, "/run/user/%u/etwas")
           : index == 1 ? folder_join_user(path, "/dev/shm/etwas-%u")
                        : false;
}

bool etwas_shared_folder_name(uint32_t index, char path[ETWAS_FOLDER_BYTES])
{
    const char *only = only_folder();
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");

    path[0] = 0;
    if (only != NULL) {
        return index == 0 && folder_join(path, only, "");
    }
    if (runtime != NULL && folder_is_users_own(runtime) && index-- == 0) {
        return folder_join(path, runtime, "/etwas");
    }
    return etwas_shared_folder_of_all(index, path);
}

uint32_t etwas_shared_folder_open(const char *given, char path[ETWAS_FOLDER_BYTES], int *descriptor)
{
    uint32_t code = ERROR_PATH_NOT_FOUND;

    if (given[0] != 0) {
        return folder_join(path, given, "") ? open_folder(path, descriptor) : code;
    }
    for (uint32_t index = 0; etwas_shared_folder_name(index, path); index++) {
        code = open_folder(path, descriptor);
        if (code == ERROR_SUCCESS) {
            return code;
        }
    }
    /* the last folder that was tried */
    for (uint32_t index = 0; path[0] == 0 && index <= ETWAS_FOLDERS_OF_ALL; index++) {
        (void)etwas_shared_folder_name(ETWAS_FOLDERS_OF_ALL - index, path);
    }
    return code;
}
