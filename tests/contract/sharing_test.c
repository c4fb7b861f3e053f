/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is in a process, and in the user's runtime folder, of one that takes part in what processes
 * share, and of one that does not. Each in a child that has not called the library yet.
 */
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/fixture.h"

/* ---- another user's rights ------------------------------------------------------------------- */

static bool has_anothers_rights;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE && has_anothers_rights ? 1 : __real_getauxval(type);
}

/* ---- a program ------------------------------------------------------------------------------- */

static const char *runtime_folder(void)
{
    return folder_path("run");
}

static uint32_t count_shown(void)
{
    return folder_count_shown(runtime_folder());
}

static void prepare_environment(void)
{
    CHECK_IN_CHILD(setenv("ETWAS_RUNTIME_DIR", runtime_folder(), 1) == 0);
    CHECK_IN_CHILD(unsetenv("ETWAS_SHARED") == 0);
}

static etwas_trace_handle register_provider(void)
{
    etwas_trace_handle registration = 0;

    CHECK_IN_CHILD(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    return registration;
}

/* The session has its event, whether other processes may see the session or not. */
static void run_session(uint32_t threads)
{
    uint32_t before = count_belongings().threads;
    etwas_trace_handle session = 0;
    etwas_session_counts counts;
    struct block block;

    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    CHECK_IN_CHILD(StartTraceA(&session, "a program's", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(count_belongings().threads == before + threads);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == 1 && counts.lost == 0);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
}

/*
 * ---- a process that takes no part
 * -------------------------------------------------------------------------
 */

static int live_alone(void)
{
    struct belongings before = count_belongings();
    struct belongings after;

    (void)register_provider();
    after = count_belongings();
    CHECK_IN_CHILD(after.threads == before.threads && after.descriptors == before.descriptors);
    run_session(1);
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_CANCELLED);
    CHECK_IN_CHILD(access(runtime_folder(), F_OK) != 0);
    return 0;
}

static int say_no_in_the_environment(void)
{
    prepare_environment();
    CHECK_IN_CHILD(setenv("ETWAS_SHARED", "0", 1) == 0);
    return live_alone();
}

static int say_no_by_a_call(void)
{
    prepare_environment();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_NOT_FOUND);
    CHECK_IN_CHILD(etwas_share_nothing() == ERROR_SUCCESS);
    return live_alone();
}

static void nothing_is_there_of_who_shares_nothing(void **state)
{
    (void)state;
    expect_in_child(say_no_in_the_environment);
    expect_in_child(say_no_by_a_call);
}

static int have_anothers_rights(void)
{
    prepare_environment();
    CHECK_IN_CHILD(setenv("ETWAS_SHARED", "1", 1) == 0);
    has_anothers_rights = true;
    return live_alone();
}

static void who_has_another_users_rights_takes_no_part(void **state)
{
    (void)state;
    expect_in_child(have_anothers_rights);
}

/*
 * ---- a process that takes part
 * ----------------------------------------------------------------------------
 */

static int take_part(void)
{
    struct belongings before;
    struct belongings after;

    prepare_environment();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_NOT_FOUND && count_shown() == 0);
    before = count_belongings();
    (void)register_provider();
    after = count_belongings();
    CHECK_IN_CHILD(after.threads == before.threads + 1);
    CHECK_IN_CHILD(after.descriptors == before.descriptors + 6);
    CHECK_IN_CHILD(count_shown() == 2);
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_share_nothing() == ERROR_ALREADY_INITIALIZED);
    run_session(1);
    CHECK_IN_CHILD(count_shown() == 2);
    exit(0);
}

static void what_is_there_of_who_takes_part_goes_with_it(void **state)
{
    (void)state;
    expect_in_child(take_part);
    assert_int_equal(access(runtime_folder(), F_OK), 0);
    assert_int_equal(count_shown(), 0);
}

/*
 * ---- a process that cannot
 * --------------------------------------------------------------------------------
 */

static int find_no_folder(void)
{
    prepare_environment();
    CHECK_IN_CHILD(setenv("ETWAS_RUNTIME_DIR", folder_path("not/there"), 1) == 0);
    (void)register_provider();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_PATH_NOT_FOUND);
    run_session(1);
    return 0;
}

static int find_a_folder_of_everybodys(void)
{
    prepare_environment();
    CHECK_IN_CHILD(mkdir(runtime_folder(), 0700) == 0 && chmod(runtime_folder(), 0755) == 0);
    (void)register_provider();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_ACCESS_DENIED);
    run_session(1);
    CHECK_IN_CHILD(count_shown() == 0 && rmdir(runtime_folder()) == 0);
    return 0;
}

/* What is shown to others is small, and the buffers are not. */
static int find_no_room(void)
{
    const struct rlimit little = {.rlim_cur = 1 << 16, .rlim_max = 1 << 16};

    prepare_environment();
    CHECK_IN_CHILD(setrlimit(RLIMIT_FSIZE, &little) == 0);
    (void)register_provider();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_SUCCESS);
    run_session(1);
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_DISK_FULL);
    CHECK_IN_CHILD(count_shown() == 2);
    exit(0);
}

static int find_no_descriptors(void)
{
    const struct rlimit few = {.rlim_cur = 5, .rlim_max = 5};

    prepare_environment();
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &few) == 0);
    (void)register_provider();
    CHECK_IN_CHILD(etwas_sharing_state() == ERROR_NO_SYSTEM_RESOURCES);
    return 0;
}

static void where_nothing_can_be_shared_a_session_is_its_processs_own(void **state)
{
    (void)state;
    expect_in_child(find_no_folder);
    expect_in_child(find_a_folder_of_everybodys);
    expect_in_child(find_no_room);
    expect_in_child(find_no_descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(nothing_is_there_of_who_shares_nothing),
        FOLDER_TEST(who_has_another_users_rights_takes_no_part),
        FOLDER_TEST(what_is_there_of_who_takes_part_goes_with_it),
        FOLDER_TEST(where_nothing_can_be_shared_a_session_is_its_processs_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
