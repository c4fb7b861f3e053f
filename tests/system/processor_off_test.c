/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processors go offline and come back while the kernel's events are recorded. To the logger that is
 * as if all events of one had been disabled, and so it is done here. If ETWAS_TEST_HOTPLUG is 1,
 * the machine's last processor goes offline for a moment.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "support/inside.h"
#include "system/kernel_fixture.h"
#include "system/logger_internal.h"

enum {
    DRAINS = 4, /* behind which a processor that went is back */
};

/* What the logger's thread does before it drains the next time. */
static void (*happens)(struct etwas_kernel_sources *kernel);
static uint32_t shall_happen;
static struct etwas_kernel_sources *kernel;
static uint32_t processor;
static uint32_t drains;

static void at_drain(enum etwas_testpoint point)
{
    if (point != ETWAS_POINT_SYSTEM_DRAINS) {
        return;
    }
    ck_pr_inc_32(&drains);
    if (ck_pr_load_32(&shall_happen) != 0) {
        ck_pr_fence_acquire(); /* pairs with let_happen */
        happens(kernel);
        ck_pr_store_32(&shall_happen, 0);
    }
}

static void let_happen(void (*what)(struct etwas_kernel_sources *kernel))
{
    happens = what;
    ck_pr_fence_release();
    ck_pr_store_32(&shall_happen, 1);
    while (ck_pr_load_32(&shall_happen) != 0) {
        (void)usleep(1000);
    }
}

static void await_drains(void)
{
    uint32_t until = ck_pr_load_32(&drains) + DRAINS;

    while ((int32_t)(ck_pr_load_32(&drains) - until) < 0) {
        (void)usleep(1000);
    }
}

static uint32_t index_of_stream(const struct etwas_kernel_sources *of)
{
    uint32_t index = 0;

    while (of->merge.streams[index].stream->processor != processor) {
        index++;
        assert_true(index < of->merge.count);
    }
    return index;
}

/* As the kernel does when the processor goes off. */
static void go_off(struct etwas_kernel_sources *of)
{
    const struct etwas_cpu_stream *stream = of->merge.streams[index_of_stream(of)].stream;

    for (uint32_t event = 0; event < stream->event_count; event++) {
        if (stream->events[event].descriptor >= 0) {
            (void)ioctl(stream->events[event].descriptor, PERF_EVENT_IOC_DISABLE, 0);
        }
    }
}

/* As if it had been off when the session started. */
static void be_off_since_the_start(struct etwas_kernel_sources *of)
{
    uint32_t index = index_of_stream(of);

    etwas_cpu_stream_close(of->merge.streams[index].stream);
    free(of->merge.streams[index].stream);
    of->merge.streams[index] = of->merge.streams[--of->merge.count];
    of->away_since_ns[processor] = ETWAS_PROCESSOR_NEVER_ONLINE;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct seen {
    uint32_t losses; /* of the processor, that nobody counted */
    bool is_since_the_beginning;
    int64_t first_ns; /* when the first of them ends */
    int64_t last_ns;
    uint32_t switches_before; /* on it, before the first, */
    uint32_t switches_between;
    uint32_t switches_after; /* and after the last */
};

static void handle_loss(const struct event *event, struct seen *seen)
{
    struct etwas_etl_kernel_loss loss;

    memcpy(&loss, event->payload, sizeof loss);
    assert_int_equal(loss.cause, ETWAS_ETL_KERNEL_LOSS_OFF);
    assert_int_equal(loss.events, 0);
    assert_true(loss.from_raw < loss.until_raw);
    if (seen->losses++ == 0) {
        seen->is_since_the_beginning = loss.from_raw == 0;
        seen->first_ns = loss.until_raw;
    } else {
        assert_int_equal(loss.from_raw, seen->last_ns); /* nothing is known in between */
    }
    seen->last_ns = loss.until_raw;
}

static struct seen check_file(const struct events *events)
{
    struct seen seen = {0};

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (processor_of(event) != processor) {
            continue;
        }
        if (is_account(event) &&
            event->record.EventHeader.EventDescriptor.Opcode == ETWAS_ETL_KERNEL_LOSS_TYPE) {
            handle_loss(event, &seen);
        } else if (is_kernel_event(event, &thread_class, SWITCH)) {
            seen.switches_before += seen.losses == 0;
            seen.switches_between += seen.losses == 1;
            seen.switches_after += seen.losses > 1;
        }
    }
    return seen;
}

static etwas_trace_handle begin(void)
{
    etwas_trace_handle session = start_kernel(FLAGS);

    kernel = &inside_of(session)->system_logger->kernel;
    etwas_testpoint_set(at_drain);
    return session;
}

static struct seen end(etwas_trace_handle session)
{
    etwas_session_counts counts;
    struct events events;
    struct seen seen;

    stop_session(session, &counts);
    etwas_testpoint_set(NULL);
    assert_int_equal(counts.lost, 0);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    seen = check_file(&events);
    free_events(&events);
    return seen;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_processor_that_was_off_is_recorded_again(void **state)
{
    etwas_trace_handle session = begin();
    struct seen seen;

    (void)state;
    (void)hand_over();
    await_drains();
    let_happen(go_off);
    (void)hand_over();
    await_drains();
    (void)hand_over();
    seen = end(session);
    assert_int_equal(seen.losses, 2);
    assert_false(seen.is_since_the_beginning);
    assert_in_range(seen.switches_before, HANDOVERS, UINT32_MAX);
    assert_int_equal(seen.switches_between, 0);
    assert_in_range(seen.switches_after, HANDOVERS, UINT32_MAX);
}

static void a_processor_that_comes_later_is_recorded_from_then_on(void **state)
{
    etwas_trace_handle session = begin();
    struct seen seen;

    (void)state;
    let_happen(be_off_since_the_start);
    await_drains();
    (void)hand_over();
    seen = end(session);
    assert_int_equal(seen.losses, 1);
    assert_true(seen.is_since_the_beginning);
    assert_in_range(seen.switches_between, HANDOVERS, UINT32_MAX);
}

static void a_processor_that_went_offline_at_the_end_is_emitted_again(void **state)
{
    etwas_trace_handle session = begin();
    struct seen seen;

    (void)state;
    (void)hand_over();
    await_drains();
    ck_pr_store_64(&etwas_kernel_sources_check_ns, INT64_MAX);
    let_happen(go_off);
    seen = end(session);
    ck_pr_store_64(&etwas_kernel_sources_check_ns, 0);
    assert_int_equal(seen.losses, 2); /* when it was found, and that it never came back */
    assert_int_equal(seen.switches_between, 0);
}

static void switch_processor(const char *path, const char *to)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);

    assert_in_range(file, 0, INT32_MAX);
    assert_int_equal(write(file, to, 1), 1);
    (void)close(file);
}

static void the_machines_own_processor_is_recorded_again(void **state)
{
    uint32_t last = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    char path[64];
    etwas_trace_handle session;
    struct seen seen;

    (void)state;
    if (getenv("ETWAS_TEST_HOTPLUG") == NULL || last == 0) {
        print_message("skipped: ETWAS_TEST_HOTPLUG is not set, or there is one processor\n");
        skip();
    }
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", last);
    session = begin();
    switch_processor(path, "0");
    await_drains();
    switch_processor(path, "1");
    await_drains();
    processor = last;
    seen = end(session);
    assert_int_equal(seen.losses, 2);
    assert_in_range(seen.switches_after, 1, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_processor_that_was_off_is_recorded_again),
        FOLDER_TEST(a_processor_that_comes_later_is_recorded_from_then_on),
        FOLDER_TEST(a_processor_that_went_offline_at_the_end_is_emitted_again),
        FOLDER_TEST(the_machines_own_processor_is_recorded_again),
    };

    stay_on_one_processor(); /* hand-overs happen here */
    processor = (uint32_t)sched_getcpu();
    ck_pr_store_64(&etwas_kernel_sources_check_ns, 0);
    return RUN_KERNEL_TESTS("processors that go off", tests);
}
