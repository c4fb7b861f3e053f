/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The interface of a peer. driver.c measures any implementation of the functions below, each peer
 * in a program of its own. The loops of calls are on the peer's side, so that a call is compiled
 * into them as into a user's program. PEER_LOOPS generates them, the same for every peer.
 */
#ifndef ETWAS_BENCH_PEERS_PEER_H
#define ETWAS_BENCH_PEERS_PEER_H

#include "../latency.h"

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include <stdbool.h>
#include <stdint.h>
#endif

enum {
    PEER_BLOB_BYTES = 64,
};

#define PEER_BLOB_TEXT "sixty-four bytes of text, for a peer that only knows to log text"
#define PEER_SOME_U64 UINT64_C(0x0123456789ABCDEF)

enum peer_payload {
    PEER_U64_U32, /* a uint64_t and a uint32_t */
    PEER_BLOB64   /* PEER_BLOB_BYTES bytes */
};

/*
 * What the peer dropped. An event that was recorded and later overwritten by a newer one is not
 * lost.
 */
struct peer_counts {
    uint64_t lost;
    bool known;    /* false: not known inside the peer; peers.py finds it out */
    char note[96]; /* printed with the row; may be empty */
};

/*
 * Start and end what is measured. `what` is words for the peer ("file qpc"); it may leave files in
 * `folder`. They return false on failure, after printing a sentence to stderr. peer_stop has to
 * account for the `attempted` events. `counts` is zeroed.
 */
bool peer_start(const char *what, const char *folder);
bool peer_stop(uint64_t attempted, struct peer_counts *counts);

/* Called on each thread that logs, before it does. */
bool peer_producer_begin(void);

/* Waits until the events logged so far cause no more work, if the peer knows. It is not timed. */
void peer_settle(void);

void peer_log(enum peer_payload payload, uint32_t events);
void peer_log_timed(enum peer_payload payload, uint32_t events, struct bench_latency *latency);

#ifdef __cplusplus
}
#endif

/* The functions LOG_U64_U32(uint64_t, uint32_t) and LOG_BLOB64(const uint8_t *) log one event. */
#define PEER_LOOPS(LOG_U64_U32, LOG_BLOB64)                                                        \
    void peer_log(enum peer_payload payload, uint32_t events)                                      \
    {                                                                                              \
        uint8_t blob[PEER_BLOB_BYTES + 1] = PEER_BLOB_TEXT;                                        \
                                                                                                   \
        if (payload == PEER_U64_U32) {                                                             \
            for (uint32_t event = 0; event < events; event++) {                                    \
                LOG_U64_U32(PEER_SOME_U64 + event, event);                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t event = 0; event < events; event++) {                                    \
                blob[0] = (uint8_t)('a' + event % 16);                                             \
                LOG_BLOB64(blob);                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void peer_log_timed(enum peer_payload payload, uint32_t events, struct bench_latency *latency) \
    {                                                                                              \
        uint8_t blob[PEER_BLOB_BYTES + 1] = PEER_BLOB_TEXT;                                        \
        uint32_t event = 0;                                                                        \
                                                                                                   \
        if (payload == PEER_U64_U32) {                                                             \
            BENCH_LATENCY_LOOP(latency, events,                                                    \
                               (LOG_U64_U32(PEER_SOME_U64 + event, event), event++));              \
        } else {                                                                                   \
            BENCH_LATENCY_LOOP(latency, events, (LOG_BLOB64(blob), event++));                      \
        }                                                                                          \
    }

#endif
