/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/kernel_count.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/start.h"
#include "system/stream/tracepoint.h"

void begin_counting(struct kernel_count *counter, const char *tracepoint, const char *filter)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes, .type = PERF_TYPE_TRACEPOINT, .disabled = 1};
    struct etwas_tracepoint found;
    struct etwas_unavailability fault;

    assert_true(etwas_tracepoint_read(&found, tracepoint, &fault));
    attributes.config = found.id;
    etwas_tracepoint_free(&found);
    counter->count = 0;
    for (uint32_t processor = 0; processor < etwas_processor_count(); processor++) {
        long event =
            syscall(SYS_perf_event_open, &attributes, -1, (int)processor, -1, PERF_FLAG_FD_CLOEXEC);

        if (event >= 0) {
            counter->events[counter->count++] = (int)event;
            assert_true(filter == NULL ||
                        ioctl((int)event, PERF_EVENT_IOC_SET_FILTER, filter) == 0);
        }
    }
    assert_int_not_equal(counter->count, 0);
    for (uint32_t index = 0; index < counter->count; index++) {
        assert_int_equal(ioctl(counter->events[index], PERF_EVENT_IOC_ENABLE, 0), 0);
    }
}

uint64_t end_counting(struct kernel_count *counter)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < counter->count; index++) {
        assert_int_equal(ioctl(counter->events[index], PERF_EVENT_IOC_DISABLE, 0), 0);
    }
    for (uint32_t index = 0; index < counter->count; index++) {
        uint64_t value;

        assert_int_equal(read(counter->events[index], &value, sizeof value), sizeof value);
        (void)close(counter->events[index]);
        sum += value;
    }
    return sum;
}
