/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Who looks at a whole machine takes long, and the rings fill meanwhile. So between any two processes it pauses:
 * what has happened is taken there, if it is time for that. Everything that its looking has found by then is
 * said, and it holds nothing that an event may change.
 */
#ifndef ETWAS_SYSTEM_STREAM_QUIESCE_H
#define ETWAS_SYSTEM_STREAM_QUIESCE_H

#include <stddef.h>

/* The head of what the receiver keeps besides. */
struct etwas_quiesce {
    void (*drain)(struct etwas_quiesce *quiesce);
};

/* NULL: there is nothing to do meanwhile. */
static inline void etwas_quiesce(struct etwas_quiesce *quiesce)
{
    if (quiesce != NULL) {
        quiesce->drain(quiesce);
    }
}

#endif
