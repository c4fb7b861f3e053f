/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Signals for one thread, handled anywhere in what it does. */
#ifndef ETWAS_TESTS_SUPPORT_ALARM_H
#define ETWAS_TESTS_SUPPORT_ALARM_H

#include <stdint.h>
#include <time.h>

/* System calls that the handler interrupts go on. */
void handle_signal(int number, void (*handler)(int));

/* SIGALRM for the calling thread, every so often. */
timer_t start_alarms(uint32_t interval_ns);

/* No more of them, for the calling thread: one may be on its way. */
void end_alarms(timer_t timer);

#endif
