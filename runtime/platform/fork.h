/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The library's fork handlers, registered once for all of it, so that a fork takes the locks in one
 * order, whatever the program called first. Thread-safe; not for signal handlers.
 */
#ifndef ETWAS_PLATFORM_FORK_H
#define ETWAS_PLATFORM_FORK_H

/* The parts of the library, in the order in which a fork takes their locks. */
enum etwas_fork_part {
    ETWAS_FORK_GUESTS, /* before it waits for openers, which may hold these locks */
    ETWAS_FORK_TRACES,
    ETWAS_FORK_SESSIONS,
    ETWAS_FORK_PARTS,
};

struct etwas_fork_handlers {
    void (*before)(void);
    void (*after_in_parent)(void);
    void (*after_in_child)(void);
};

/* Registers a part's handlers. Called before the part's locks are taken for the first time. */
void etwas_fork_handle(enum etwas_fork_part part, const struct etwas_fork_handlers *handlers);

/*
 * A fork waits between etwas_fork_forbid and etwas_fork_allow: a thread that opens a file forbids
 * forks until the file is where the child's handlers, or its users, find it. Several threads may be
 * inside. They hold none of the locks above except those of ETWAS_FORK_GUESTS. A thread that enters
 * again waits while a fork waits. A disk that hangs must not hang the program: after
 * ETWAS_FORK_WAITS_S the fork proceeds, and the child may keep a descriptor that nothing refers to.
 */
enum {
    ETWAS_FORK_WAITS_S = 1
};

void etwas_fork_forbid(void);
void etwas_fork_allow(void);

#endif
