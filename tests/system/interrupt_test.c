/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_INTERRUPT and _DPC: as many as the kernel counts, each with the time when it
 * began.
 */
#include <string.h>
#include <unistd.h>

#include "platform/processor.h"
#include "system/groups/nests.h"
#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    THREAD_DPC = 66,
    ISR = 67,
    DPC = 68,
    TIMER_DPC = 69,
    NAPS = 100,
    OF_PROCESSOR = 1,
};

static const uint32_t interrupts = EVENT_TRACE_FLAG_INTERRUPT | EVENT_TRACE_FLAG_NO_SYSCONFIG;
static const uint32_t deferred = EVENT_TRACE_FLAG_DPC | EVENT_TRACE_FLAG_NO_SYSCONFIG;

/* Its tracepoint is counted around the session and inside it. */
struct counted {
    const char *tracepoint;
    struct kernel_count outer;
    struct kernel_count inner;
    uint64_t least;
    uint64_t most;
};

/* Events of NAPS naps, counted; returns what the kernel lost. */
static uint64_t record_naps(uint32_t flags, struct counted *counted, size_t count,
                            struct events *events)
{
    etwas_trace_handle session;
    uint64_t lost;

    for (size_t index = 0; index < count; index++) {
        begin_counting(&counted[index].outer, counted[index].tracepoint, NULL);
    }
    session = start_kernel(flags);
    for (size_t index = 0; index < count; index++) {
        begin_counting(&counted[index].inner, counted[index].tracepoint, NULL);
    }
    for (int index = 0; index < NAPS; index++) {
        (void)usleep(200);
    }
    for (size_t index = 0; index < count; index++) {
        counted[index].least = end_counting(&counted[index].inner);
    }
    lost = read_with_loss(session, events);
    for (size_t index = 0; index < count; index++) {
        counted[index].most = end_counting(&counted[index].outer);
    }
    return lost;
}

static int64_t initial_time_of(const struct event *event)
{
    int64_t time;

    memcpy(&time, event->payload, sizeof time);
    return time;
}

/*
 * Returns how many events of a type there are, and adds those to *unknown whose beginning is not
 * known: one that a processor was inside of when the session began may be such.
 */
static uint64_t count_done(const struct events *events, uint8_t type, uint16_t bytes,
                           uint64_t *unknown)
{
    uint64_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        int64_t stamp = event->record.EventHeader.TimeStamp.QuadPart;

        if (is_kernel_event(event, &perf_info_class, type)) {
            assert_int_equal(event->record.UserDataLength, bytes);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
            assert_in_range(initial_time_of(event), events->header_stamp - 1000000000, stamp);
            *unknown += initial_time_of(event) == stamp;
            count++;
        }
    }
    return count;
}

static void each_interrupt_has_its_vector_and_beginning(void **state)
{
    static struct counted counted[] = {{.tracepoint = "irq/irq_handler_exit"},
                                       {.tracepoint = "irq_vectors/local_timer_exit"}};
    bool has_vectors = access("/sys/kernel/tracing/events/irq_vectors", F_OK) == 0;
    struct events events;
    uint64_t of_devices = 0;
    uint64_t unknown = 0;
    uint64_t all;
    uint64_t lost;

    (void)state;
    lost = record_naps(interrupts, counted, has_vectors ? 2 : 1, &events);
    all = count_done(&events, ISR, 20, &unknown);
    for (size_t index = 0; index < events.count; index++) {
        of_devices += is_kernel_event(&events.items[index], &perf_info_class, ISR) &&
                      events.items[index].payload[19] != OF_PROCESSOR;
    }
    assert_in_range(of_devices + lost, counted[0].least, counted[0].most + lost);
    if (has_vectors) {
        assert_in_range(all - of_devices + lost, counted[1].least, UINT64_MAX);
        assert_in_range(all - of_devices + lost, NAPS / 2, UINT64_MAX);
    } else { /* a processor's timer is a device like others */
        assert_int_equal(all, of_devices);
        assert_in_range(of_devices + lost, NAPS / 2, UINT64_MAX);
    }
    assert_in_range(unknown, 0, etwas_processor_count() + lost);
    free_events(&events);
}

static void each_deferred_function_has_its_beginning(void **state)
{
    static struct counted counted[] = {{.tracepoint = "irq/softirq_exit"},
                                       {.tracepoint = "timer/hrtimer_expire_exit"},
                                       {.tracepoint = "timer/timer_expire_exit"},
                                       {.tracepoint = "workqueue/workqueue_execute_end"}};
    struct events events;
    uint64_t unknown = 0;
    uint64_t plain;
    uint64_t timers;
    uint64_t works;
    uint64_t lost;

    (void)state;
    lost = record_naps(deferred, counted, 4, &events);
    plain = count_done(&events, DPC, 16, &unknown);
    timers = count_done(&events, TIMER_DPC, 16, &unknown);
    works = count_done(&events, THREAD_DPC, 16, &unknown);
    assert_in_range(plain + lost, counted[0].least, UINT64_MAX); /* and tasklets */
    assert_in_range(timers + lost, counted[1].least + counted[2].least,
                    counted[1].most + counted[2].most + lost);
    assert_in_range(timers + lost, NAPS, UINT64_MAX);
    assert_in_range(works + lost, counted[3].least, counted[3].most + lost);
    /*
     * A processor is inside of a softirq, a timer and an interrupt's timer at most; works may
     * sleep.
     */
    assert_in_range(unknown, 0, 3 * (uint64_t)etwas_processor_count() + 64 + lost);
    free_events(&events);
}

/* ---- nests ----------------------------------------------------------------------------------- */

static void enter(struct etwas_nest *nest, uint32_t kind, uint64_t key, int64_t since_ns)
{
    const struct etwas_nested nested = {.kind = kind, .key = key, .since_ns = since_ns};

    etwas_nest_enter(nest, &nested);
}

static int64_t leave(struct etwas_nest *nest, uint32_t kind, uint64_t key)
{
    struct etwas_nested nested;

    return etwas_nest_leave(nest, kind, key, &nested) ? nested.since_ns : -1;
}

static void what_began_last_ends_first(void **state)
{
    struct etwas_nest nest = {0};

    (void)state;
    enter(&nest, 0, 7, 100);
    enter(&nest, 1, 7, 200);
    assert_int_equal(leave(&nest, 1, 7), 200);
    assert_int_equal(leave(&nest, 0, 7), 100);
    assert_int_equal(leave(&nest, 0, 7), -1);
}

static void an_end_never_gets_the_beginning_of_another(void **state)
{
    struct etwas_nest nest = {0};

    (void)state;
    enter(&nest, 0, 7, 100);
    assert_int_equal(leave(&nest, 0, 8), -1); /* 7's end is lost, and 8's beginning */
    assert_int_equal(leave(&nest, 0, 7), -1);
    enter(&nest, 0, 7, 300);
    etwas_nest_forget(&nest); /* something is lost: 7's end, and another beginning of 7 */
    assert_int_equal(leave(&nest, 0, 7), -1);
    for (uint64_t depth = 0; depth <= ETWAS_NEST_DEPTH; depth++) {
        enter(&nest, 0, depth, 400);
    }
    assert_int_equal(leave(&nest, 0, ETWAS_NEST_DEPTH), -1);
    assert_int_equal(leave(&nest, 0, ETWAS_NEST_DEPTH - 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_began_last_ends_first),
        cmocka_unit_test(an_end_never_gets_the_beginning_of_another),
        FOLDER_TEST(each_interrupt_has_its_vector_and_beginning),
        FOLDER_TEST(each_deferred_function_has_its_beginning),
    };

    return RUN_KERNEL_TESTS("system interrupt", tests);
}
