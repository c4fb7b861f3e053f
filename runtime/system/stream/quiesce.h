/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A scan of a whole machine takes long, and the rings fill meanwhile. So a scan has a quiescent
 * point between any two processes. There it has emitted everything that it has found, and holds
 * nothing that an event may change. Events are drained there if it is time for that.
 */
#ifndef ETWAS_SYSTEM_STREAM_QUIESCE_H
#define ETWAS_SYSTEM_STREAM_QUIESCE_H

#include <stddef.h>

/* The first member of a receiver. */
struct etwas_quiesce {
    void (*drain)(struct etwas_quiesce *quiesce);
};

/* A quiescent point. `quiesce` NULL: nothing has to be drained. */
static inline void etwas_quiesce(struct etwas_quiesce *quiesce)
{
    if (quiesce != NULL) {
        quiesce->drain(quiesce);
    }
}

#endif
