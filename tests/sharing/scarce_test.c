/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Programs that live for a moment, and programs that the system gives little: beside a host that
 * enables their provider.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <etwas/etwas.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/session_entry.h"
#include "registry/sessions.h"
#include "session/session.h"
#include "sharing/host.h"
#include "sharing/programs.h"

/* ---- programs that live for a moment --------------------------------------------------------- */

#define REGISTERING_NS UINT64_C(50000000)

enum {
    LIVES = 200,
    AT_ONCE = 4,
    EVENTS = 10,    /* of a life */
    LITTLE_MB = 16, /* the stacks of two threads take all of it */
    MOST_LEFT = 20, /* descriptors, of which sharing takes a dozen */
    SHARES = 3,     /* what a program exits with */
};

static uint32_t life; /* of the program that is started next */

static int live_for_a_moment(void)
{
    const uint32_t number = life;
    const uint64_t before_ns = etwas_monotonic_ns();
    uint64_t session;

    (void)register_provider(&control_guid);
    session = enabling_session();
    if (session == 0) {
        CHECK_IN_CHILD(etwas_monotonic_ns() - before_ns >= REGISTERING_NS);
        return 0;
    }
    for (uint32_t event = 0; event < EVENTS; event++) {
        uint32_t code = log_number(session, number * EVENTS + event);

        CHECK_IN_CHILD(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
        ck_pr_inc_32(code == ERROR_SUCCESS ? &board->logged : &board->lost);
    }
    return 0;
}

/* Whatever it was told is recorded is in the file, once, and the rest is counted. */
static void programs_that_live_for_a_moment_lose_nothing_unseen(void **state)
{
    static bool is_there[LIVES * EVENTS];
    etwas_session_counts counts;
    struct events events;
    etwas_trace_handle session = start_in_file("moments", "moments.etl");

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    for (life = 0; life < LIVES;) {
        int programs[AT_ONCE];

        for (uint32_t index = 0; index < AT_ONCE; index++, life++) {
            programs[index] = start_program(live_for_a_moment);
        }
        for (uint32_t index = 0; index < AT_ONCE; index++) {
            assert_int_equal(exit_code_of(programs[index]), 0);
        }
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, board->logged);
    assert_int_equal(counts.lost, board->lost);
    assert_int_equal(counts.overwritten, 0);
    assert_true(board->logged != 0);
    read_events(folder_path("moments.etl"), 0, &events);
    assert_int_equal(events.count, counts.recorded);
    memset(is_there, 0, sizeof is_there);
    for (size_t index = 0; index < events.count; index++) {
        uint64_t number = number_of(&events.items[index]);

        assert_in_range(number, 0, LIVES * EVENTS - 1);
        assert_false(is_there[number]);
        is_there[number] = true;
    }
    free_events(&events);
}

/* ---- programs that are given little ---------------------------------------------------------- */

/* A provider can be registered, and a session of its own records, whether or not it takes part. */
static uint32_t live_alone(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 2};
    etwas_trace_handle registration = register_provider(&control_guid);
    etwas_session_counts counts;
    etwas_trace_handle session;
    uint32_t code = etwas_start("alone", NULL, &options, &session);

    if (code == ERROR_SUCCESS) {
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
        CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
        CHECK_IN_CHILD(counts.recorded == 1);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return code;
}

/* As ETW's pages have it: shared where that can be had. */
static void start_and_stop(void)
{
    struct block block;
    etwas_trace_handle session;

    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    CHECK_IN_CHILD(StartTraceA(&session, "poor", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
}

static uint32_t how_little; /* the program that is started next has */

static int have_few_descriptors(void)
{
    struct belongings before = count_belongings();
    struct rlimit limit;

    CHECK_IN_CHILD(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = how_little;
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_IN_CHILD(live_alone() == ERROR_SUCCESS);
    start_and_stop();
    if (etwas_share() != ERROR_SUCCESS) {
        limit.rlim_cur = limit.rlim_max;
        CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        /* The folder stays open. */
        CHECK_IN_CHILD(count_belongings().descriptors <= before.descriptors + 1);
        CHECK_IN_CHILD(etwas_share() == ERROR_SUCCESS);
    }
    return 0;
}

static void a_program_with_few_descriptors_is_alone(void **state)
{
    etwas_trace_handle session = start_in_file("few", "few.etl");
    const uint32_t files = count_runtime_files();

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    for (how_little = 0; how_little <= 20; how_little++) {
        assert_int_equal(exit_code_of(start_program(have_few_descriptors)), 0);
    }
    assert_int_equal(count_runtime_files(), files);
    stop_session(session, NULL);
}

/* So many numbers are free below it. */
static void limit_descriptors(uint32_t left)
{
    struct rlimit limit;
    uint32_t end = 0;

    CHECK_IN_CHILD(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (uint32_t found = 0; found < left; end++) {
        found += fcntl((int)end, F_GETFD) < 0;
    }
    limit.rlim_cur = end;
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static bool registers_first;

/*
 * A file at least, and from two on the next of a set; then what sharing needs, or it says that
 * there was too little.
 */
static int have_files_first(void)
{
    etwas_trace_handle registration = 0;
    etwas_session_counts counts;
    etwas_trace_handle session;
    char name[32];
    struct block block;
    uint32_t state;

    (void)snprintf(name, sizeof name, "%u%s%%d.etl", how_little, registers_first ? "r" : "s");
    prepare_block(&block, folder_path(name));
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_NEWFILE;
    block.properties.MaximumFileSize = 1;
    limit_descriptors(how_little);
    if (registers_first) {
        registration = register_provider(&control_guid);
    }
    CHECK_IN_CHILD(StartTraceA(&session, name, &block.properties) == ERROR_SUCCESS);
    state = etwas_sharing_state();
    CHECK_IN_CHILD(state == ERROR_SUCCESS || state == ERROR_NO_SYSTEM_RESOURCES);
    if (!registers_first) {
        registration = register_provider(&control_guid);
    }
    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    if (how_little > 1) {
        CHECK_IN_CHILD(ControlTraceA(session, NULL, &block.properties,
                                     EVENT_TRACE_CONTROL_INCREMENT_FILE) == ERROR_SUCCESS);
        CHECK_IN_CHILD(log_number(session, 2) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == (how_little > 1 ? 2 : 1) && counts.lost == 0);
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return state == ERROR_SUCCESS ? SHARES : 0;
}

/* A session has its files at any limit, and from some limit on it is shared. */
static void a_sessions_own_files_come_before_what_sharing_opens(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        bool shares = false;

        registers_first = order == 1;
        for (how_little = 1; how_little <= MOST_LEFT; how_little++) {
            int code = exit_code_of(start_program(have_files_first));

            assert_true(code == SHARES || (code == 0 && !shares));
            shares = code == SHARES;
        }
        assert_true(shares);
    }
}

static int have_little_memory(void)
{
    uint32_t code;

    limit_address_space((uint64_t)how_little << 20);
    code = live_alone();
    CHECK_IN_CHILD(code == ERROR_SUCCESS ||
                   (code == ERROR_NOT_ENOUGH_MEMORY && how_little <= LITTLE_MB));
    return 0;
}

static void a_program_with_little_memory_is_alone(void **state)
{
    etwas_trace_handle session;
    uint32_t files;

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer needs address space without a limit\n");
        skip();
    }
    session = start_in_file("little", "little.etl");
    files = count_runtime_files();
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    for (how_little = 4; how_little <= 128; how_little *= 2) {
        assert_int_equal(exit_code_of(start_program(have_little_memory)), 0);
    }
    assert_int_equal(count_runtime_files(), files);
    stop_session(session, NULL);
}

/* A file that grows past it raises SIGXFSZ, which ends a program that does not expect it. */
static int have_small_files(void)
{
    struct rlimit limit;

    CHECK_IN_CHILD(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = how_little;
    CHECK_IN_CHILD(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_IN_CHILD(live_alone() == ERROR_SUCCESS);
    start_and_stop();
    CHECK_IN_CHILD(how_little != 0 || etwas_share() == ERROR_DISK_FULL);
    return 0;
}

static void a_program_that_may_write_only_small_files_is_alone(void **state)
{
    static const uint32_t bytes[] = {0, 1, 50, 100, 4096, 1 << 16, 1 << 20};
    etwas_trace_handle session = start_in_file("small", "small.etl");
    const uint32_t files = count_runtime_files();

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof bytes / sizeof *bytes; index++) {
        how_little = bytes[index];
        assert_int_equal(exit_code_of(start_program(have_small_files)), 0);
    }
    assert_int_equal(count_runtime_files(), files);
    stop_session(session, NULL);
}

/* ---- a host that ends without space ---------------------------------------------------------- */

static bool is_open(void)
{
    static const etwas_wchar name[] = u"ending";
    struct etwas_registry_entry *entry;
    bool is = false;

    if (etwas_registry_find(name, &entry) == ERROR_SUCCESS) {
        is = entry->state == ETWAS_REGISTRY_OPEN;
        free(entry);
    }
    return is;
}

/* Before its account is closed, which no process may miss: what it counted later would be lost. */
static int close_without_space(void)
{
    etwas_trace_handle session = start_in_file("ending", "ending.etl");
    const struct rlimit none = {0, RLIM_INFINITY};
    struct etwas_session_key key;
    struct rlimit before;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(is_open() && etwas_session_key_of(session, &key));
    CHECK_IN_CHILD(getrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_IN_CHILD(setrlimit(RLIMIT_FSIZE, &none) == 0);
    etwas_host_closing(&etwas_sessions[key.index]);
    CHECK_IN_CHILD(!is_open());
    CHECK_IN_CHILD(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void a_host_without_space_is_not_found_open_while_it_ends(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(start_program(close_without_space)), 0);
}

/* ---- programs that see little ---------------------------------------------------------------- */

static char runtime_inside[] = "/run";

static int see_nothing(void)
{
    CHECK_IN_CHILD(chroot(folder_path("root")) == 0 && chdir("/") == 0);
    CHECK_IN_CHILD(live_alone() == ERROR_SUCCESS);
    start_and_stop();
    CHECK_IN_CHILD(etwas_share() == ERROR_PATH_NOT_FOUND);
    CHECK_IN_CHILD(unsetenv("ETWAS_RUNTIME_DIR") == 0);
    CHECK_IN_CHILD(etwas_share() == ERROR_PATH_NOT_FOUND);
    return 0;
}

static int see_no_processes(void)
{
    CHECK_IN_CHILD(chroot(folder_path("root")) == 0 && chdir("/") == 0);
    CHECK_IN_CHILD(mkdir(runtime_inside, 0700) == 0);
    CHECK_IN_CHILD(setenv("ETWAS_RUNTIME_DIR", runtime_inside, 1) == 0);
    CHECK_IN_CHILD(live_alone() == ERROR_SUCCESS);
    start_and_stop();
    CHECK_IN_CHILD(etwas_share() == ERROR_NOT_SUPPORTED);
    CHECK_IN_CHILD(rmdir(runtime_inside) == 0); /* nothing is left in it */
    return 0;
}

/* Without /proc, /run or /dev/shm. */
static void a_program_in_an_empty_root_is_alone(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can change its root folder\n");
        skip();
    }
    assert_int_equal(mkdir(folder_path("root"), 0700), 0);
    assert_int_equal(exit_code_of(start_program(see_nothing)), 0);
    assert_int_equal(exit_code_of(start_program(see_no_processes)), 0);
    assert_int_equal(rmdir(folder_path("root")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(programs_that_live_for_a_moment_lose_nothing_unseen),
        PROGRAMS_TEST(a_program_with_few_descriptors_is_alone),
        PROGRAMS_TEST(a_sessions_own_files_come_before_what_sharing_opens),
        PROGRAMS_TEST(a_program_with_little_memory_is_alone),
        PROGRAMS_TEST(a_program_that_may_write_only_small_files_is_alone),
        PROGRAMS_TEST(a_host_without_space_is_not_found_open_while_it_ends),
        PROGRAMS_TEST(a_program_in_an_empty_root_is_alone),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
