/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Holding back pthread_cancel: a thread that ends where it holds a lock, or has begun a change,
 * leaves both behind for ever. Files, waits and joins are points of cancellation.
 */
#ifndef ETWAS_PLATFORM_CANCEL_H
#define ETWAS_PLATFORM_CANCEL_H

#include <pthread.h>

/* From here on a request waits. Returns what etwas_cancel_allow is given. */
static inline int etwas_cancel_forbid(void)
{
    int before;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* As it was before; one that was held back takes effect at the next point of cancellation. */
static inline void etwas_cancel_allow(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

#endif
