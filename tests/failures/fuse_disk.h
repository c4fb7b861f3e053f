/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A disk that behaves like a remote one: it takes writes, and finds out later that it cannot keep
 * them. Then what was written since the last good sync is gone, and fsync or close says why.
 *
 * It is the program fuse_disk, a FUSE file system: one folder of files in memory. Its second
 * argument is a file that holds the structure below; a process that maps that file controls the
 * disk.
 */
#ifndef ETWAS_FAILURES_FUSE_DISK_H
#define ETWAS_FAILURES_FUSE_DISK_H

#include <stdint.h>

/* Each word is loaded and stored atomically. Errors are errno, 0: none. */
struct fuse_disk_control {
    uint32_t ready; /* 1: it is mounted */
    uint32_t write_error;
    uint32_t sync_error;
    uint32_t sync_error_once; /* of the next sync only */
    uint32_t close_error;
    uint32_t room_bytes; /* a file that is longer loses the rest at a sync: ENOSPC; 0: no limit */
    uint32_t dropped;    /* how often something was dropped */
};

#endif
