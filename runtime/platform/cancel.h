/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disables pthread_cancel: a thread that is cancelled while it holds a lock, or in the middle of a
 * change, leaves both behind for ever. Operations on files, waits and joins are cancellation
 * points.
 */
#ifndef ETWAS_PLATFORM_CANCEL_H
#define ETWAS_PLATFORM_CANCEL_H

#include <pthread.h>

/* Disables cancellation; a request stays pending. Returns the state for etwas_cancel_allow. */
static inline int etwas_cancel_forbid(void)
{
    int before;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* Restores the state; a pending request takes effect at the next cancellation point. */
static inline void etwas_cancel_allow(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

static inline void etwas_cancel_scope_end(const int *before)
{
    etwas_cancel_allow(*before);
}

/*
 * A declaration: from here to the end of the enclosing block the thread is not cancelled. The state
 * is restored after the value of a return statement is known.
 */
#define ETWAS_UNCANCELLED_SCOPE                                                                    \
    __attribute__((cleanup(etwas_cancel_scope_end), unused)) const int etwas_cancel_scope =        \
        etwas_cancel_forbid()

#endif
