/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A compressed core file as `etwas recover` takes it, which lets another program unpack it: what
 * that makes of it is recovered, or it is refused. The file without a name is there as long as it
 * is needed, and holds no more than it may.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recover/recover.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_BYTES = 4 << 20
};

/*
 * Few bytes may stand for many, so files are limited in size. They lie in memory where that is
 * possible.
 */
static void begin_once(void)
{
    static bool has_begun;
    struct rlimit limit;

    if (!has_begun) {
        has_begun = true;
        MUST(setenv("TMPDIR", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", 1) == 0);
        MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
        limit.rlim_cur = MOST_BYTES;
        MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
}

static void recover(const char *path)
{
    static const char of_process[] = "/proc/self/fd/";
    int file = atoi(path + strlen(of_process));
    etwas_recovered recovered;
    struct stat facts;

    MUST(strncmp(path, of_process, strlen(of_process)) == 0);
    MUST(fstat(file, &facts) == 0 && facts.st_size <= MOST_BYTES && facts.st_nlink <= 1);
    (void)etwas_recover(path, 0, NULL, &recovered);
    (void)close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("core", MFD_CLOEXEC);
    char path[ETWAS_RECOVER_PATH_BYTES];
    char given[64];

    begin_once();
    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(given, sizeof given, "/proc/self/fd/%d", file);
    if (etwas_recover_open(given, path) && strcmp(path, given) != 0) {
        recover(path);
    }
    (void)close(file);
    return 0;
}
