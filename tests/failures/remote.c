/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "failures/remote.h"

#include <ck_pr.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/folder.h"

const char *remote_refused(void)
{
    int file = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    if (file < 0) {
        return "/dev/fuse cannot be opened";
    }
    (void)close(file);
    return NULL;
}

static struct fuse_disk_control *map_control(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped;

    if (file < 0 || ftruncate(file, sizeof(struct fuse_disk_control)) != 0) {
        return NULL;
    }
    mapped =
        mmap(NULL, sizeof(struct fuse_disk_control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    return mapped != MAP_FAILED ? mapped : NULL;
}

int remote_begin(struct remote *remote)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const char *control = folder_path("control");

    (void)snprintf(remote->folder, sizeof remote->folder, "%s", folder_path("remote"));
    remote->control = map_control(control);
    if (mkdir(remote->folder, 0700) != 0 || remote->control == NULL) {
        return -1;
    }
    (void)fflush(NULL);
    remote->process = fork();
    if (remote->process == 0) {
        (void)execl(ETWAS_FUSE_DISK, ETWAS_FUSE_DISK, remote->folder, control, (char *)NULL);
        _exit(127);
    }
    while (ck_pr_load_32(&remote->control->ready) == 0) {
        if (remote->process < 0 || waitpid(remote->process, NULL, WNOHANG) == remote->process) {
            remote->process = 0;
            return -1;
        }
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

void remote_end(struct remote *remote)
{
    if (remote->process > 0) {
        (void)kill(remote->process, SIGCONT);
        (void)umount2(remote->folder, MNT_DETACH);
        (void)kill(remote->process, SIGKILL);
        while (waitpid(remote->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (remote->control != NULL) {
        (void)munmap(remote->control, sizeof *remote->control);
    }
    *remote = (struct remote){0};
}
