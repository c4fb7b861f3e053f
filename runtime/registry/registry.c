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
#include "shared/folder.h"

#define IS_ALONE (UINT32_C(1) << 31)

enum {
    NS_PER_S = 1000000000,
};

/* The descriptor + 1, with IS_ALONE if there is no other folder; 0: the folder is not open. */
static uint32_t opened;

static int registry_descriptor_of(uint32_t visited)
{
    return (int)(visited & ~IS_ALONE) - 1;
}

static bool registry_is_removed(int folder)
{
    struct stat facts;

    return fstat(folder, &facts) == 0 && facts.st_nlink == 0;
}

/*
 * The new descriptor replaces the old one under the same number, which other threads may be using.
 * No file can be made through the old one, since its folder is removed.
 */
static uint32_t registry_open_again(int folder)
{
    char path[ETWAS_FOLDER_BYTES];
    int anew;
    uint32_t code = etwas_shared_folder_open("", path, &anew);

    if (code == ERROR_SUCCESS && !etwas_descriptor_replace(folder, anew)) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    if (code == ERROR_SUCCESS && (ck_pr_load_32(&opened) & IS_ALONE) == 0) {
        etwas_listed_folders_add(folder, path);
    }
    return code;
}

uint32_t etwas_registry_open(int *folder)
{
    char path[ETWAS_FOLDER_BYTES];
    uint32_t visited = ck_pr_load_32(&opened);
    uint32_t alone;
    uint32_t code;

    if (visited != 0 && !etwas_descriptor_is_own(registry_descriptor_of(visited))) {
        /* The program has closed it. */
        (void)ck_pr_cas_32(&opened, visited, 0);
        visited = ck_pr_load_32(&opened);
    }
    if (visited == 0) {
        code = etwas_shared_folder_open("", path, folder);
        if (code != ERROR_SUCCESS) {
            return code;
        }
        *folder = etwas_descriptor_protect(*folder);
        alone = etwas_shared_folder_is_alone() ? IS_ALONE : 0;
        if (alone == 0) {
            etwas_listed_folders_add(*folder, path);
        }
        if (ck_pr_cas_32(&opened, 0, ((uint32_t)*folder + 1) | alone)) {
            return ERROR_SUCCESS;
        }
        etwas_descriptor_close(*folder); /* another thread was first */
        visited = ck_pr_load_32(&opened);
    }
    *folder = registry_descriptor_of(visited);
    return registry_is_removed(*folder) ? registry_open_again(*folder) : ERROR_SUCCESS;
}

bool etwas_registry_open_existing(int *folder)
{
    uint32_t visited = ck_pr_load_32(&opened);

    *folder = registry_descriptor_of(visited);
    return (visited != 0 && etwas_descriptor_is_own(*folder)) ||
           etwas_registry_open(folder) == ERROR_SUCCESS;
}

void etwas_registry_path(int folder, char path[ETWAS_FOLDER_BYTES])
{
    char link[64];
    ssize_t length;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    length = readlink(link, path, ETWAS_FOLDER_BYTES - 1);
    path[length > 0 ? length : 0] = 0;
}

void etwas_registry_forget(void)
{
    uint32_t visited = ck_pr_load_32(&opened);

    if (visited != 0) {
        ck_pr_store_32(&opened, 0);
        etwas_descriptor_close(registry_descriptor_of(visited));
    }
}

/* ---- all folders ----------------------------------------------------------------------------- */

/* Whether the walk has not visited the folder yet. Two names may lead to the same folder. */
static bool registry_is_new(struct etwas_registry_walk *walk, int folder)
{
    struct stat facts;

    if (fstat(folder, &facts) != 0) {
        return false;
    }
    for (uint32_t index = 0; index < walk->visited_count; index++) {
        if (walk->visited[index].device == facts.st_dev &&
            walk->visited[index].inode == facts.st_ino) {
            return false;
        }
    }
    if (walk->visited_count < sizeof walk->visited / sizeof *walk->visited) {
        walk->visited[walk->visited_count].device = facts.st_dev;
        walk->visited[walk->visited_count++].inode = facts.st_ino;
    }
    return true;
}

uint32_t etwas_registry_walk(struct etwas_registry_walk *walk)
{
    int folder;

    *walk = (struct etwas_registry_walk){.code = etwas_registry_open(&folder), .folder = -1};
    if (walk->code == ERROR_SUCCESS) {
        (void)registry_is_new(walk, folder);
        walk->folder = folder;
    }
    return walk->code;
}

static void registry_leave_folder(struct etwas_registry_walk *walk)
{
    if (walk->next != 0 && walk->folder >= 0) {
        (void)close(walk->folder);
    }
    walk->folder = -1;
}

void etwas_registry_walk_end(struct etwas_registry_walk *walk)
{
    registry_leave_folder(walk);
    if (walk->listed_folders != NULL) {
        (void)closedir(walk->listed_folders);
        walk->listed_folders = NULL;
    }
}

static void registry_store_failure(struct etwas_registry_walk *walk, uint32_t code)
{
    if (code == ERROR_NO_SYSTEM_RESOURCES) {
        walk->code = code;
    }
}

/*
 * Returns the path of the next folder: first the folders that all processes know, then the listed
 * ones (shared/folder.h).
 */
static bool registry_next_name(struct etwas_registry_walk *walk, char path[ETWAS_FOLDER_BYTES])
{
    uint32_t code = ERROR_SUCCESS;
    bool is_there;

    if ((ck_pr_load_32(&opened) & IS_ALONE) != 0) {
        return false;
    }
    if (etwas_shared_folder_of_all(walk->next++, path)) {
        return true;
    }
    if (walk->listed_folders == NULL) {
        code = etwas_listed_folders_open(&walk->listed_folders);
    }
    is_there = walk->listed_folders != NULL &&
               etwas_listed_folders_next(walk->listed_folders, path, &code);
    registry_store_failure(walk, code);
    return is_there;
}

bool etwas_registry_walk_on(struct etwas_registry_walk *walk)
{
    char path[ETWAS_FOLDER_BYTES];
    uint32_t code;
    int folder;

    registry_leave_folder(walk);
    while (registry_next_name(walk, path)) {
        code = etwas_shared_folder_reach(path, &folder);
        registry_store_failure(walk, code);
        if (code == ERROR_SUCCESS && registry_is_new(walk, folder)) {
            walk->folder = folder;
            return true;
        }
        if (code == ERROR_SUCCESS) {
            (void)close(folder);
        }
    }
    etwas_registry_walk_end(walk);
    return false;
}

uint32_t etwas_registry_walk_to(const char *name, struct etwas_registry_walk *walk)
{
    struct stat facts;
    uint32_t code = etwas_registry_walk(walk);
    bool is_there = code == ERROR_SUCCESS;

    while (is_there && fstatat(walk->folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
        is_there = etwas_registry_walk_on(walk);
    }
    return is_there                      ? ERROR_SUCCESS
           : walk->code != ERROR_SUCCESS ? walk->code
                                         : (uint32_t)ERROR_NOT_FOUND;
}

/* ---- one name -------------------------------------------------------------------------------- */

uint64_t etwas_registry_nonce(void)
{
    static uint32_t count;
    uint64_t nonce;

    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != (ssize_t)sizeof nonce) {
        /* The machine has no randomness yet: unique by process, time and a counter. */
        nonce = etwas_monotonic_ns() << 16 ^ (uint64_t)getpid() << 40 ^ ck_pr_faa_32(&count, 1);
    }
    return nonce;
}

uint32_t etwas_registry_address(int folder, const char *name, struct sockaddr_un *address)
{
    if (access("/proc/self/fd", X_OK) != 0) {
        return ERROR_NOT_SUPPORTED;
    }
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", folder,
                   name);
    return ERROR_SUCCESS;
}

bool etwas_registry_is_missing(const char *name)
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

/* If a process is not allowed to use sockets, the errno differs between systems. */
static uint32_t registry_open_socket(int type, int *opened)
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
    int folder;

    *opened = -1;
    if (name != NULL) {
        code = etwas_registry_open(&folder);
        code = code == ERROR_SUCCESS ? etwas_registry_address(folder, name, &address) : code;
    }
    if (code == ERROR_SUCCESS) {
        code = registry_open_socket(type, opened);
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

/* Returns false if `visit` has returned false. */
static bool registry_show_names(struct etwas_registry_walk *walk,
                                bool (*visit)(int folder, const char *name, void *context),
                                void *context)
{
    const struct dirent *found;
    bool goes_on = true;
    DIR *list;
    int again = openat(walk->folder, ".",
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with its own read position */

    if (again < 0) {
        walk->code = etwas_file_open_error(errno);
        return true;
    }
    list = fdopendir(again);
    if (list == NULL) {
        (void)close(again);
        walk->code = ERROR_NOT_ENOUGH_MEMORY;
        return true;
    }
    while (goes_on && (found = readdir(list)) != NULL) {
        goes_on = visit(walk->folder, found->d_name, context);
    }
    (void)closedir(list);
    return goes_on;
}

uint32_t etwas_registry_each(bool (*visit)(int folder, const char *name, void *context),
                             void *context)
{
    struct etwas_registry_walk walk;

    if (etwas_registry_walk(&walk) == ERROR_SUCCESS) {
        while (registry_show_names(&walk, visit, context) && etwas_registry_walk_on(&walk)) {
        }
        etwas_registry_walk_end(&walk);
    }
    return walk.code;
}
