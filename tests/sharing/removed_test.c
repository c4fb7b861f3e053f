/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The runtime folder, or what is in it, is removed while processes take part, as the end of a login
 * does: they are found again, with their providers and sessions, and log on.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <etwas/etwas.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid later_guid = {0x88888888, 8, 8, {8, 8, 8, 8, 8, 8, 8, 8}};
static const etwas_guid before_guid = {0x99999999, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};

enum {
    SOME = 100,
    PAUSE_US = 1000,
    TIMEOUT_MS = 60000,
    FILES_OF_ONE = 5, /* a process has two, a session three */
    FILES_OF_TWO = FILES_OF_ONE + 2,
};

static const char *runtime(void)
{
    return getenv("ETWAS_RUNTIME_DIR");
}

/* Returns how many; 0: there is no folder now. */
static uint32_t count_matching(const char *pattern, bool removes)
{
    DIR *list = opendir(runtime());
    const struct dirent *found;
    uint32_t count = 0;

    while (list != NULL && (found = readdir(list)) != NULL) {
        count += fnmatch(pattern, found->d_name, FNM_PERIOD) == 0 &&
                 (!removes || unlinkat(dirfd(list), found->d_name, 0) == 0);
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return count;
}

static void remove_files(void)
{
    (void)count_matching("*", true);
}

/*
 * Until all are there again. A temporary file (t.…) is none of them: while one process replaces a
 * list by it, the socket of the other may still be missing, to which nobody can answer.
 */
static void wait_for_files(void)
{
    while (count_matching("[!t]*", false) < FILES_OF_TWO) {
        (void)usleep(PAUSE_US);
    }
}

/* What is made anew meanwhile keeps it, until that is removed, too. */
static void remove_folder(void)
{
    do {
        remove_files();
    } while (rmdir(runtime()) != 0);
}

static void skip_unless_shared(etwas_trace_handle session)
{
    etwas_session_counts counts;

    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    if (counts.unshared == ETWAS_UNSHARED_SEQUENCES) {
        (void)stop_by_handle(session);
        print_message("skipped: the system has no restartable sequences\n");
        skip();
    }
}

/* ---- what others find ------------------------------------------------------------------------ */

static uint32_t wait_for_session(const char *name)
{
    struct block block;
    uint32_t code;

    do {
        prepare_block(&block, NULL);
        code = QueryTraceA(0, name, &block.properties);
        (void)usleep(PAUSE_US);
    } while (code == ERROR_WMI_INSTANCE_NOT_FOUND);
    return code;
}

static uint32_t count_instances(const etwas_guid *guid)
{
    static TRACE_GUID_INFO answer[256];
    etwas_guid asked = *guid;
    uint32_t bytes;

    return EnumerateTraceGuidsEx(TraceGuidQueryInfo, &asked, sizeof asked, answer, sizeof answer,
                                 &bytes) == ERROR_SUCCESS
               ? answer->InstanceCount
               : 0;
}

/*
 * A process that comes later finds the provider and the session, and cannot have its name. What
 * the session enabled before and after the removal reaches it.
 */
static int newcomer(void)
{
    struct block block;
    etwas_trace_handle session;

    CHECK_IN_CHILD(wait_for_session("survivor") == ERROR_SUCCESS);
    while (count_instances(&later_guid) == 0) {
        (void)usleep(PAUSE_US);
    }
    prepare_block(&block, folder_path("other.etl"));
    CHECK_IN_CHILD(StartTraceA(&session, "SURVIVOR", &block.properties) == ERROR_ALREADY_EXISTS);
    (void)register_provider(&control_guid);
    (void)register_provider(&before_guid);
    CHECK_IN_CHILD(comes_to(&board->enabled, 3)); /* with the one in the other program */
    log_until_recorded(1);
    return 0;
}

/*
 * One that was there before, and registers one more provider later; what is enabled then reaches
 * it.
 */
static int provider_program(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    (void)register_modern(&later_guid, NULL);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    while (ck_pr_load_32(&board->end) == 0) {
        if (enabling_session() != 0) {
            log_until_recorded(2);
        }
        (void)usleep(PAUSE_US);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void check_after(void (*remove_all)(void))
{
    etwas_trace_handle session = start_in_file("survivor", "log.etl");
    etwas_session_counts counts;
    int provider;

    skip_unless_shared(session);
    assert_int_equal(enable_with_timeout(session, &before_guid, 0), ERROR_SUCCESS);
    provider = start_program(provider_program);
    assert_true(comes_to(&board->registered, 2));
    remove_all();
    ck_pr_store_32(&board->go, 1);
    wait_for_files();
    assert_int_equal(etwas_sharing_state(), ERROR_SUCCESS);
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_true(comes_to(&board->enabled, 1));
    assert_true(comes_to(&board->logged, SOME));
    assert_int_equal(exit_code_of(start_program(newcomer)), 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, board->logged);
    assert_int_equal(counts.lost, board->lost);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

static void processes_are_found_again_when_the_folder_was_removed(void **state)
{
    (void)state;
    check_after(remove_folder);
}

static void processes_are_found_again_when_its_files_were_removed(void **state)
{
    (void)state;
    check_after(remove_files);
}

/* Somebody removes one, and leaves the files that are there. */
static void a_socket_that_is_removed_alone_is_made_anew(void **state)
{
    static const char *const kinds[] = {"s.*.sock", "p.*[!s]"};
    etwas_trace_handle session = start_in_file("survivor", "log.etl");
    etwas_session_counts counts;
    int provider;

    (void)state;
    skip_unless_shared(session);
    provider = start_program(provider_program);
    assert_true(comes_to(&board->registered, 2));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        assert_int_not_equal(count_matching(kinds[kind], true), 0);
        wait_for_files();
    }
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, board->logged);
}

/* What lies in the place of the folder keeps the files away, and is removed, too. */
static void a_failure_that_has_passed_is_reported_no_more(void **state)
{
    etwas_trace_handle session = start_in_file("survivor", "log.etl");
    int in_its_place;

    (void)state;
    skip_unless_shared(session);
    do {
        remove_folder();
        in_its_place = open(runtime(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } while (in_its_place < 0);
    while (etwas_sharing_state() == ERROR_SUCCESS) {
        (void)usleep(PAUSE_US);
    }
    (void)close(in_its_place);
    assert_int_equal(unlink(runtime()), 0);
    assert_int_equal(etwas_share(), ERROR_SUCCESS);
    assert_int_equal(count_matching("[!t]*", false), FILES_OF_ONE);
    assert_int_equal(etwas_sharing_state(), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/* ---- a name that somebody else has by now ---------------------------------------------------- */

static int taker(void)
{
    etwas_trace_handle session;
    struct block block;

    CHECK_IN_CHILD(comes_to(&board->go, 1));
    prepare_block(&block, folder_path("taken.etl"));
    while (StartTraceA(&session, "taken", &block.properties) != ERROR_SUCCESS) {
        remove_files();
        prepare_block(&block, folder_path("taken.etl"));
    }
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/* It records on, found by nobody, and says so until it ends. */
static void a_session_whose_name_is_taken_meanwhile_is_hidden_and_says_so(void **state)
{
    etwas_trace_handle session = start_in_file("taken", "log.etl");
    etwas_session_counts counts;
    int other;

    (void)state;
    skip_unless_shared(session);
    other = start_program(taker);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 1));
    do {
        assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
        (void)usleep(PAUSE_US);
    } while (counts.unshared != ETWAS_UNSHARED_HIDDEN);
    assert_int_equal(etwas_sharing_state(), ERROR_ALREADY_EXISTS);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(other), 0);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(etwas_sharing_state(), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(processes_are_found_again_when_the_folder_was_removed),
        PROGRAMS_TEST(processes_are_found_again_when_its_files_were_removed),
        PROGRAMS_TEST(a_socket_that_is_removed_alone_is_made_anew),
        PROGRAMS_TEST(a_failure_that_has_passed_is_reported_no_more),
        PROGRAMS_TEST(a_session_whose_name_is_taken_meanwhile_is_hidden_and_says_so),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
