/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The rows that Google Benchmark runs. Names are KIND/…/CLOCK/PAYLOAD, or KIND alone; report.py
 * sets each row beside its floor.
 */
#ifndef ETWAS_BENCH_ROWS_H
#define ETWAS_BENCH_ROWS_H

enum {
    BENCH_BATCH = 4096, /* operations timed together, at most */
};

/* floor.c */
void bench_register_floors(void);
void bench_register_floor_without_clock(void);

/* gate.c */
void bench_register_gates(void);

#endif
