/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/read_timing.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "clock/lab/lab.h"

enum {
    ROW = 128,
    ROWS = 16,
    STEPS_AT_LEAST = ROW * ROWS / 16, /* among these */
    ODD = 50,                         /* one step in this many may be odd */
    MOST_IN_STEP = 128,               /* the shortest step is at most this many quanta */
    MOST_COMPARED = 512,              /* longer steps, as during an interrupt, are ignored */
    FEWEST_TICKS = 8,                 /* in a quantum, if a tick more or less is allowed */
    SLEWED = 1000,                    /* one part in this many is, too: kernels slew clocks */
    DELAYS = 13,                      /* used in turn between readings; coprime to likely steps */
};

static int quantum_compare(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;

    return (*a > *b) - (*a < *b);
}

/* Returns how many quanta a step is, at least one. */
static double quantum_count_in(uint64_t step, double quantum)
{
    uint64_t quanta = (uint64_t)((double)step / quantum + 0.5);

    return quanta > 0 ? (double)quanta : 1;
}

/*
 * Refines `quantum`, which is approximately right for the shortest steps, so that it is right for
 * all.
 */
static double quantum_refine(const uint64_t *steps, uint32_t count, double quantum)
{
    double ticks = 0;
    double quanta = 0;

    for (uint32_t index = 0; index < count && (double)steps[index] < quantum * MOST_COMPARED;
         index++) {
        /* Steps ascend: each is divided by the quantum as refined by earlier ones. */
        quanta += quantum_count_in(steps[index], quanta > 0 ? ticks / quanta : quantum);
        ticks += (double)steps[index];
    }
    return ticks / quanta;
}

static bool quantum_divides_nearly_all(const uint64_t *steps, uint32_t count, double quantum,
                                       double tolerance)
{
    uint32_t compared = 0;
    uint32_t odd = 0;

    for (uint32_t index = 0; index < count && (double)steps[index] < quantum * MOST_COMPARED;
         index++) {
        double multiple = quantum_count_in(steps[index], quantum) * quantum;

        compared++;
        odd += fabs((double)steps[index] - multiple) > tolerance;
        if (odd > count / ODD) {
            return false;
        }
    }
    return compared > 0 && odd <= compared / ODD;
}

/* Finds the largest quantum of at least FEWEST_TICKS; 0: none. */
static double quantum_find_long(const uint64_t *steps, uint32_t count)
{
    const uint64_t shortest = steps[count / ODD];

    for (uint32_t parts = 1; parts <= MOST_IN_STEP && shortest / parts >= FEWEST_TICKS; parts++) {
        double quantum = (double)shortest / parts;
        double tolerance = quantum / SLEWED > 1 ? quantum / SLEWED : 1;

        if (shortest % parts == 0 && quantum_divides_nearly_all(steps, count, quantum, 0)) {
            return quantum;
        }
        quantum = quantum_refine(steps + count / ODD, count - count / ODD, quantum);
        if (quantum_divides_nearly_all(steps, count, quantum, tolerance)) {
            return quantum;
        }
    }
    return 0;
}

static double quantum_find_short(const uint64_t *steps, uint32_t count)
{
    uint32_t quantum = FEWEST_TICKS - 1;

    while (quantum > 1 && !quantum_divides_nearly_all(steps, count, quantum, 0)) {
        quantum--;
    }
    return quantum;
}

double etwas_lab_quantum_of(uint64_t *steps, uint32_t count)
{
    double quantum;

    if (count < ETWAS_LAB_QUANTUM_STEPS) {
        return 0;
    }
    qsort(steps, count, sizeof *steps, quantum_compare);
    quantum = quantum_find_long(steps, count);
    return quantum > 0 ? quantum : quantum_find_short(steps, count);
}

/* A dependency chain, which no processor can shorten. */
static void quantum_delay(uint32_t turns)
{
    for (uint32_t turn = 0; turn < turns; turn++) {
        __asm__ volatile("" : "+r"(turns) : : "memory");
    }
}

void etwas_lab_read_in_order(int64_t (*read)(void), int64_t *stamps, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        quantum_delay(index % DELAYS);
        etwas_lab_fence();
        stamps[index] = read();
    }
    etwas_lab_fence();
}

double etwas_lab_quantum(int64_t (*read)(void))
{
    int64_t stamps[ROW];
    uint64_t steps[ROWS * ROW];
    uint32_t count = 0;

    for (int row = 0; row < ROWS; row++) {
        etwas_lab_read_in_order(read, stamps, ROW);
        for (uint32_t index = 1; index < ROW; index++) {
            if (stamps[index] > stamps[index - 1]) {
                steps[count++] = (uint64_t)stamps[index] - (uint64_t)stamps[index - 1];
            }
        }
    }
    return count < STEPS_AT_LEAST ? 1 : etwas_lab_quantum_of(steps, count);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static double counter_step_ns;

static void quantum_find_counter_step(void)
{
    double tick_ns = etwas_lab_counter_tick_ns();

    counter_step_ns = tick_ns > 0 ? etwas_lab_quantum(etwas_clock_tsc) * tick_ns : 0;
}

double etwas_lab_counter_step_ns(void)
{
    (void)pthread_once(&once, quantum_find_counter_step);
    return counter_step_ns;
}
