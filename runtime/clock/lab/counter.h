/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The cycle counter as what the laboratory itself takes time with, whatever the sources are. */
#ifndef ETWAS_CLOCK_LAB_COUNTER_H
#define ETWAS_CLOCK_LAB_COUNTER_H

/* What a tick means, also where sessions may not use the counter; 0: it does not count. */
double etwas_lab_counter_tick_ns(void);

#endif
