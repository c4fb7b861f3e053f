/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_SYSTEMCALL: each call of ours is recorded, with its number and its result.
 */
#include <ck_pr.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "decode/builtin.h"
#include "platform/testpoint.h"
#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    CALLS = 1000,
    ENTER = 51,
    EXIT = 52,
};

static bool is_call(const struct event *event, uint8_t type)
{
    return is_kernel_event(event, &perf_info_class, type);
}

static etwas_trace_handle start(void)
{
    return start_kernel(EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

/* CALLS of one number, counted by the kernel as well; the exit behind each is its own. */
static void each_call_has_its_number_and_result(void **state)
{
    const uint32_t here = (uint32_t)syscall(SYS_gettid);
    struct kernel_count counter;
    etwas_trace_handle session;
    struct events events;
    uint32_t entered = 0;
    uint32_t returned = 0;
    bool is_inside = false;
    char filter[64];

    (void)state;
    session = start();
    (void)snprintf(filter, sizeof filter, "id == %d && common_pid == %u", SYS_getpgid, here);
    begin_counting(&counter, "raw_syscalls/sys_enter", filter);
    for (int index = 0; index < CALLS; index++) {
        (void)syscall(SYS_getpgid, -1); /* there is none */
    }
    assert_int_equal(end_counting(&counter), CALLS);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (event->record.EventHeader.ThreadId != here) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.ProcessId, getpid());
        if (is_call(event, ENTER)) {
            assert_int_equal(event->record.UserDataLength, 8);
            is_inside = u32_at(event, 0) == SYS_getpgid;
            entered += is_inside;
        } else if (is_call(event, EXIT)) {
            assert_int_equal(event->record.UserDataLength, 4);
            returned += is_inside && (int32_t)u32_at(event, 0) == -3; /* ESRCH */
            is_inside = false;
        }
    }
    assert_int_equal(entered, CALLS);
    assert_int_equal(returned, CALLS);
    free_events(&events);
}

static uint32_t drains;

static void count_drains(enum etwas_testpoint point)
{
    ck_pr_faa_32(&drains, point == ETWAS_POINT_SYSTEM_DRAINS);
}

/* Else each of its looks would give it more to look at. */
static void the_logger_does_not_see_itself(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t logger;

    (void)state;
    session = start();
    logger = thread_called("etwas-system");
    assert_int_not_equal(logger, 0);
    ck_pr_store_32(&drains, 0);
    etwas_testpoint_set(count_drains);
    while (ck_pr_load_32(&drains) < 3) {
        (void)usleep(1000);
    }
    etwas_testpoint_set(NULL);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        assert_int_not_equal(events.items[index].record.EventHeader.ThreadId, logger);
    }
    assert_int_not_equal(events.count, 0);
    free_events(&events);
}

static void the_decoder_knows_its_name(void **state)
{
    char entry[32];

    (void)state;
    (void)snprintf(entry, sizeof entry, ", %d getpgid, ", SYS_getpgid);
    assert_non_null(strstr(etwas_system_call_names, entry));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_call_has_its_number_and_result),
        cmocka_unit_test(the_decoder_knows_its_name),
        FOLDER_TEST(the_logger_does_not_see_itself),
    };

    return RUN_KERNEL_TESTS("system system call", tests);
}
