/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How threads ended and what they used: what the kernel says of each one that exits to who listens for it
 * (taskstats, by netlink). It does so before it writes the thread's EXIT into a ring; so with that record
 * in hand what is in the socket has what there is of it.
 *
 * Needs CAP_NET_ADMIN, in the first PID and user namespace. What did not fit into the socket is not known.
 */
#ifndef ETWAS_SYSTEM_NAMES_EXITS_H
#define ETWAS_SYSTEM_NAMES_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/names/process_counters.h"
#include "system/unavailability.h"

enum {
    ETWAS_EXITS_KEPT = 4096 /* of which nobody asked yet; by the last bits of their numbers */
};

struct etwas_exit {
    uint32_t thread_id; /* 0: none */
    uint32_t status;    /* as waitpid has it; a process ends with that of its last thread */
    struct etwas_process_counters counters;
};

struct etwas_exits {
    int socket;
    uint16_t family;
    struct etwas_exit kept[ETWAS_EXITS_KEPT];
};

/* NULL: they cannot be had. */
struct etwas_exits *etwas_exits_open(struct etwas_unavailability *reason);
void etwas_exits_close(struct etwas_exits *exits);

/* Once for each thread. False: it is not known. `exits`: NULL, nothing is. */
bool etwas_exits_remove(struct etwas_exits *exits, uint32_t thread_id, struct etwas_exit *exit);

/* A datagram from the kernel; what it does not say is passed over. */
void etwas_exits_read(struct etwas_exits *exits, const void *message, size_t bytes);

/* As ExitStatus: what it exited with, or what ended it as a negative number. */
int32_t etwas_exit_status(uint32_t status);

#endif
