/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/written.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
    FRESH_S = 2
};

/*
 * The lock is shared and held for an instant. It stops only a process that begins to write in that
 * instant.
 */
bool etwas_ship_is_written(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool is_written;

    if (file < 0) {
        return false;
    }
    is_written = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    (void)close(file);
    return is_written;
}

bool etwas_ship_is_missing(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool etwas_ship_is_fresh(const char *path)
{
    struct stat facts;
    struct timespec now;

    return stat(path, &facts) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           facts.st_mtim.tv_sec + FRESH_S > now.tv_sec && facts.st_mtim.tv_sec <= now.tv_sec;
}

bool etwas_ship_is_file(const char *path, struct stat *facts)
{
    return lstat(path, facts) == 0 && S_ISREG(facts->st_mode);
}
