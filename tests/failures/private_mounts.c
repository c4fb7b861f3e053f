/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "failures/private_mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static bool put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

    if (file >= 0) {
        (void)close(file);
    }
    return good;
}

/* Root in a user namespace of our own. */
static bool become_root(uid_t user, gid_t group)
{
    char users[32];
    char groups[32];

    (void)snprintf(users, sizeof users, "0 %u 1", (unsigned)user);
    (void)snprintf(groups, sizeof groups, "0 %u 1", (unsigned)group);
    return put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", users) &&
           put("/proc/self/gid_map", groups);
}

const char *enter_private_mounts(void)
{
    uid_t user = geteuid();
    gid_t group = getegid();

    if (user == 0 ? unshare(CLONE_NEWNS) != 0
                  : unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !become_root(user, group)) {
        return "no mount namespace of its own is granted";
    }
    /* Nothing of what is mounted from here on is seen outside. */
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? NULL
                                                                  : "mounts cannot be made private";
}
