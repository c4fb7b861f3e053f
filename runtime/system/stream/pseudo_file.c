/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/pseudo_file.h"

#include <errno.h>
#include <unistd.h>

ssize_t etwas_pseudo_file_read(int file, char *text, size_t room)
{
    size_t bytes = 0;
    ssize_t got = 0;

    if (file < 0) {
        return -1;
    }
    while (bytes < room &&
           ((got = read(file, text + bytes, room - bytes)) > 0 || (got < 0 && errno == EINTR))) {
        bytes += got > 0 ? (size_t)got : 0;
    }
    (void)close(file);
    return got < 0 ? -1 : (ssize_t)bytes;
}
