/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files of rows. Names are KIND/CLOCK/PAYLOAD, or KIND alone; report.py sets each row beside
 * its floor.
 */
#ifndef ETWAS_BENCH_ROWS_H
#define ETWAS_BENCH_ROWS_H

enum {
    /* Operations timed together. 4,096 records of 136 bytes fit into 9 buffers of 64 KB. */
    BENCH_BATCH = 4096,
    BENCH_INSTANCE_HEADER_BYTES = 72, /* what precedes the payload of an instance event on disk */
};

void bench_register_floors(void);
void bench_register_instances(void);
void bench_register_gates(void);

#endif
