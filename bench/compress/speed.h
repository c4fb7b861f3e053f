/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How fast the buffers of a file are compressed, by etwas and by lz4. */
#ifndef ETWAS_BENCH_SPEED_H
#define ETWAS_BENCH_SPEED_H

/* MB/s of records, of processor time; 0: not measured. */
struct speed {
    double etwas_mb_per_s;
    double lz4_mb_per_s; /* as `lz4 -1` does it */
};

/*
 * Compresses the buffers of a finished file that is not compressed, one by one, `passes` times, by
 * turns all of them the one way and the other; the fastest pass counts. Returns NULL, or what is
 * wrong.
 */
const char *speed_measure(int file, unsigned passes, struct speed *speed);

#endif
