/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/thread_numbers.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/thread.h"
#include "system/stream/tracepoint.h"

enum {
    NUMBER_BITS = 22, /* the kernel's numbers are smaller */
    NAP_NS = 50000,
    MOST_NAPS = 10000,
    FILTER_ROOM = 64,
    LINK_ROOM = 64,
    NUMBER_AT = 5,
};

/* The first PID namespace has this number on every machine. */
#define FIRST_NAMESPACE UINT64_C(0xEFFFFFFC)

/* ---- what is known of a process -------------------------------------------------------------- */

bool etwas_thread_numbers_open(struct etwas_thread_numbers *numbers)
{
    char link[LINK_ROOM] = {0}; /* pid:[4026531836] */
    bool good = readlink("/proc/self/ns/pid", link, sizeof link - 1) > NUMBER_AT;

    numbers->namespace_id = good ? strtoull(link + NUMBER_AT, NULL, 0) : 0;
    numbers->known = NULL;
    if (numbers->namespace_id == FIRST_NAMESPACE) {
        return true;
    }
    numbers->known = etwas_event_join_make(sizeof(uint32_t));
    return numbers->known != NULL;
}

void etwas_thread_numbers_close(struct etwas_thread_numbers *numbers)
{
    etwas_event_join_free(numbers->known);
}

void etwas_thread_numbers_learn(struct etwas_thread_numbers *numbers, uint32_t kernels,
                                uint32_t ours)
{
    if (numbers->known != NULL && ours != (uint32_t)ETWAS_NO_NUMBER) {
        *(uint32_t *)etwas_event_join_insert(numbers->known, kernels, 0) = ours;
    }
}

uint32_t etwas_thread_number(const struct etwas_thread_numbers *numbers, uint32_t kernels)
{
    const uint32_t *known;

    if (numbers->known == NULL) {
        return kernels;
    }
    known = etwas_event_join_find(numbers->known, kernels, 0);
    return known == NULL ? 0 : *known;
}

/* ---- the calling thread ---------------------------------------------------------------------- */

static bool has_counted(int event)
{
    uint64_t count;

    return read(event, &count, sizeof count) == (ssize_t)sizeof count && count != 0;
}

/*
 * No system call returns the kernel's number, but filters can compare it. So there is one event for
 * each bit of it, which counts if the bit is set when the thread yields, and one without a
 * condition.
 */
static bool find_number(uint32_t tracepoint, uint32_t *number)
{
    struct perf_event_attr attributes = {.size = sizeof attributes,
                                         .type = PERF_TYPE_TRACEPOINT,
                                         .config = tracepoint,
                                         .disabled = 1};
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int events[NUMBER_BITS + 1];
    char filter[FILTER_ROOM];
    bool good = true;

    for (int bit = 0; bit <= NUMBER_BITS; bit++) {
        (void)snprintf(filter, sizeof filter, "common_pid & %u",
                       bit < NUMBER_BITS ? 1U << bit : (1U << NUMBER_BITS) - 1);
        events[bit] =
            (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        good = good && ioctl(events[bit], PERF_EVENT_IOC_SET_FILTER, filter) == 0 &&
               ioctl(events[bit], PERF_EVENT_IOC_ENABLE, 0) == 0;
    }
    for (int naps = 0; good && !has_counted(events[NUMBER_BITS]); naps++) {
        (void)nanosleep(&nap, NULL);
        good = naps < MOST_NAPS;
    }
    *number = 0;
    for (int bit = 0; bit <= NUMBER_BITS; bit++) {
        *number |= bit < NUMBER_BITS && has_counted(events[bit]) ? 1U << bit : 0;
        (void)close(events[bit]);
    }
    return good;
}

bool etwas_thread_own_number(const struct etwas_thread_numbers *numbers, uint32_t *kernels,
                             struct etwas_unavailability *reason)
{
    struct etwas_tracepoint tracepoint;

    if (numbers->known == NULL) {
        *kernels = etwas_thread_ids().thread_id;
        return true;
    }
    if (!etwas_tracepoint_read(&tracepoint, "sched/sched_switch", reason)) {
        return false;
    }
    etwas_tracepoint_free(&tracepoint);
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_EVENT, EMFILE};
    return find_number(tracepoint.id, kernels);
}
