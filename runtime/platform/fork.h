/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the library does when the process forks, registered once for all of it, so that a fork takes
 * the locks in one order, whatever the program called first. Thread-safe; not for signal handlers.
 */
#ifndef ETWAS_PLATFORM_FORK_H
#define ETWAS_PLATFORM_FORK_H

/* In the order in which a fork takes their locks. */
enum etwas_fork_part {
    ETWAS_FORK_GUESTS, /* before it waits: who has these locks may forbid forks */
    ETWAS_FORK_TRACES,
    ETWAS_FORK_SESSIONS,
    ETWAS_FORK_PARTS,
};

struct etwas_fork_handlers {
    void (*before)(void);
    void (*after_in_parent)(void);
    void (*after_in_child)(void);
};

/* To be called before the part's locks are taken for the first time. */
void etwas_fork_handle(enum etwas_fork_part part, const struct etwas_fork_handlers *handlers);

/*
 * From one to the other a fork waits: for opening a file until it is where the child's handlers, or
 * its users, find it. Several threads may be in there, with none of the locks above held but those of ETWAS_FORK_GUESTS; one that
 * comes in again waits while a fork waits. A disk that hangs must not hang the program: after ETWAS_FORK_WAITS_S the fork goes on,
 * and the child may keep a descriptor that nobody knows of.
 */
enum {
    ETWAS_FORK_WAITS_S = 1
};

void etwas_fork_forbid(void);
void etwas_fork_allow(void);

#endif
