/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How processes ended: what the kernel says of each thread that exits to who listens for it (taskstats,
 * by netlink). It does so before it writes the thread's EXIT into a ring; so with that record in hand
 * what is in the socket has what there is of it.
 *
 * Needs CAP_NET_ADMIN, in the first PID and user namespace. What did not fit into the socket is not known.
 */
#ifndef ETWAS_SYSTEM_EXITS_H
#define ETWAS_SYSTEM_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_EXITS_KEPT = 4096 /* of which nobody asked yet; by the last bits of their numbers */
};

struct etwas_exit {
    uint32_t process_id; /* 0: none */
    uint32_t status;     /* as waitpid has it */
};

struct etwas_exits {
    int socket;
    uint16_t family;
    struct etwas_exit kept[ETWAS_EXITS_KEPT];
};

/* NULL: they cannot be had. */
struct etwas_exits *etwas_exits_open(void);
void etwas_exits_close(struct etwas_exits *exits);

/* Once for each process. False: it is not known. `exits`: NULL, nothing is. */
bool etwas_exits_take(struct etwas_exits *exits, uint32_t process_id, uint32_t *status);

/* A datagram from the kernel; what it does not say is passed over. */
void etwas_exits_read(struct etwas_exits *exits, const void *message, size_t bytes);

/* As ExitStatus: what it exited with, or what ended it as a negative number. */
int32_t etwas_exit_status(uint32_t status);

#endif
