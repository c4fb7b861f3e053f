/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system logger's file contains the accounts of each source, and the records that were made of
 * it. A reader that counts the records finds as many, and no others.
 */
#include <ck_pr.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "platform/testpoint.h"
#include "system/kernel_count.h"
#include "system/kernel_fixture.h"
#include "system/logger.h"

enum {
    MANY = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
           EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_PROFILE | EVENT_TRACE_FLAG_SYSTEMCALL |
           EVENT_TRACE_FLAG_INTERRUPT | EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

/* Sums of what the accounts of a file say. */
struct emitted {
    uint64_t attempted;
    uint64_t taken;
    uint64_t no_room;
    uint64_t lost;
    uint64_t refused;
    uint64_t lost_with_times;
    uint32_t accounts; /* of a source */
};

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

static uint8_t type_of(const struct event *event)
{
    return event->record.EventHeader.EventDescriptor.Opcode;
}

static bool is_emitted(const struct event *event, uint8_t type)
{
    return is_account(event) && type_of(event) == type;
}

/* Its payload. */
static void read_emitted(const struct event *event, void *emitted, size_t bytes)
{
    assert_true(event->record.UserDataLength >= bytes);
    memcpy(emitted, event->payload, bytes);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static uint64_t count_kind(const struct events *events,
                           const struct etwas_etl_account_records *kind)
{
    uint64_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        count += processor_of(event) == kind->processor &&
                 is_kernel_event(event, &kind->class_guid, (uint8_t)kind->type);
    }
    return count;
}

/* Made by other sources, too. */
static uint64_t sum_kind(const struct events *events, const struct etwas_etl_account_records *kind)
{
    struct etwas_etl_account_records other;
    uint64_t sum = 0;

    for (size_t index = 0; index < events->count; index++) {
        if (!is_emitted(&events->items[index], ETWAS_ETL_ACCOUNT_RECORDS_TYPE)) {
            continue;
        }
        read_emitted(&events->items[index], &other, sizeof other);
        if (other.processor == kind->processor && other.type == kind->type &&
            memcmp(&other.class_guid, &kind->class_guid, sizeof kind->class_guid) == 0) {
            sum += other.made - other.refused;
        }
    }
    return sum;
}

static void expect_account(const struct etwas_etl_account *account)
{
    uint64_t lost = account->lost_no_room + account->lost_unread + account->lost_not_handed;

    assert_int_equal(account->version, ETWAS_ETL_ACCOUNT_VERSION);
    assert_int_equal(account->attempted, account->taken + lost);
    assert_true(account->without_record <= account->taken);
    assert_int_equal(account->damaged, 0);
}

static void add_account(const struct event *event, const char *name, struct emitted *emitted)
{
    struct etwas_etl_account account;

    read_emitted(event, &account, sizeof account);
    expect_account(&account);
    emitted->lost += account.lost_no_room + account.lost_unread + account.lost_not_handed;
    emitted->no_room += account.lost_no_room;
    if (name != NULL && strcmp((const char *)event->payload + sizeof account, name) == 0) {
        emitted->accounts++;
        emitted->attempted += account.attempted;
        emitted->taken += account.taken;
    }
}

static void add_loss(const struct event *event, struct emitted *emitted)
{
    struct etwas_etl_kernel_loss loss;

    read_emitted(event, &loss, sizeof loss);
    assert_true(loss.events != 0);
    assert_true(loss.from_raw <= loss.until_raw);
    assert_int_equal(loss.until_raw, event->record.EventHeader.TimeStamp.QuadPart);
    emitted->lost_with_times += loss.events;
}

/* Sums up the file, and counts its records beside it. `name`: a source; NULL: none. */
static struct emitted expect_emitted(const struct events *events, const char *name)
{
    struct emitted emitted = {0};
    uint32_t first[3]; /* version, number, count */
    uint32_t number = 0;
    uint64_t known = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        struct etwas_etl_account_records kind;

        if (is_emitted(event, ETWAS_ETL_KERNEL_LOSS_TYPE)) {
            add_loss(event, &emitted);
        } else if (is_emitted(event, ETWAS_ETL_ACCOUNT_TYPE)) {
            add_account(event, name, &emitted);
        } else if (is_emitted(event, ETWAS_ETL_ACCOUNT_RECORDS_TYPE)) {
            read_emitted(event, &kind, sizeof kind);
            assert_int_equal(count_kind(events, &kind), sum_kind(events, &kind));
            emitted.refused += kind.refused;
            known += kind.made - kind.refused;
        }
        if (is_emitted(event, ETWAS_ETL_ACCOUNT_TYPE) ||
            is_emitted(event, ETWAS_ETL_ACCOUNT_RECORDS_TYPE)) {
            read_emitted(event, first, sizeof first);
            assert_int_equal(first[1], number++);
            known++;
        }
    }
    assert_int_equal(number, first[2]);
    /* Nothing is in the file that no account knows. */
    assert_int_equal(known, events->count);
    return emitted;
}

static struct emitted stop_and_expect(etwas_trace_handle session, const char *name)
{
    etwas_session_counts counts;
    struct events events;
    struct emitted emitted;

    stop_session(session, &counts);
    etwas_testpoint_set(NULL);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    emitted = expect_emitted(&events, name);
    assert_int_equal(emitted.lost, counts.lost_in_kernel);
    assert_int_equal(emitted.refused, counts.lost_no_buffer);
    assert_int_equal(emitted.lost_with_times, emitted.no_room);
    free_events(&events);
    return emitted;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void each_source_says_which_records_were_made_of_it(void **state)
{
    etwas_trace_handle session;
    struct emitted emitted;

    (void)state;
    session = start_kernel(MANY);
    (void)run_child();
    (void)hand_over();
    emitted = stop_and_expect(session, "sched:sched_switch");
    assert_in_range(emitted.taken, 1, emitted.attempted);
}

/*
 * The kernel's count is the kernel's: it is counted here too, from before the start, and once less.
 */
static void a_loss_of_the_kernel_has_its_time(void **state)
{
    static struct kernel_count outer;
    static struct kernel_count inner;
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_trace_handle session;
    struct emitted emitted;
    uint64_t least;

    (void)state;
    etwas_system_logger_ring_bytes = 4096;
    ck_pr_store_32(&keep_rings_full, 1);
    etwas_testpoint_set(wait_before_drain);
    begin_counting(&outer, "sched/sched_switch", NULL);
    session = start_kernel(FLAGS);
    etwas_system_logger_ring_bytes = ring_bytes;
    begin_counting(&inner, "sched/sched_switch", NULL);
    (void)hand_over();
    (void)run_child();
    ck_pr_store_32(&keep_rings_full, 0);
    (void)hand_over();
    least = end_counting(&inner);
    emitted = stop_and_expect(session, "sched:sched_switch");
    assert_in_range(emitted.attempted, least, end_counting(&outer));
    assert_in_range(emitted.no_room, HANDOVERS, UINT64_MAX);
}

static void a_source_that_an_update_closed_has_its_account(void **state)
{
    etwas_trace_handle session;
    struct emitted emitted;

    (void)state;
    session = start_kernel(FLAGS);
    (void)hand_over();
    update_kernel_flags(session, EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG,
                        ERROR_SUCCESS);
    (void)hand_over();
    emitted = stop_and_expect(session, "sched:sched_switch");
    assert_in_range(emitted.attempted, 2 * HANDOVERS, UINT64_MAX);
}

static void a_source_without_events_has_an_account(void **state)
{
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_NETWORK_TCPIP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    assert_in_range(stop_and_expect(session, "tcp:tcp_retransmit_skb").accounts, 1, UINT32_MAX);
}

/* Nothing is taken out of it for a while. */
static void records_that_no_buffer_had_room_for_are_counted(void **state)
{
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.BufferSize = 64;
    block.properties.MinimumBuffers = 4;
    block.properties.MaximumBuffers = 4;
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    hand_over_until_no_buffer(session);
    while (counts_of(session).buffers_free == 0) {
        (void)usleep(1000);
    }
    assert_in_range(stop_and_expect(session, NULL).refused, 1, UINT64_MAX);
}

/*
 * What there is in the end is more than the buffers hold, and comes faster than they are emptied.
 */
static void accounts_wait_for_buffers(void **state)
{
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_kernel_block(&block, MANY);
    block.properties.BufferSize = 4;
    block.properties.MinimumBuffers = 3;
    block.properties.MaximumBuffers = 3;
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    (void)stop_and_expect(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_source_says_which_records_were_made_of_it),
        FOLDER_TEST(a_loss_of_the_kernel_has_its_time),
        FOLDER_TEST(a_source_that_an_update_closed_has_its_account),
        FOLDER_TEST(a_source_without_events_has_an_account),
        FOLDER_TEST(records_that_no_buffer_had_room_for_are_counted),
        FOLDER_TEST(accounts_wait_for_buffers),
    };

    return RUN_KERNEL_TESTS("system told account", tests);
}
