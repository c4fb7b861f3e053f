/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What processes may send to a host, and what comes of it: handles of sessions that have ended, two
 * that wait at once, much at once, and nonsense.
 */
#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "platform/wait.h"
#include "provider/description.h"
#include "registry/connection.h"
#include "registry/sessions.h"
#include "sharing/programs.h"
#include "sharing/service.h"
#include "support/metadata.h"

static const etwas_guid other_guid = {0x55555555, 5, 5, {5, 5, 5, 5, 5, 5, 5, 5}};
static const etwas_guid session_guid = {0x66666666, 6, 6, {6, 6, 6, 6, 6, 6, 6, 6}};

enum {
    TIMEOUT_MS = 10000,
    SETTLE_NS = 1000000000,
    CALLBACK_US = 200000,
    CLASSES = 600, /* more than a socket takes at once */
    SOME = 1000,
    LEAST_FILES = 600, /* the library's own have numbers from 512 on */
};

/* ---- handles --------------------------------------------------------------------------------- */

/* One session after the other under one GUID. */
static int host_of_two(void)
{
    struct block block;
    etwas_trace_handle session;

    prepare_block(&block, folder_path("one.etl"));
    block.properties.Wnode.Guid = session_guid;
    session = start_block("one", &block);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    prepare_block(&block, folder_path("two.etl"));
    block.properties.Wnode.Guid = session_guid;
    session = start_block("two", &block);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

static void a_handle_of_a_session_that_is_over_finds_nothing_of_the_next(void **state)
{
    int host = start_program(host_of_two);
    etwas_trace_handle handle;
    struct block block;

    (void)state;
    assert_true(comes_to(&board->steps, 1));
    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(0, "one", &block.properties), ERROR_SUCCESS);
    handle = block.properties.Wnode.HistoricalContext;
    assert_int_equal(QueryTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 2));
    assert_int_equal(QueryTraceA(handle, NULL, &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(StopTraceA(handle, NULL, &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(enable_with_timeout(handle, &control_guid, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryTraceA(0, "two", &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(host), 0);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static uint32_t receive_slowly(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                               void *buffer)
{
    (void)context;
    (void)bytes;
    (void)buffer;
    if (request == WMI_ENABLE_EVENTS) {
        ck_pr_inc_32(&board->steps);
        (void)usleep(CALLBACK_US);
        ck_pr_inc_32(&board->enabled);
    }
    return ERROR_SUCCESS;
}

static int slow_provider(void)
{
    etwas_trace_handle registration;

    CHECK_IN_CHILD(RegisterTraceGuidsA(receive_slowly, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

static void *enable_other(void *session)
{
    CHECK_IN_CHILD(comes_to(&board->steps, 1));
    CHECK_IN_CHILD(enable_with_timeout((etwas_trace_handle)(uintptr_t)session, &other_guid,
                                       TIMEOUT_MS) == ERROR_SUCCESS);
    return NULL;
}

static int host_that_asks_twice(void)
{
    etwas_trace_handle session = start_in_file("twice", "log.etl");
    pthread_t thread;

    CHECK_IN_CHILD(pthread_create(&thread, NULL, enable_other, (void *)(uintptr_t)session) == 0);
    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    CHECK_IN_CHILD(ck_pr_load_32(&board->enabled) == 1);
    CHECK_IN_CHILD(pthread_join(thread, NULL) == 0);
    return 0;
}

/* R190: with a timeout the callback has returned, also if somebody else asks meanwhile. */
static void two_who_enable_at_once_both_wait(void **state)
{
    int provider = start_program(slow_provider);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(host_that_asks_twice)), 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
}

/* ---- much at once ---------------------------------------------------------------------------- */

static int talkative_provider(void)
{
    for (uint32_t class = 0; class < CLASSES; class ++) {
        (void)describe_one(1);
    }
    return idle_program();
}

static int host_of_descriptions(void)
{
    etwas_trace_handle session = start_in_file("descriptions", "log.etl");
    struct block block;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

static void all_that_a_guest_describes_is_in_the_hosts_file(void **state)
{
    int provider = start_program(talkative_provider);
    struct metadata *metadata = calloc(1, sizeof *metadata);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(host_of_descriptions)), 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    metadata_read(folder_path("log.etl"), metadata);
    assert_true(has_classes(metadata, CLASSES, 1));
    free(metadata);
}

static const etwas_guid manifest_guid = {0x4D414E49, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};

/* Its manifest is an event, and of that event its host is told besides. */
static int provider_with_manifest(void)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 0xFFFE, .Task = 0xFFFE, .Opcode = 0xFE};
    static const uint8_t chunk[] = {1, 1, 0, 0x5B, 1, 0, 0, 0, '<', '/', '>'};
    const REGHANDLE handle = register_modern(&manifest_guid, NULL);
    EVENT_DATA_DESCRIPTOR piece;

    EventDataDescCreate(&piece, chunk, sizeof chunk);
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    CHECK_IN_CHILD(EventWrite(handle, &descriptor, 1, &piece) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

static bool is_described_by_manifest(void)
{
    struct etwas_description_cursor cursor = {0};
    const struct etwas_description *one;

    while ((one = etwas_descriptions_next(&cursor)) != NULL) {
        if (one->subject.kind == ETWAS_DESCRIBES_BY_MANIFEST &&
            memcmp(&one->subject.guid, &manifest_guid, sizeof manifest_guid) == 0) {
            return true;
        }
    }
    return false;
}

static int host_of_manifest(void)
{
    etwas_trace_handle session = start_in_file("manifest", "log.etl");

    CHECK_IN_CHILD(enable_with_timeout(session, &manifest_guid, 0) == ERROR_SUCCESS);
    while (!is_described_by_manifest()) {
        (void)usleep(1000);
    }
    ck_pr_store_32(&board->end, 1);
    (void)stop_by_handle(session);
    return 0;
}

static void a_guests_manifest_is_told_to_its_host(void **state)
{
    int host = start_program(host_of_manifest);
    int provider = start_program(provider_with_manifest);

    (void)state;
    assert_int_equal(exit_code_of(host), 0);
    assert_int_equal(exit_code_of(provider), 0);
}

/* ---- nonsense -------------------------------------------------------------------------------- */

static int connect_to(const char *name)
{
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    etwas_wchar wide[64];
    int connection;

    assert_int_equal(etwas_registry_find(wide_of(name, wide, 64), &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, etwas_monotonic_ns() + UINT64_C(5000000000),
                                            &connection, &peer),
                     ERROR_SUCCESS);
    free(entry);
    return connection;
}

static void say(int connection, uint16_t op, uint32_t bytes)
{
    static const uint8_t body[256];
    const struct etwas_message message = {.op = op, .bytes = bytes, .descriptor = -1};

    (void)etwas_message_send(connection, &message, body, 0);
}

/* Receives until the host closes the connection. */
static void expect_end(int connection)
{
    static uint8_t body[ETWAS_MESSAGE_BYTES];
    struct etwas_message answer;
    uint32_t code;

    do {
        code = etwas_message_receive(connection, &answer, body, sizeof body,
                                     etwas_monotonic_ns() + UINT64_C(10000000000));
        if (code == ERROR_SUCCESS && answer.descriptor >= 0) {
            (void)close(answer.descriptor);
        }
    } while (code == ERROR_SUCCESS);
    assert_int_equal(code, ERROR_BROKEN_PIPE);
    (void)close(connection);
}

static int lone_host(void)
{
    etwas_trace_handle session = start_in_file("bothered", "log.etl");
    struct belongings before = count_belongings();
    struct block block;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    /* The control thread hears of an end soon, and not at once. */
    while (count_belongings().descriptors > before.descriptors) {
        (void)usleep(1000); /* limit_child ends a child that waits for ever */
    }
    CHECK_IN_CHILD(count_belongings().descriptors == before.descriptors);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/* It ends such connections, and serves others. */
static void nonsense_ends_a_connection_and_nothing_else(void **state)
{
    int host = start_program(lone_host);
    int guest;
    int connection;

    (void)state;
    assert_true(comes_to(&board->steps, 1));
    connection = connect_to("bothered");
    say(connection, ETWAS_MESSAGE_ATTACH, 0);
    say(connection, ETWAS_MESSAGE_ATTACH, 0);
    expect_end(connection);
    connection = connect_to("bothered");
    say(connection, ETWAS_MESSAGE_ATTACH, 0);
    say(connection, ETWAS_MESSAGE_CONTROL, 64);
    expect_end(connection);
    connection = connect_to("bothered");
    say(connection, ETWAS_MESSAGE_DESCRIBE, 255);
    say(connection, ETWAS_MESSAGE_ACKNOWLEDGE, 3);
    say(connection, ETWAS_MESSAGE_CONTROL, 7);
    expect_end(connection);
    connection = connect_to("bothered");
    say(connection, 0xFFFF, 0);
    expect_end(connection);
    guest = start_program(logging_program);
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(host), 0);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* ---- too little ------------------------------------------------------------------------------ */

static int opened[LEAST_FILES];
static uint32_t opened_count;

static void open_all_files(void)
{
    const struct rlimit few = {.rlim_cur = LEAST_FILES, .rlim_max = LEAST_FILES};

    /* Else a thread may let go of a descriptor later. */
    etwas_service_wait_idle(etwas_monotonic_ns() + SETTLE_NS);
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &few) == 0);
    opened_count = 0;
    while (opened_count < LEAST_FILES &&
           (opened[opened_count] = open("/dev/null", O_RDONLY)) >= 0) {
        opened_count++;
    }
    CHECK_IN_CHILD(opened_count < LEAST_FILES);
}

static void close_all_files(void)
{
    while (opened_count > 0) {
        (void)close(opened[--opened_count]);
    }
}

/* Opens whatever it may, and lets go of it again; board->end ends it. */
static int host_without_descriptors(void)
{
    etwas_trace_handle session = start_in_file("poor", "log.etl");
    struct block block;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    open_all_files();
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    close_all_files();
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/* What sends no request hears so at once, and is not kept; requests are answered. */
static void a_host_that_may_open_nothing_turns_away(void **state)
{
    int host = start_program(host_without_descriptors);
    struct block block;
    int guest;

    (void)state;
    assert_true(comes_to(&board->steps, 1));
    for (uint32_t index = 0; index < 3; index++) {
        expect_end(connect_to("poor"));
    }
    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(0, "poor", &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 2));
    assert_int_equal(QueryTraceA(0, "poor", &block.properties), ERROR_SUCCESS);
    guest = start_program(logging_program);
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(exit_code_of(host), 0);
}

static void wait_for_turned_away(etwas_trace_handle session, uint32_t wanted)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    etwas_session_counts counts;

    do {
        (void)nanosleep(&pause, NULL);
        CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_SUCCESS);
    } while (counts.unattached_processes != wanted);
    CHECK_IN_CHILD(counts.unattached_code == ERROR_NO_SYSTEM_RESOURCES);
}

/*
 * Processes come while it may open nothing: one while it is stopped, which has counted events when
 * it is turned away, and one that has not.
 */
static int host_that_turns_away(void)
{
    etwas_trace_handle session = start_in_file("crowded", "log.etl");
    etwas_session_counts counts;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    open_all_files();
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    wait_for_turned_away(session, 1);
    CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.lost_unattached >= SOME && counts.recorded == 0);
    ck_pr_inc_32(&board->steps);
    wait_for_turned_away(session, 2);
    close_all_files();
    wait_for_turned_away(session, 0);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(comes_to(&board->go, 2));
    CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == board->logged && counts.lost == board->lost);
    CHECK_IN_CHILD(counts.lost_unattached != 0 && counts.unattached_processes == 0);
    CHECK_IN_CHILD(counts.unattached_total == 2);
    return 0;
}

/* They are counted, as is what they have counted, and come in once files may be opened. */
static void a_process_that_is_turned_away_is_said_and_tries_again(void **state)
{
    int host = start_program(host_that_turns_away);
    int early;
    int late;

    (void)state;
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(kill(host, SIGSTOP), 0);
    early = start_program(logging_program);
    assert_true(comes_to(&board->lost, SOME));
    assert_int_equal(kill(host, SIGCONT), 0);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 2));
    late = start_program(logging_program);
    assert_true(comes_to(&board->steps, 3));
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(early), 0);
    assert_int_equal(exit_code_of(late), 0);
    ck_pr_store_32(&board->go, 2);
    assert_int_equal(exit_code_of(host), 0);
}

static int host_that_cannot_ask(void)
{
    etwas_trace_handle session = start_in_file("mute", "log.etl");
    struct rlimit limit;
    struct rlimit none;
    struct block block;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    CHECK_IN_CHILD(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK_IN_CHILD(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0,
                                  0, NULL) != ERROR_SUCCESS);
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_IN_CHILD(enable_with_timeout(session, &other_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    CHECK_IN_CHILD(ck_pr_load_32(&board->captured) == 0);
    CHECK_IN_CHILD(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0,
                                  TIMEOUT_MS, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(ck_pr_load_32(&board->captured) == 1);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/* Nor does the next change, which has nothing to do with it. */
static void what_cannot_be_published_asks_nobody_for_its_state(void **state)
{
    int provider = start_program(idle_program);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(host_that_cannot_ask)), 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(a_handle_of_a_session_that_is_over_finds_nothing_of_the_next),
        PROGRAMS_TEST(two_who_enable_at_once_both_wait),
        PROGRAMS_TEST(all_that_a_guest_describes_is_in_the_hosts_file),
        PROGRAMS_TEST(a_guests_manifest_is_told_to_its_host),
        PROGRAMS_TEST(nonsense_ends_a_connection_and_nothing_else),
        PROGRAMS_TEST(a_host_that_may_open_nothing_turns_away),
        PROGRAMS_TEST(a_process_that_is_turned_away_is_said_and_tries_again),
        PROGRAMS_TEST(what_cannot_be_published_asks_nobody_for_its_state),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
