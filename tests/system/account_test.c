/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the kernel counted is recorded, or lost and counted.
 */
#include <ck_pr.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/kernel_count.h"
#include "system/kernel_fixture.h"
#include "system/logger.h"

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

/*
 * I4: rings of a page overflow; what is recorded and what is lost are together what the kernel
 * counted. It is counted here too, from before the start to behind the end, and once less than
 * that.
 */
static void what_the_kernel_had_no_room_for_is_counted(void **state)
{
    static struct kernel_count outer;
    static struct kernel_count inner;
    uint64_t least;
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct events events;
    uint64_t switches = 0;
    uint64_t accounts = 0;
    uint64_t most;

    (void)state;
    etwas_system_logger_ring_bytes = 4096;
    ck_pr_store_32(&keep_rings_full, 1);
    etwas_testpoint_set(wait_before_drain);
    begin_counting(&outer, "sched/sched_switch", NULL);
    session = start_kernel(EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    etwas_system_logger_ring_bytes = ring_bytes;
    begin_counting(&inner, "sched/sched_switch", NULL);
    (void)hand_over();
    ck_pr_store_32(&keep_rings_full, 0);
    (void)hand_over();
    least = end_counting(&inner);
    stop_session(session, &counts);
    etwas_testpoint_set(NULL);
    assert_in_range(counts.lost_in_kernel, HANDOVERS, UINT64_MAX);
    assert_int_equal(counts.lost, counts.lost_in_kernel);
    assert_in_range(least, 4 * HANDOVERS, UINT64_MAX);
    most = end_counting(&outer);
    read_events(folder_path("k.etl"), 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        switches += is_kernel_event(&events.items[index], &thread_class, SWITCH);
        accounts += is_account(&events.items[index]);
    }
    assert_in_range(switches + counts.lost, least, most);
    assert_int_equal(switches + accounts, counts.recorded);
    assert_int_equal(events.header.EventsLost, counts.lost);
    free_events(&events);
}

/* The same where the pool has no room, because nothing is taken out of it. */
static void what_the_pool_has_no_room_for_is_counted(void **state)
{
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct block block;
    struct events events;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.BufferSize = 4;
    block.properties.MaximumBuffers = 1;
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    hand_over_until_no_buffer(session);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer + counts.lost_in_kernel);
    read_events(folder_path("k.etl"), 0, &events);
    assert_int_equal(events.header.EventsLost, counts.lost);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_the_kernel_had_no_room_for_is_counted),
        FOLDER_TEST(what_the_pool_has_no_room_for_is_counted),
    };

    return RUN_KERNEL_TESTS("system account", tests);
}
