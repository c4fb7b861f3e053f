/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Callbacks of providers that other programs' sessions enable: they may control these sessions,
 * start others, unregister and take their time, and nobody waits for ever.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid other_guid = {0x55555555, 5, 5, {5, 5, 5, 5, 5, 5, 5, 5}};

enum {
    TIMEOUT_MS = 60000,
    SHORT_MS = 50, /* where it passes anyway */
};

/* What callbacks were told, in memory that all processes share. */
struct codes {
    uint32_t query_all;
    uint32_t sessions; /* that it found */
    uint32_t query;
    uint32_t flush;
    uint32_t update;
    uint32_t enable;      /* another provider, in the same session … */
    uint32_t enable_wait; /* … and waiting for callbacks, of which this is one */
    uint32_t capture;
    uint32_t start; /* a session of its own … */
    uint32_t stop_own;
    uint32_t stop; /* … and the session that enables it */
    uint32_t unregister;
};

static struct codes *codes;

static int begin(void **state)
{
    if (programs_begin(state) != 0) {
        return -1;
    }
    codes = shared_memory(sizeof *codes);
    return codes == NULL ? -1 : 0;
}

static etwas_trace_handle registration; /* of this process */

static int run_until_end(WMIDPREQUEST callback)
{
    CHECK_IN_CHILD(RegisterTraceGuidsA(callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

/* ---- control --------------------------------------------------------------------------------- */

static uint32_t control(etwas_trace_handle session, const char *name, uint32_t code)
{
    static struct block block;

    prepare_block(&block, NULL);
    if (code == EVENT_TRACE_CONTROL_UPDATE) {
        block.properties.FlushTimer = 7;
        block.properties.LogFileNameOffset = 0;
    }
    return ControlTraceA(session, name, &block.properties, code);
}

static uint32_t use_own_session(void)
{
    static struct block block;
    etwas_trace_handle own;

    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    codes->start = StartTraceA(&own, "of a callback", &block.properties);
    (void)enable_with_timeout(own, &other_guid, 0);
    return StopTraceA(own, NULL, &block.properties);
}

/*
 * Controls the session by the handle that enables it, and by name. The last call ends the session.
 */
static uint32_t control_all(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    etwas_trace_handle session = GetTraceLoggerHandle(buffer);

    (void)context;
    (void)bytes;
    if (request == WMI_ENABLE_EVENTS && ck_pr_load_32(&board->enabled) == 0) {
        ck_pr_inc_32(&board->enabled);
        codes->query_all = query_all(&codes->sessions);
        codes->query = control(session, NULL, EVENT_TRACE_CONTROL_QUERY);
        codes->flush = control(0, "controlled", EVENT_TRACE_CONTROL_FLUSH);
        codes->update = control(session, NULL, EVENT_TRACE_CONTROL_UPDATE);
        codes->enable = enable_with_timeout(session, &other_guid, 0);
        codes->enable_wait = enable_with_timeout(session, &other_guid, SHORT_MS);
        codes->capture = EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0,
                                        0, 0, 0, NULL);
        codes->stop_own = use_own_session();
        codes->stop = control(session, NULL, EVENT_TRACE_CONTROL_STOP);
        ck_pr_inc_32(&board->steps);
    } else if (request == WMI_DISABLE_EVENTS) {
        ck_pr_inc_32(&board->disabled);
    }
    return ERROR_SUCCESS;
}

static int controlling_program(void)
{
    return run_until_end(control_all);
}

/* R141: the session's end is told when the callback that caused it has returned. */
static void a_callback_may_control_the_session_that_enables_it(void **state)
{
    etwas_trace_handle session = start_in_file("controlled", "log.etl");
    int program = start_program(controlling_program);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    assert_true(comes_to(&board->steps, 1));
    assert_true(comes_to(&board->disabled, 1));
    assert_int_equal(codes->query_all, ERROR_SUCCESS);
    assert_int_equal(codes->sessions, 1);
    assert_int_equal(codes->query, ERROR_SUCCESS);
    assert_int_equal(codes->flush, ERROR_SUCCESS);
    assert_int_equal(codes->update, ERROR_SUCCESS);
    assert_int_equal(codes->enable, ERROR_SUCCESS);
    assert_int_equal(codes->enable_wait, ERROR_TIMEOUT);
    assert_int_equal(codes->capture, ERROR_SUCCESS);
    assert_int_equal(codes->start, ERROR_SUCCESS);
    assert_int_equal(codes->stop_own, ERROR_SUCCESS);
    assert_int_equal(codes->stop, ERROR_SUCCESS);
    assert_int_equal(control(session, NULL, EVENT_TRACE_CONTROL_STOP),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
}

/* ---- each other ------------------------------------------------------------------------------ */

static const char *const names[2] = {"of one", "of the other"};
static uint32_t its_number; /* of the next program */

static uint32_t control_the_other(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                                  void *buffer)
{
    (void)context;
    (void)bytes;
    (void)buffer;
    if (request == WMI_ENABLE_EVENTS) {
        /* Whose process waits for this callback. */
        CHECK_IN_CHILD(control(0, names[1 - its_number], EVENT_TRACE_CONTROL_FLUSH) ==
                       ERROR_SUCCESS);
        ck_pr_inc_32(&board->enabled);
    }
    return ERROR_SUCCESS;
}

static int host_and_guest(void)
{
    const etwas_guid *const guids[2] = {&control_guid, &other_guid};
    etwas_trace_handle session = start_in_file(names[its_number], names[its_number]);
    struct block block;

    CHECK_IN_CHILD(RegisterTraceGuidsA(control_the_other, NULL, guids[its_number], 0, NULL, NULL,
                                       NULL, &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->registered, 2));
    CHECK_IN_CHILD(enable_with_timeout(session, guids[1 - its_number], TIMEOUT_MS) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->enabled, 2));
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->steps, 2));
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/*
 * Each is a guest of the other's session, and waits for the other's callback, which controls its
 * session.
 */
static void two_programs_may_control_each_other_at_once(void **state)
{
    int programs[2];

    (void)state;
    for (uint32_t index = 0; index < 2; index++) {
        its_number = index;
        programs[index] = start_program(host_and_guest);
    }
    assert_int_equal(exit_code_of(programs[0]), 0);
    assert_int_equal(exit_code_of(programs[1]), 0);
    assert_int_equal(board->enabled, 2);
}

/* ---- unregistering --------------------------------------------------------------------------- */

static uint32_t unregister_itself(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                                  void *buffer)
{
    (void)context;
    (void)bytes;
    (void)buffer;
    ck_pr_inc_32(request == WMI_ENABLE_EVENTS ? &board->enabled : &board->disabled);
    codes->unregister = UnregisterTraceGuids(registration);
    return ERROR_SUCCESS;
}

static uint64_t modern; /* of this process */

static void modern_unregisters_itself(const etwas_guid *source, uint32_t is_enabled, uint8_t level,
                                      uint64_t any, uint64_t all, EVENT_FILTER_DESCRIPTOR *filter,
                                      void *context)
{
    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    ck_pr_inc_32(is_enabled != 0 ? &board->enabled : &board->disabled);
    CHECK_IN_CHILD(EventUnregister(modern) == ERROR_SUCCESS);
}

static int leaving_program(void)
{
    CHECK_IN_CHILD(EventRegister(&other_guid, modern_unregisters_itself, NULL, &modern) ==
                   ERROR_SUCCESS);
    return run_until_end(unregister_itself);
}

/* It is called no more, and its session goes on. */
static void a_provider_may_unregister_inside_its_callback(void **state)
{
    etwas_trace_handle session = start_in_file("left", "log.etl");
    int program = start_program(leaving_program);
    int guest;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    codes->unregister = UINT32_MAX;
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(enable_with_timeout(session, &other_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(codes->unregister, ERROR_SUCCESS);
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(board->enabled, 2);
    guest = start_program(logging_program);
    assert_true(comes_to(&board->logged, 1));
    assert_int_equal(board->enabled, 3);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(exit_code_of(guest), 0);
    (void)stop_by_handle(session);
    assert_int_equal(board->disabled, 0);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static uint32_t block_until_go(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                               void *buffer)
{
    (void)context;
    (void)bytes;
    (void)buffer;
    if (request == WMI_ENABLE_EVENTS) {
        ck_pr_inc_32(&board->steps);
        CHECK_IN_CHILD(comes_to(&board->go, 1));
    } else {
        ck_pr_inc_32(&board->captured); /* its end */
    }
    return ERROR_SUCCESS;
}

static void note_other(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                       uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    ck_pr_add_32(&codes->enable, is_enabled != 0);
}

static int blocked_program(void)
{
    CHECK_IN_CHILD(EventRegister(&other_guid, note_other, NULL, &modern) == ERROR_SUCCESS);
    return run_until_end(block_until_go);
}

/*
 * The caller that waits for it gets a timeout. Other providers, also of its process, are enabled
 * and log, and sessions end.
 */
static void a_callback_that_does_not_return_holds_up_nobody(void **state)
{
    etwas_trace_handle session = start_in_file("held up", "log.etl");
    int blocked = start_program(blocked_program);
    struct block block;
    int guest;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enable_with_timeout(session, &control_guid, SHORT_MS), ERROR_TIMEOUT);
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(enable_with_timeout(session, &other_guid, 0), ERROR_SUCCESS);
    assert_true(comes_to(&codes->enable, 1));
    guest = start_program(logging_program);
    assert_true(comes_to(&board->logged, 1));
    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    (void)stop_by_handle(session);
    assert_true(comes_to(&board->disabled, 1));
    assert_int_equal(board->captured, 0);

    session = start_in_file("next", "next.etl");
    assert_int_equal(enable_with_timeout(session, &control_guid, SHORT_MS), ERROR_TIMEOUT);
    assert_true(comes_to(&board->enabled, 2));
    assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + 1));
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->captured, 1));
    (void)stop_by_handle(session);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(blocked), 0);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(count_events(folder_path("log.etl")) + count_events(folder_path("next.etl")),
                     board->logged);
}

#define CALLBACK_TEST(test) cmocka_unit_test_setup_teardown(test, begin, programs_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALLBACK_TEST(a_callback_may_control_the_session_that_enables_it),
        CALLBACK_TEST(two_programs_may_control_each_other_at_once),
        CALLBACK_TEST(a_provider_may_unregister_inside_its_callback),
        CALLBACK_TEST(a_callback_that_does_not_return_holds_up_nobody),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
