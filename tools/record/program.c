/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Checks that the program to run exists, searching as execvp does. A mistyped name must not
 * overwrite an existing file.
 */

#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int look_at(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;
    }
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int etwas_record_find_program(const char *name)
{
    const char *folders = getenv("PATH");
    int result = ENOENT;

    if (strchr(name, '/') != NULL || name[0] == '\0') {
        return look_at(name);
    }
    if (folders == NULL) {
        return 0; /* the C library searches its default path */
    }
    while (result != 0 && folders != NULL) {
        size_t length = strcspn(folders, ":");
        char path[PATH_MAX];
        int bytes = snprintf(path, sizeof path, "%.*s%s%s", (int)length, folders,
                             length > 0 ? "/" : "", name);
        int error = (size_t)bytes < sizeof path ? look_at(path) : ENAMETOOLONG;

        result = error == 0 || error == EACCES ? error : result;
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return result;
}
