/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers of a flight recorder: the words through which anybody asks the flusher for a window, and what
 * the flusher has for it.
 *
 *     pull    any thread or signal handler: a stamp, `asked` + 1, the stamp into `first` unless an earlier one
 *             is there, and the flusher is woken, unless a window is open. Lock-free, without waiting
 *     take    the flusher: empties `first`, then reads `asked`. Whatever it counts there was stamped
 *             before; so a window that ends after that has the moment of each trigger it is said to have
 *
 * A stamp that comes into `first` when its trigger has been counted already asks for nothing.
 */
#ifndef ETWAS_SESSION_TRIGGER_H
#define ETWAS_SESSION_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/handle.h"

struct etwas_session;

struct etwas_trigger {
    uint32_t armed; /* the session's generation; 0: nobody may ask */
    uint32_t clock; /* constant while it is armed */
    uint64_t asked;
    uint64_t first; /* the earliest stamp of those that were not taken; 0: none */
    uint32_t
        is_open; /* a window is: the flusher looks at `first` by itself, also when it has ended */

    /* Stored by the flusher with `pool_lock` held, read under it. asked = waiting + the next four. */
    uint64_t windows;
    uint64_t joined;
    uint64_t limited;
    uint64_t capped;
    uint64_t files;
    uint64_t failed;
    uint64_t bytes;
    uint32_t last_code;
    uint64_t passed_on; /* stored by who passed them on, likewise */
};

/* A buffer that is kept from being overwritten. */
struct etwas_pin {
    uint64_t owner; /* its owner word without that */
    uint32_t buffer;
};

/* A session's, under its role, from arming until its flusher ends. */
struct etwas_recorder {
    /*
     * What there is to do now; `last`: the session ends, and *session forgets its recorder. Returns how long
     * nothing more is to be done, ns; UINT64_MAX: until somebody asks.
     */
    uint64_t (*pass)(struct etwas_session *session, bool last);
    struct etwas_pin *pins;
    uint32_t pin_count;
};

/* What came of a session's payload triggers. Stored with its role and `pool_lock` held, read under that. */
struct etwas_watch_counts {
    uint64_t tested;
    uint64_t matched;
    uint64_t unfit;
    uint64_t refused;
};

/* A session begins, or a fork's child forgets its parent's: nothing is armed. */
void etwas_trigger_reset(struct etwas_trigger *trigger);

/*
 * Asks for a window that begins now. ERROR_INVALID_HANDLE: the key's session is not armed.
 * Async-signal-safe; keeps errno.
 */
uint32_t etwas_trigger_pull(struct etwas_session_key key);

/*
 * The same for a moment that may be past: a stamp of a clock, which need not be the session's. One of the
 * future is now.
 */
uint32_t etwas_trigger_pull_at(struct etwas_session_key key, uint32_t clock, int64_t stamp);

/* What a stamp of one clock is on another, by both as they are now. One of the future is now. */
int64_t etwas_trigger_stamp(uint32_t from, int64_t stamp, uint32_t to);

#endif
