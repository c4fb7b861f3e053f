/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a compressed core ----------------------------------------------------------------------- */

static const struct packer {
    const char *magic;
    const char *program;
} packers[] = {
    {"\x28\xB5\x2F\xFD", "zstd"},
    {"\x1F\x8B", "gzip"},
    {"\xFD"
     "7zXZ",
     "xz"},
    {"\x04\x22\x4D\x18", "lz4"},
};

/* Returns the program that unpacks the file; NULL if it is not compressed, or cannot be read. */
static const char *packer_of(const char *path)
{
    char beginning[8] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *program = NULL;
    struct stat facts;

    if (file < 0) {
        return NULL;
    }
    /* A pipe is not read, since the bytes would be lost to its other readers. */
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
        read(file, beginning, sizeof beginning) > 0) {
        for (size_t index = 0; index < sizeof packers / sizeof packers[0]; index++) {
            if (memcmp(beginning, packers[index].magic, strlen(packers[index].magic)) == 0) {
                program = packers[index].program;
            }
        }
    }
    (void)close(file);
    return program;
}

/* A small file may unpack to more than the disk holds. Half of the free space is left to others. */
static void limit_size(int file)
{
    struct rlimit limit;
    struct statvfs space;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && fstatvfs(file, &space) == 0) {
        rlim_t half = (rlim_t)space.f_bavail * space.f_frsize / 2;

        limit.rlim_cur = half < limit.rlim_cur ? half : limit.rlim_cur;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
    (void)signal(SIGXFSZ, SIG_IGN); /* the program reports a failed write instead */
}

static bool unpack(const char *program, const char *path, int to)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        int from = open(path, O_RDONLY | O_CLOEXEC);

        limit_size(to);
        if (from >= 0 && dup2(from, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
            (void)execlp(program, program, "-dc", (char *)NULL);
        }
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

bool etwas_recover_open(const char *given, char path[ETWAS_RECOVER_PATH_BYTES])
{
    const char *program = packer_of(given);
    const char *folder = getenv("TMPDIR");
    int file;

    if (program == NULL) {
        (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "%s", given);
        return true;
    }
    file = open(folder != NULL ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 || !unpack(program, given, file)) {
        char reason[64];

        (void)snprintf(reason, sizeof reason, "cannot be unpacked with %s", program);
        etwas_recover_complain(given, reason, 0);
        if (file >= 0) {
            (void)close(file);
        }
        return false;
    }
    (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "/proc/self/fd/%d", file);
    return true;
}

/* ---- a process ------------------------------------------------------------------------------- */

/* Returns whether a file in /proc may be a pool, by its name. Its contents decide later. */
static bool may_be_mapping(const char *path)
{
    char target[ETWAS_RECOVER_PATH_BYTES];
    ssize_t length = readlink(path, target, sizeof target - 1);

    if (length <= 0) {
        return false;
    }
    target[length] = '\0';
    return strncmp(target, "/memfd:etwas-pool", strlen("/memfd:etwas-pool")) == 0 ||
           strstr(target, ".pool") != NULL;
}

bool etwas_recover_of_process(uint32_t process_id, uint32_t index,
                              char path[ETWAS_RECOVER_PATH_BYTES])
{
    char folder[64];
    const struct dirent *entry;
    DIR *files;
    bool found = false;

    (void)snprintf(folder, sizeof folder, "/proc/%" PRIu32 "/fd", process_id);
    files = opendir(folder);
    while (files != NULL && !found && (entry = readdir(files)) != NULL) {
        etwas_recovered recovered;

        (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "%s/%s", folder, entry->d_name);
        found =
            may_be_mapping(path) && etwas_recover(path, 0, NULL, &recovered) == 0 && index-- == 0;
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return found;
}

/* ---- a folder -------------------------------------------------------------------------------- */

bool etwas_recover_is_pool(const char *path)
{
    static const char suffix[] = ".pool";
    size_t length = strlen(path);

    return length > sizeof suffix && strcmp(path + length - (sizeof suffix - 1), suffix) == 0;
}

bool etwas_recover_each(const char *folder, void (*found)(void *context, const char *path),
                        void *context)
{
    const struct dirent *entry;
    DIR *files = opendir(folder);

    if (files == NULL) {
        etwas_recover_complain(folder, strerror(errno), 0);
        return false;
    }
    while ((entry = readdir(files)) != NULL) {
        char path[ETWAS_RECOVER_PATH_BYTES];

        if (etwas_recover_is_pool(entry->d_name)) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            found(context, path);
        }
    }
    (void)closedir(files);
    return true;
}
