/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WAIT_H
#define ETWAS_TOOLS_SHIP_WAIT_H

/*
 * Waits between attempts to reach a server, and the rate limit. Waits double from 0.1 s to 30 s.
 * Each is random, between half and one and a half of that, so that a thousand hosts do not retry
 * together. Times are CLOCK_MONOTONIC.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_FIRST_WAIT_MS = 100,
    ETWAS_SHIP_LONGEST_WAIT_MS = 30 * 1000,
};

int64_t etwas_ship_now_ms(void);

/* Initialize with zeros. */
struct etwas_ship_wait {
    uint32_t count; /* number of waits so far */
};

/* Returns the length of the next wait. `chance` is a random number. */
uint32_t etwas_ship_wait_next_ms(struct etwas_ship_wait *wait, uint32_t chance);

/* Waits. Returns false if `stop`, a descriptor or -1, became readable before the time was over. */
bool etwas_ship_wait_ms(int stop, int64_t ms);

/* The rate limit in rows per second, for the threads of all shards together. */
struct etwas_ship_rate {
    pthread_mutex_t lock;
    uint64_t rows_per_s; /* 0: unlimited */
    int64_t free_ns;     /* when the next rows may be sent */
};

/* Waits until this number of rows may be sent. Returns false if it was stopped. */
bool etwas_ship_rate_keep(struct etwas_ship_rate *rate, int stop, uint32_t rows);

#endif
