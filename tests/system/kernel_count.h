/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How often the whole machine passes a tracepoint, by the kernel's own count.
 */
#ifndef ETWAS_TESTS_SYSTEM_KERNEL_COUNT_H
#define ETWAS_TESTS_SYSTEM_KERNEL_COUNT_H

#include <stdint.h>

#include "platform/processor.h"

struct kernel_count {
    int events[ETWAS_MOST_PROCESSORS];
    uint32_t count;
};

/* `filter`: of the tracepoint's fields; NULL: none. */
void begin_counting(struct kernel_count *counter, const char *tracepoint, const char *filter);

uint64_t end_counting(struct kernel_count *counter);

#endif
