/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every event whose call returned before the process died is recovered, once, whatever the mode and
 * the protocol; and what is no mapping is refused.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recover/crash.h"
#include "shared/layout.h"

enum {
    EVENTS = 20000,
    SIZE_KB = 16,
};

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
    .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
    .buffer_size_kb = SIZE_KB,
    .minimum_buffers = 64,
    .maximum_buffers = 64,
};
static const etwas_session_options logger = {
    .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
    .buffer_size_kb = SIZE_KB,
    .minimum_buffers = 16,
    .maximum_buffers = 64,
};

static void make_folder(void)
{
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
}

static etwas_trace_information information_of(const char *path)
{
    struct events events;
    etwas_trace_information information;

    read_events(path, 0, &events);
    information = events.information;
    free_events(&events);
    return information;
}

/* Which it names the causes of. */
static uint64_t losses_of(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    etwas_loss losses[ETWAS_LOST_CAUSES];
    uint32_t count;
    uint64_t sum = 0;

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_query_losses(trace, losses, ETWAS_LOST_CAUSES, &count),
                     ERROR_SUCCESS);
    for (uint32_t index = 0; index < count; index++) {
        sum += losses[index].events;
    }
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return sum;
}

/* The totals are those of the whole session, if they are known to the event. */
static void expect_totals(const char *path, const etwas_recovered *recovered)
{
    const etwas_trace_information told = information_of(path);

    assert_int_equal(told.ends, ETWAS_TRACE_IS_RECOVERED |
                                    (recovered->is_alive ? 0 : ETWAS_TRACE_ENDS_SESSION));
    assert_int_equal(told.attempted_events,
                     recovered->is_alive || recovered->is_settling ? 0 : recovered->attempted);
    assert_int_equal(told.lost_events, recovered->lost + recovered->unfinished);
    assert_int_equal(told.overwritten_events, recovered->overwritten);
    assert_int_equal(losses_of(path), told.lost_events);
}

static void die_and_recover(const etwas_session_options *options, const char *log_file,
                            bool is_recorder)
{
    struct crash_progress *progress = crash_progress_new();
    etwas_recovered recovered;
    struct stat facts;
    int child;

    make_folder();
    child = crash_child(options, log_file, CRASH_THREADS, progress);
    crash_await(child, progress, CRASH_THREADS, EVENTS);
    crash_kill(child);
    crash_recover(progress->path, folder_path("after.etl"), &recovered);
    assert_string_equal(recovered.session_name, "crash");
    assert_int_equal(recovered.process_id, child);
    assert_int_equal(stat(folder_path("after.etl"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(count_events(folder_path("after.etl")), recovered.events);
    expect_totals(folder_path("after.etl"), &recovered);
    assert_in_range(recovered.unfinished, 0, CRASH_THREADS);
    if (is_recorder) {
        assert_in_range(recovered.events + recovered.overwritten + recovered.unfinished,
                        crash_logged(progress), crash_logged(progress) + CRASH_THREADS);
    }
    crash_expect(folder_path("after.etl"), log_file, progress, CRASH_THREADS, is_recorder);
    crash_progress_free(progress);
}

static void a_recorder_is_recovered(void **state)
{
    (void)state;
    die_and_recover(&recorder, NULL, true);
}

static void a_recorder_of_shared_slots_is_recovered(void **state)
{
    etwas_session_options options = recorder;

    (void)state;
    options.protocol = ETWAS_PROTOCOL_SHARED;
    die_and_recover(&options, NULL, true);
}

static void a_recorder_with_one_slot_is_recovered(void **state)
{
    etwas_session_options options = recorder;

    (void)state;
    options.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    die_and_recover(&options, NULL, true);
}

static void what_the_log_file_has_is_not_there_twice(void **state)
{
    (void)state;
    die_and_recover(&logger, folder_path("log.etl"), false);
}

static void nor_with_shared_slots(void **state)
{
    etwas_session_options options = logger;

    (void)state;
    options.protocol = ETWAS_PROTOCOL_SHARED;
    options.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER;
    options.flush_timer = 1; /* parts of buffers are written all the time */
    die_and_recover(&options, folder_path("log.etl"), false);
}

static void nor_when_it_is_compressed(void **state)
{
    etwas_session_options options = logger;

    (void)state;
    options.log_file_mode = EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER;
    options.flush_timer = 1;
    die_and_recover(&options, folder_path("log.etl"), false);
}

/* ---- while it lives -------------------------------------------------------------------------- */

static void a_process_that_lives_is_read_and_goes_on(void **state)
{
    struct crash_progress *progress = crash_progress_new();
    etwas_session_options options = recorder;
    etwas_recovered recovered;
    uint64_t logged;
    int child;

    (void)state;
    make_folder();
    options.crash_safe = ETWAS_CRASH_SAFE_MEMFD;
    child = crash_child(&options, NULL, CRASH_THREADS, progress);
    crash_await(child, progress, CRASH_THREADS, EVENTS);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(etwas_recover(progress->path, 0, folder_path("live.etl"), &recovered),
                         ERROR_SUCCESS);
        expect_totals(folder_path("live.etl"), &recovered);
        assert_true(recovered.is_alive);
        assert_int_equal(recovered.damaged_buffers, 0);
        assert_int_equal(count_events(folder_path("live.etl")), recovered.events);
    }
    logged = ck_pr_load_64(&progress->logged[0]);
    crash_await(child, progress, 1, logged + EVENTS);
    crash_kill(child);
    assert_int_equal(etwas_recover(progress->path, 0, NULL, &recovered), ERROR_FILE_NOT_FOUND);
    crash_progress_free(progress);
}

/* ---- a session that ends --------------------------------------------------------------------- */

static void a_session_that_ends_leaves_nothing(void **state)
{
    etwas_trace_handle session;
    etwas_recovered recovered;
    char path[4096];
    struct belongings before;

    (void)state;
    make_folder();
    assert_int_equal(setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1), 0);
    before = count_belongings();
    for (uint32_t where = ETWAS_CRASH_SAFE_POOL_FILE; where <= ETWAS_CRASH_SAFE_MEMFD; where++) {
        for (uint32_t round = 0; round < 10; round++) {
            etwas_session_options options = recorder;

            options.crash_safe = where;
            assert_int_equal(etwas_start("ends", NULL, &options, &session), ERROR_SUCCESS);
            assert_int_equal(log_number(session, round), ERROR_SUCCESS);
            assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
            assert_int_equal(etwas_recover(path, 0, NULL, &recovered), ERROR_SUCCESS);
            assert_int_equal(recovered.events, 1);
            assert_true(recovered.is_alive);
            assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
            assert_int_equal(etwas_crash_safe_path(session, path, sizeof path),
                             ERROR_INVALID_HANDLE);
        }
    }
    assert_nothing_gained(&before);
    assert_int_equal(unsetenv("ETWAS_RUNTIME_DIR"), 0);
}

/* The log file of the session is read for what it has, and so not written over. */
static void the_sessions_log_file_is_not_written_over(void **state)
{
    struct crash_progress *progress = crash_progress_new();
    etwas_recovered recovered;
    struct stat before;
    struct stat after;
    int child;

    (void)state;
    make_folder();
    child = crash_child(&logger, folder_path("log.etl"), CRASH_THREADS, progress);
    crash_await(child, progress, CRASH_THREADS, EVENTS);
    crash_kill(child);
    assert_int_equal(stat(folder_path("log.etl"), &before), 0);
    assert_int_equal(etwas_recover(progress->path, 0, folder_path("log.etl"), &recovered),
                     ERROR_SHARING_VIOLATION);
    assert_int_equal(stat(folder_path("log.etl"), &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    crash_progress_free(progress);
}

/* Whatever limit the program has, it is not killed. */
static int start_with_a_limit(void)
{
    const struct rlimit limit = {64 << 10, 64 << 10};
    etwas_session_options options = recorder;
    etwas_trace_handle session;

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        print_message("skipped: the limit of a file cannot be set\n");
        return 77;
    }
    options.crash_safe_folder = folder_path("run");
    for (uint32_t where = ETWAS_CRASH_SAFE_POOL_FILE; where <= ETWAS_CRASH_SAFE_MEMFD; where++) {
        options.crash_safe = where;
        CHECK_IN_CHILD(etwas_start("limited", NULL, &options, &session) == ERROR_DISK_FULL);
    }
    return 0;
}

static void a_limit_of_file_sizes_kills_nobody(void **state)
{
    (void)state;
    make_folder();
    expect_in_child(start_with_a_limit);
    assert_int_equal(rmdir(folder_path("run")), 0); /* and nothing is left */
}

static void a_folder_is_found_when_the_program_has_gone_elsewhere(void **state)
{
    char here[4096];
    etwas_session_options options = recorder;
    etwas_trace_handle session;

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder_path("")), 0);
    options.crash_safe_folder = "pools";
    assert_int_equal(etwas_start("moves", NULL, &options, &session), ERROR_SUCCESS);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(rmdir(folder_path("pools")), 0);
}

static void a_forks_child_touches_nothing(void **state)
{
    etwas_trace_handle session;
    etwas_recovered recovered;
    char path[4096];
    int child;

    (void)state;
    make_folder();
    assert_int_equal(setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1), 0);
    assert_int_equal(etwas_start("forks", NULL, &recorder, &session), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(log_number(session, 2) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    expect_child(child);
    assert_int_equal(log_number(session, 3), ERROR_SUCCESS);
    assert_int_equal(etwas_recover(path, 0, folder_path("both.etl"), &recovered), ERROR_SUCCESS);
    assert_int_equal(recovered.events, 2);
    assert_int_equal(count_events(folder_path("both.etl")), 2);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(unsetenv("ETWAS_RUNTIME_DIR"), 0);
}

static void *start_and_stop(void *is_over)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;

    while (ck_pr_load_32(is_over) == 0) {
        options.crash_safe ^= ETWAS_CRASH_SAFE_POOL_FILE ^ ETWAS_CRASH_SAFE_MEMFD;
        if (etwas_start("comes and goes", NULL, &options, &session) == ERROR_SUCCESS) {
            (void)etwas_stop(session, NULL);
        }
    }
    return NULL;
}

/* Whether this process has a descriptor of a mapping. */
static bool has_mapping(void)
{
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        char name[64];
        char target[4096] = "";

        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        if (readlink(name, target, sizeof target - 1) > 0 &&
            (strstr(target, ".pool") != NULL || strstr(target, "etwas-pool") != NULL)) {
            return true;
        }
    }
    return false;
}

/* A child that kept the lock would have a dead parent taken for one that lives. */
static void a_fork_while_sessions_begin_and_end_keeps_no_lock(void **state)
{
    uint32_t is_over = 0;
    pthread_t thread;

    (void)state;
    make_folder();
    assert_int_equal(setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1), 0);
    assert_int_equal(pthread_create(&thread, NULL, start_and_stop, &is_over), 0);
    for (int round = 0; round < 300; round++) {
        int child = fork_child();

        if (child == 0) {
            CHECK_IN_CHILD(!has_mapping());
            _exit(0);
        }
        expect_child(child);
    }
    ck_pr_store_32(&is_over, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(unsetenv("ETWAS_RUNTIME_DIR"), 0);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void a_folder_that_others_may_see_is_refused(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    char sentence[512];

    (void)state;
    options.crash_safe_folder = folder_path("open");
    assert_int_equal(mkdir(folder_path("open"), 0700), 0);
    assert_int_equal(chmod(folder_path("open"), 0755), 0);
    assert_int_equal(etwas_start("refused", NULL, &options, &session), ERROR_ACCESS_DENIED);
    assert_true(etwas_crash_safe_refusal(sentence, sizeof sentence) > 0);
    assert_non_null(strstr(sentence, folder_path("open")));
    assert_int_equal(chmod(folder_path("open"), 0700), 0);
    assert_int_equal(symlink(folder_path("open"), folder_path("link")), 0);
    options.crash_safe_folder = folder_path("link");
    assert_int_equal(etwas_start("refused", NULL, &options, &session), ERROR_ACCESS_DENIED);
    options.crash_safe_folder = folder_path("none/none");
    assert_int_equal(etwas_start("refused", NULL, &options, &session), ERROR_PATH_NOT_FOUND);
    options.crash_safe_folder = folder_path("open");
    assert_int_equal(etwas_start("refused", NULL, &options, &session), ERROR_SUCCESS);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    options.crash_safe = ETWAS_CRASH_SAFE_MEMFD + 1;
    assert_int_equal(etwas_start("refused", NULL, &options, &session), ERROR_INVALID_PARAMETER);
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    assert_int_equal(close(file), 0);
}

static uint32_t recover_bytes(const void *bytes, size_t length)
{
    etwas_recovered recovered;

    write_file(folder_path("source"), bytes, length);
    return etwas_recover(folder_path("source"), 0, folder_path("none.etl"), &recovered);
}

static void what_is_no_mapping_is_refused(void **state)
{
    static struct etwas_shared_head head = {.major = ETWAS_SHARED_MAJOR};
    etwas_recovered recovered;

    (void)state;
    assert_int_equal(etwas_recover(folder_path("none"), 0, NULL, &recovered), ERROR_FILE_NOT_FOUND);
    assert_int_equal(etwas_recover(NULL, 0, NULL, &recovered), ERROR_INVALID_PARAMETER);
    assert_int_equal(recover_bytes("", 0), ERROR_FILE_CORRUPT);
    assert_int_equal(recover_bytes("no mapping at all", 17), ERROR_FILE_CORRUPT);
    memcpy(head.magic, ETWAS_SHARED_MAGIC, sizeof head.magic);
    assert_int_equal(recover_bytes(&head, sizeof head.magic), ERROR_FILE_CORRUPT);
    assert_int_equal(recover_bytes(&head, sizeof head), ERROR_NOT_FOUND); /* not open yet */
    head.state = ETWAS_SHARED_OPEN;
    assert_int_equal(recover_bytes(&head, sizeof head), ERROR_FILE_CORRUPT);
    head.major++;
    assert_int_equal(recover_bytes(&head, sizeof head), ERROR_NOT_SUPPORTED);
    assert_int_equal(symlink(folder_path("source"), folder_path("link")), 0);
    assert_int_equal(etwas_recover(folder_path("link"), 0, NULL, &recovered), ERROR_ACCESS_DENIED);
    assert_int_equal(access(folder_path("none.etl"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_recorder_is_recovered),
        FOLDER_TEST(a_recorder_of_shared_slots_is_recovered),
        FOLDER_TEST(a_recorder_with_one_slot_is_recovered),
        FOLDER_TEST(what_the_log_file_has_is_not_there_twice),
        FOLDER_TEST(nor_with_shared_slots),
        FOLDER_TEST(nor_when_it_is_compressed),
        FOLDER_TEST(a_process_that_lives_is_read_and_goes_on),
        FOLDER_TEST(a_session_that_ends_leaves_nothing),
        FOLDER_TEST(the_sessions_log_file_is_not_written_over),
        FOLDER_TEST(a_limit_of_file_sizes_kills_nobody),
        FOLDER_TEST(a_folder_is_found_when_the_program_has_gone_elsewhere),
        FOLDER_TEST(a_forks_child_touches_nothing),
        FOLDER_TEST(a_fork_while_sessions_begin_and_end_keeps_no_lock),
        FOLDER_TEST(a_folder_that_others_may_see_is_refused),
        FOLDER_TEST(what_is_no_mapping_is_refused),
    };

    return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
