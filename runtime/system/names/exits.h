/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How threads ended and what they used, as the kernel reports each thread that exits by netlink
 * (taskstats). It reports a thread before it writes the thread's EXIT into a ring, so when that
 * record is handled the report is in the socket, if there is one.
 *
 * Needs CAP_NET_ADMIN, in the first PID and user namespace. Reports that did not fit into the
 * socket are lost.
 */
#ifndef ETWAS_SYSTEM_NAMES_EXITS_H
#define ETWAS_SYSTEM_NAMES_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/names/process_counters.h"
#include "system/unavailability.h"

enum {
    ETWAS_EXITS_KEPT =
        4096 /* reports that have not been removed, by the last bits of their thread ids */
};

struct etwas_exit {
    uint32_t thread_id; /* 0: no thread */
    /* In the format of waitpid; a process ends with the status of its last thread. */
    uint32_t status;
    struct etwas_process_counters counters;
};

struct etwas_exits {
    int socket;
    uint16_t family;
    struct etwas_exit kept[ETWAS_EXITS_KEPT];
};

/* Opens the socket. NULL: *reason says why that is not possible. */
struct etwas_exits *etwas_exits_open(struct etwas_unavailability *reason);
void etwas_exits_close(struct etwas_exits *exits);

/* Removes the report of a thread. False: there is none, or `exits` is NULL. */
bool etwas_exits_remove(struct etwas_exits *exits, uint32_t thread_id, struct etwas_exit *exit);

/* Reads a datagram of the kernel. Attributes that are not known are skipped. */
void etwas_exits_read(struct etwas_exits *exits, const void *message, size_t bytes);

/* Converts a status to ExitStatus: the exit code, or the negative number of the signal. */
int32_t etwas_exit_status(uint32_t status);

#endif
