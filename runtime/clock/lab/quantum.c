/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/quantum.h"

#include "clock/lab/lab.h"

enum {
    READINGS = 100,
    STEPS_AT_LEAST = 8, /* among these */
    ATTEMPTS = 8
};

static uint64_t common_divisor(uint64_t left, uint64_t right)
{
    while (right != 0) {
        uint64_t rest = left % right;

        left = right;
        right = rest;
    }
    return left;
}

/* What all steps of a few readings are multiples of; 1 where there are hardly any steps. */
static uint64_t common_step(int64_t (*read)(void))
{
    uint64_t common = 0;
    int steps = 0;
    int64_t last = read();

    for (int reading = 0; reading < READINGS; reading++) {
        int64_t now;

        etwas_lab_fence();
        now = read();
        if (now > last) {
            common = common_divisor(common, (uint64_t)now - (uint64_t)last);
            steps++;
        }
        last = now;
    }
    return steps < STEPS_AT_LEAST ? 1 : common;
}

uint64_t etwas_lab_quantum(int64_t (*read)(void))
{
    uint64_t most = 1;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t step = common_step(read);

        most = step > most ? step : most;
    }
    return most;
}
