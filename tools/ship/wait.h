/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WAIT_H
#define ETWAS_TOOLS_SHIP_WAIT_H

/*
 * Waiting for a server: waits that double from 0.1 s to 30 s, each by chance from half to one and a
 * half of that, so that a thousand hosts do not come back at the same moment. And for the rate.
 * Time is CLOCK_MONOTONIC's.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_FIRST_WAIT_MS = 100,
    ETWAS_SHIP_LONGEST_WAIT_MS = 30 * 1000,
};

int64_t etwas_ship_now_ms(void);

/* Begin with zeros. */
struct etwas_ship_wait {
    uint32_t count; /* of waits until now */
};

/* How long the next one takes. `chance` is any number. */
uint32_t etwas_ship_wait_next_ms(struct etwas_ship_wait *wait, uint32_t chance);

/* False: `stop`, a descriptor or -1, has become readable before the time was over. */
bool etwas_ship_wait_ms(int stop, int64_t ms);

/* How many rows a second all shards' threads may send together. */
struct etwas_ship_rate {
    pthread_mutex_t lock;
    uint64_t rows_per_s; /* 0: any number */
    int64_t free_ns;     /* when the next rows may go */
};

/* Waits until so many rows may go. False: stopped. */
bool etwas_ship_rate_keep(struct etwas_ship_rate *rate, int stop, uint32_t rows);

#endif
