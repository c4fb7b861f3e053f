/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A mounted fuse_disk, for a test. */
#ifndef ETWAS_FAILURES_REMOTE_H
#define ETWAS_FAILURES_REMOTE_H

#include <sys/types.h>

#include "failures/fuse_disk.h"

struct remote {
    char folder[256]; /* where it is mounted */
    pid_t process;
    struct fuse_disk_control *control;
};

/* Returns NULL when the system has FUSE for us, else why not. Called after enter_private_mounts. */
const char *remote_refused(void);

/*
 * Mounts it in the folder of the test (support/folder.h). Returns 0, or -1 when it cannot be
 * mounted.
 */
int remote_begin(struct remote *remote);

/* Unmounts it and waits for the program's end. */
void remote_end(struct remote *remote);

#endif
