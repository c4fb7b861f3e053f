/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/registry.h"

#include <ck_pr.h>
#include <dirent.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"

enum {
    NS_PER_S = 1000000000,
};

/* The descriptor and 1; 0: the folder is not open. */
static uint32_t opened;

static bool is_removed(int folder)
{
    struct stat facts;

    return fstat(folder, &facts) == 0 && facts.st_nlink == 0;
}

/* Under the number that it had, which other threads may be using: in the old one they could make nothing. */
static uint32_t open_anew(int folder)
{
    char path[ETWAS_FOLDER_BYTES];
    int anew;
    uint32_t code = etwas_shared_folder_open("", path, &anew);

    if (code == ERROR_SUCCESS && !etwas_own_replace(folder, anew)) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    return code;
}

uint32_t etwas_registry_open(int *folder)
{
    char path[ETWAS_FOLDER_BYTES];
    uint32_t seen = ck_pr_load_32(&opened);
    uint32_t code;

    if (seen != 0 && !etwas_own_is((int)(seen - 1))) {
        /* The program has closed it. */
        (void)ck_pr_cas_32(&opened, seen, 0);
        seen = ck_pr_load_32(&opened);
    }
    if (seen == 0) {
        code = etwas_shared_folder_open("", path, folder);
        if (code != ERROR_SUCCESS) {
            return code;
        }
        *folder = etwas_own_keep(*folder);
        if (ck_pr_cas_32(&opened, 0, (uint32_t)*folder + 1)) {
            return ERROR_SUCCESS;
        }
        etwas_own_close(*folder); /* another thread was first */
        seen = ck_pr_load_32(&opened);
    }
    *folder = (int)(seen - 1);
    return is_removed(*folder) ? open_anew(*folder) : ERROR_SUCCESS;
}

bool etwas_registry_reach(int *folder)
{
    uint32_t seen = ck_pr_load_32(&opened);

    *folder = (int)seen - 1;
    return (seen != 0 && etwas_own_is(*folder)) || etwas_registry_open(folder) == ERROR_SUCCESS;
}

void etwas_registry_path(char path[ETWAS_FOLDER_BYTES])
{
    uint32_t seen = ck_pr_load_32(&opened);
    char link[64];
    ssize_t length = 0;

    if (seen != 0) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%u", seen - 1);
        length = readlink(link, path, ETWAS_FOLDER_BYTES - 1);
    }
    path[length > 0 ? length : 0] = 0;
}

void etwas_registry_forget(void)
{
    uint32_t seen = ck_pr_load_32(&opened);

    if (seen != 0) {
        ck_pr_store_32(&opened, 0);
        etwas_own_close((int)(seen - 1));
    }
}

uint64_t etwas_registry_nonce(void)
{
    static uint32_t count;
    uint64_t nonce;

    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != (ssize_t)sizeof nonce) {
        /* Before the machine has any randomness: of no other process, and of no other moment of it. */
        nonce = etwas_monotonic_ns() << 16 ^ (uint64_t)getpid() << 40 ^ ck_pr_faa_32(&count, 1);
    }
    return nonce;
}

uint32_t etwas_registry_address(const char *name, struct sockaddr_un *address)
{
    int folder;
    uint32_t code = etwas_registry_open(&folder);

    if (code == ERROR_SUCCESS && access("/proc/self/fd", X_OK) != 0) {
        code = ERROR_NOT_SUPPORTED;
    }
    if (code == ERROR_SUCCESS) {
        *address = (struct sockaddr_un){.sun_family = AF_UNIX};
        (void)snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", folder,
                       name);
    }
    return code;
}

bool etwas_registry_lacks(const char *name)
{
    struct stat facts;
    int folder;

    return etwas_registry_open(&folder) == ERROR_SUCCESS &&
           fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

uint32_t etwas_registry_socket_error(int error)
{
    switch (error) {
    case ENOENT:
    case ECONNREFUSED:
        return ERROR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return ERROR_ACCESS_DENIED;
    default:
        return ERROR_NO_SYSTEM_RESOURCES;
    }
}

/* A process that is kept from sockets is refused in different ways. */
static uint32_t open_socket(int type, int *opened)
{
    *opened = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*opened >= 0) {
        return ERROR_SUCCESS;
    }
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
               ? ERROR_NO_SYSTEM_RESOURCES
               : ERROR_NOT_SUPPORTED;
}

uint32_t etwas_registry_socket(int type, const char *name, int *opened)
{
    struct sockaddr_un address;
    uint32_t code = ERROR_SUCCESS;

    *opened = -1;
    if (name != NULL) {
        code = etwas_registry_address(name, &address);
    }
    if (code == ERROR_SUCCESS) {
        code = open_socket(type, opened);
    }
    if (code != ERROR_SUCCESS || name == NULL) {
        return code;
    }
    /* The file gets the mode that the socket has. */
    if (fchmod(*opened, 0600) != 0 ||
        bind(*opened, (const struct sockaddr *)&address, sizeof address) != 0) {
        code = etwas_file_open_error(errno);
        (void)close(*opened);
        *opened = -1;
    }
    return code;
}

bool etwas_registry_wait(int socket, short events, uint64_t deadline_ns)
{
    struct pollfd what = {.fd = socket, .events = events};
    uint64_t now = etwas_monotonic_ns();

    while (now < deadline_ns) {
        uint64_t left = deadline_ns - now;
        struct timespec time = {.tv_sec = (time_t)(left / NS_PER_S),
                                .tv_nsec = (long)(left % NS_PER_S)};

        if (ppoll(&what, 1, &time, NULL) > 0) {
            return true;
        }
        now = etwas_monotonic_ns();
    }
    return false;
}

uint32_t etwas_registry_each(bool (*look)(const char *name, void *context), void *context)
{
    const struct dirent *found;
    int folder;
    uint32_t code = etwas_registry_open(&folder);
    int again;
    DIR *list;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    again =
        openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* it has a position of its own */
    if (again < 0) {
        return etwas_file_open_error(errno);
    }
    list = fdopendir(again);
    if (list == NULL) {
        (void)close(again);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    do {
        found = readdir(list);
    } while (found != NULL && look(found->d_name, context));
    (void)closedir(list);
    return ERROR_SUCCESS;
}
