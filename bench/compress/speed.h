/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How fast etwas and lz4 compress the buffers of a file. */
#ifndef ETWAS_BENCH_SPEED_H
#define ETWAS_BENCH_SPEED_H

/* MB of records per second of processor time; 0: not measured. */
struct speed {
    double etwas_mb_per_s;
    double lz4_mb_per_s; /* as by `lz4 -1` */
};

/*
 * Compresses the buffers of a finished, uncompressed file one by one, `passes` times, alternating
 * between the encoders. The fastest pass counts. Returns NULL, or what is wrong.
 */
const char *speed_measure(int file, unsigned passes, struct speed *speed);

#endif
