/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * LTTng-UST. peers.py creates the recording session before this program starts, and gets the number
 * of discarded events from it afterwards.
 */
#include <stdio.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#include "peer.h"

static bool both_enabled(void)
{
    return lttng_ust_tracepoint_enabled(etwas_peers, u64_u32) &&
           lttng_ust_tracepoint_enabled(etwas_peers, blob64);
}

/*
 * A thread of LTTng's library registers this process with the session daemon. Until then an event
 * is not recorded and costs nothing.
 */
bool peer_start(const char *what, const char *folder)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    (void)what;
    (void)folder;
    for (int attempt = 0; attempt < 500; attempt++) {
        if (both_enabled()) {
            return true;
        }
        (void)nanosleep(&pause, NULL);
    }
    (void)fprintf(stderr, "no LTTng session enabled the tracepoints\n");
    return false;
}

bool peer_stop(uint64_t attempted, struct peer_counts *counts)
{
    (void)attempted;
    counts->known = false;
    if (!both_enabled()) {
        (void)fprintf(stderr, "the LTTng session ended before its time\n");
        return false;
    }
    return true;
}

bool peer_producer_begin(void)
{
    return true;
}

void peer_settle(void)
{
}

static inline void log_u64_u32(uint64_t first, uint32_t second)
{
    lttng_ust_tracepoint(etwas_peers, u64_u32, first, second);
}

static inline void log_blob64(const uint8_t *blob)
{
    lttng_ust_tracepoint(etwas_peers, blob64, blob);
}

PEER_LOOPS(log_u64_u32, log_blob64)
