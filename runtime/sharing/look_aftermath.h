/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a look at the other processes' sessions (look.h) leaves to be done and said. */
#ifndef ETWAS_SHARING_LOOK_AFTERMATH_H
#define ETWAS_SHARING_LOOK_AFTERMATH_H

#include <stdint.h>

#include "registry/tell.h"
#include "sharing/follower.h"
#include "sharing/guest.h"

enum {
    ETWAS_LOOK_ANSWERS = 64, /* of one look; a process that asked before them has a timeout */
};

struct etwas_look_seen {
    uint64_t guest; /* its handle */
    uint64_t number;
};

/* What is to be done when the look is over, and said when all callbacks have been called. */
struct etwas_look_aftermath {
    uint32_t over_count;
    uint8_t over[ETWAS_FOLLOWERS]; /* followers that are to be stopped */
    uint32_t seen_count;
    struct etwas_look_seen
        seen[ETWAS_GUEST_SESSIONS +
             ETWAS_LOOK_ANSWERS]; /* a session that it was told of may be looked at twice */
    uint32_t answer_count;
    struct etwas_tell answers[ETWAS_LOOK_ANSWERS];
};

/*
 * Does it. Callbacks may do everything: not in the thread that looked. Without memory or a thread they are called here, and
 * where so many threads wait already for one that does not return.
 */
void etwas_look_finish(const struct etwas_look_aftermath *aftermath);

/* In a fork's child: its threads are the parent's. */
void etwas_look_aftermath_forget(void);

#endif
