/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers of a flight recorder: the words through which any thread requests a window from the
 * flusher, and the flusher's counts.
 *
 *     pull    any thread or signal handler: takes a stamp, adds 1 to `asked`, stores the stamp in
 *             `first` unless an earlier one is there, and wakes the flusher unless a window is
 *             open. Lock-free, without waiting
 *     take    the flusher: empties `first`, then reads `asked`. Each trigger that it counts was
 *             stamped before; so a window that ends after that contains the moment of each trigger
 *             counted in it
 *
 * A stamp that arrives in `first` after its trigger has been counted requests no window.
 */
#ifndef ETWAS_SESSION_TRIGGER_H
#define ETWAS_SESSION_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/handle.h"

struct etwas_session;

struct etwas_trigger {
    uint32_t armed; /* the session's generation; 0: not armed */
    uint32_t clock; /* constant while it is armed */
    uint64_t asked;
    uint64_t first; /* the earliest stamp that the flusher has not taken; 0: none */
    /* a window is open: the flusher reads `first` by itself, also when the window has ended */
    uint32_t is_open;

    /*
     * Stored by the flusher with `pool_lock` held, read under it. asked = waiting + the next four.
     */
    uint64_t windows;
    uint64_t joined;
    uint64_t limited;
    uint64_t capped;
    uint64_t files;
    uint64_t failed;
    uint64_t bytes;
    uint32_t last_code;
    uint64_t passed_on; /* stored by the propagating thread, under the same lock */
};

/* A buffer that is protected from being overwritten. */
struct etwas_pin {
    uint64_t owner; /* its owner word before it was pinned */
    uint32_t buffer;
};

/* The recorder of a session, guarded by its role, from arming until its flusher ends. */
struct etwas_recorder {
    /*
     * Does what is due now. `last`: the session ends, and *session forgets its recorder. Returns
     * after how many ns the next call is due; UINT64_MAX: at the next trigger.
     */
    uint64_t (*pass)(struct etwas_session *session, bool last);
    struct etwas_pin *pins;
    uint32_t pin_count;
};

/*
 * The counts of a session's payload triggers. Stored with its role and `pool_lock` held, read under
 * `pool_lock`.
 */
struct etwas_watch_counts {
    uint64_t tested;
    uint64_t matched;
    uint64_t unfit;
    uint64_t refused;
};

/* Disarms the trigger: when a session begins, and in a fork's child. */
void etwas_trigger_reset(struct etwas_trigger *trigger);

/*
 * Requests a window for this moment. ERROR_INVALID_HANDLE: the key's session is not armed.
 * Async-signal-safe; keeps errno.
 */
uint32_t etwas_trigger_pull(struct etwas_session_key key);

/*
 * Requests a window for a moment that may be past: a stamp of any clock. A stamp in the future
 * counts as now.
 */
uint32_t etwas_trigger_pull_at(struct etwas_session_key key, uint32_t clock, int64_t stamp);

/*
 * Converts a stamp from one clock to another, by what both show now. A stamp in the future counts
 * as now.
 */
int64_t etwas_trigger_stamp(uint32_t from, int64_t stamp, uint32_t to);

#endif
