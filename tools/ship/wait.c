/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Growing waits, and the rate limit. */

#include "ship/wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

enum {
    NS_A_MS = 1000000,
    NS_A_S = 1000000000,
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)NS_A_S + now.tv_nsec;
}

int64_t etwas_ship_now_ms(void)
{
    return now_ns() / NS_A_MS;
}

uint32_t etwas_ship_wait_next_ms(struct etwas_ship_wait *wait, uint32_t chance)
{
    uint32_t ms = ETWAS_SHIP_FIRST_WAIT_MS;

    for (uint32_t i = 0; i < wait->count && ms < ETWAS_SHIP_LONGEST_WAIT_MS; i++) {
        ms *= 2;
    }
    if (ms > ETWAS_SHIP_LONGEST_WAIT_MS) {
        ms = ETWAS_SHIP_LONGEST_WAIT_MS;
    }
    wait->count++;
    return ms / 2 + chance % (ms + 1);
}

bool etwas_ship_wait_ms(int stop, int64_t ms)
{
    struct pollfd wanted = {.fd = stop, .events = POLLIN};
    int64_t until = etwas_ship_now_ms() + ms;
    int64_t left = ms;
    int ready;

    do {
        ready = poll(&wanted, 1, (int)(left > INT_MAX ? INT_MAX : left));
        left = until - etwas_ship_now_ms();
    } while (ready <= 0 && left > 0 && (ready == 0 || errno == EINTR));
    return ready <= 0;
}

bool etwas_ship_rate_keep(struct etwas_ship_rate *rate, int stop, uint32_t rows)
{
    int64_t now = now_ns();
    int64_t begins = now;

    if (rate->rows_per_s == 0) {
        return true;
    }
    (void)pthread_mutex_lock(&rate->lock);
    if (rate->free_ns > now) {
        begins = rate->free_ns;
    }
    rate->free_ns = begins + (int64_t)((double)rows * NS_A_S / (double)rate->rows_per_s);
    (void)pthread_mutex_unlock(&rate->lock);
    return begins == now || etwas_ship_wait_ms(stop, (begins - now + NS_A_MS - 1) / NS_A_MS);
}
