/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program that allocates and frees at a depth of calls, which heap.py traces with heaptrace.
 * Prints the nanoseconds of a pair of malloc and free, as the median of batches.
 *
 * usage: heap_pairs DEPTH BATCHES
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    PAIRS = 4096, /* in a batch */
    PAUSE_NS = 2000000,
    BYTES = 64,
    BATCHES = 10000,
    DEPTH = 100,
};

static double batches[BATCHES];

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Pauses after each batch, so that the writer of the trace keeps up and is not measured. */
static void measure(unsigned count)
{
    const struct timespec pause = {0, PAUSE_NS};

    for (unsigned i = 0; i < count; i++) {
        uint64_t start = now_ns();

        for (unsigned pair = 0; pair < PAIRS; pair++) {
            void *volatile block = malloc(BYTES);

            free(block);
        }
        batches[i] = (double)(now_ns() - start) / PAIRS;
        (void)nanosleep(&pause, NULL);
    }
}

/* Makes a frame for each call: the addition after the call keeps it from being a tail call. */
__attribute__((noinline)) static unsigned descend(unsigned depth, unsigned count)
{
    volatile unsigned below = depth;

    if (depth > 1) {
        below += descend(depth - 1, count);
    } else {
        measure(count);
    }
    return below;
}

static int compare(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return *a < *b ? -1 : *a > *b;
}

int main(int argc, char **argv)
{
    unsigned depth = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    unsigned count = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

    if (depth == 0 || depth > DEPTH || count == 0 || count > BATCHES) {
        (void)fprintf(stderr, "usage: heap_pairs DEPTH BATCHES\n");
        return 2;
    }
    (void)descend(depth, count);
    qsort(batches, count, sizeof batches[0], compare);
    (void)printf("%.3f\n", batches[count / 2]);
    return 0;
}
