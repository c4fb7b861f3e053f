/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* By how many ticks a clock moves at once. */
#ifndef ETWAS_CLOCK_LAB_QUANTUM_H
#define ETWAS_CLOCK_LAB_QUANTUM_H

#include <stdint.h>

/*
 * A counter may move by many ticks at once, on each processor at moments of its own, and a clock
 * that is derived from it likewise. What is found is what all steps of some readings have in
 * common: the most of several tries, because one odd step, as after the thread was moved, hides the
 * others' divisor. It may be too much, never by more than a reading takes.
 *
 *     steps 26, 52, 26, 78      26
 *     steps 20, 31, 30, 20      1
 *
 * 1 for clocks that hardly ever move: coarse ones, which the kernel moves for all processors at once.
 */
uint64_t etwas_lab_quantum(int64_t (*read)(void));

#endif
