/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes under load that are killed exactly at each test point of the library
 * (platform/testpoint.h), and at each call by which it uses a file: in writers, flusher, snapshots,
 * triggers, in a session's start and its end. What was acknowledged before is recovered, once.
 * ETWAS_TEST_KILLS: as many children for each point and way.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <errno.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/testpoint.h"
#include "recover/crash.h"

enum {
    /* Test points first, then calls. */
    MOMENTS = (int)ETWAS_POINT_COUNT + (int)ETWAS_FILE_OPERATIONS,
    /* A moment that has not come by then does not come in this way. */
    ENOUGH_EVENTS = 2000,
    ENOUGH_TURNS = 3,
    /* A busy machine keeps threads from some moments for long. */
    ENOUGH_ROUNDS = 100,
    BUFFER_EVENTS = 72,
    WAIT_US = 100,
    LIMIT_US = 60000000,
};

static const struct way {
    uint32_t mode;
    uint32_t protocol;
    bool has_file;
    bool stops;      /* the session ends soon */
    bool no_flusher; /* its writers run out of buffers */
} ways[] = {
    {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_BEST, false, false, false},
    {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_SHARED, false, false, false},
    {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_BEST, false, true, false},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_BEST, true, false, false},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_SHARED, true, false, true},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_BEST, true, true, false},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_SHARED, true, true, false},
};

/* ---- the child ------------------------------------------------------------------------------- */

static struct {
    uint32_t passed;
    uint32_t is_reached;
    uint32_t turns; /* of what else it does */
} * told;           /* the parent sees it, too */

static int wanted; /* the moment */
static uint32_t wanted_pass;
static const struct way *way;

static void come_to(int moment)
{
    if (moment == wanted && ck_pr_faa_32(&told->passed, 1) + 1 == wanted_pass) {
        ck_pr_store_32(&told->is_reached, 1);
        (void)kill(getpid(), SIGKILL);
    }
}

static void come_to_point(enum etwas_testpoint point)
{
    come_to((int)point);
}

static long come_to_call(enum etwas_log_file_call call, size_t bytes)
{
    come_to((int)ETWAS_POINT_COUNT + (int)call);
    return (long)bytes;
}

/* A modern provider of whose events the session takes none. */
static void enable_filtered(etwas_trace_handle session)
{
    EVENT_FILTER_EVENT_ID other = {.FilterIn = 1, .Count = 1, .Events = {2}};
    EVENT_FILTER_DESCRIPTOR filter = {
        .Ptr = (uintptr_t)&other, .Size = sizeof other, .Type = EVENT_FILTER_TYPE_EVENT_ID};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = &filter,
                                          .FilterDescCount = 1};

    CHECK_IN_CHILD(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                  TRACE_LEVEL_VERBOSE, 0, 0, 0, &parameters) == ERROR_SUCCESS);
}

/* What else a program does with a session that others log to. */
static void control(etwas_trace_handle session)
{
    const EVENT_DESCRIPTOR refused = {.Id = 1, .Level = TRACE_LEVEL_ERROR};
    const etwas_trigger_options windows = {.log_file = folder_path("window%d.etl"), .after_ms = 1};
    REGHANDLE provider;

    CHECK_IN_CHILD(EventRegister(&control_guid, NULL, NULL, &provider) == ERROR_SUCCESS);
    if (!way->has_file) {
        CHECK_IN_CHILD(etwas_trigger_arm(session, &windows) == ERROR_SUCCESS);
    }
    while (!way->stops || told->turns < ENOUGH_TURNS) {
        enable_filtered(session);
        CHECK_IN_CHILD(EventWrite(provider, &refused, 0, NULL) == ERROR_SUCCESS);
        if (way->has_file) {
            (void)etwas_flush(session);
        } else {
            (void)etwas_trigger(session);
            (void)etwas_snapshot(session, folder_path("snapshot.etl"));
        }
        (void)usleep(WAIT_US);
        ck_pr_inc_32(&told->turns);
    }
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    (void)kill(getpid(), SIGKILL);
}

/* ---- its parent ------------------------------------------------------------------------------ */

static uint32_t reached[MOMENTS];

static void await_death(int child, const struct crash_progress *progress)
{
    int status;

    for (uint64_t waited_us = 0; waitpid(child, &status, WNOHANG) != child; waited_us += WAIT_US) {
        bool is_enough = !way->stops && crash_logged(progress) > ENOUGH_EVENTS &&
                         ck_pr_load_32(&told->turns) > ENOUGH_TURNS;

        if (is_enough || waited_us > LIMIT_US) {
            crash_kill(child);
            assert_true(waited_us <= LIMIT_US);
            return;
        }
        (void)usleep(WAIT_US);
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fail_msg("the child ended with status %#x", (unsigned)status);
    }
}

static void expect_sum(const etwas_recovered *recovered, const struct crash_progress *progress)
{
    uint64_t logged = crash_logged(progress);
    uint64_t sum = recovered->events + recovered->overwritten + recovered->unfinished;
    /* Each thread in the midst of settling has one buffer. */
    uint64_t slack = recovered->is_settling ? (CRASH_THREADS + 1) * BUFFER_EVENTS : 0;

    assert_in_range(sum + slack, logged, logged + CRASH_THREADS + 2 * slack);
}

/* A session that had begun leaves its mapping, or has ended. */
static void expect_all(const char *log_file, const struct crash_progress *progress)
{
    const char *after = folder_path("after.etl");
    etwas_recovered recovered;

    if (access(progress->path, F_OK) == 0) {
        crash_recover(progress->path, after, &recovered);
        assert_in_range(recovered.unfinished, 0, CRASH_THREADS);
        crash_expect(after, log_file, progress, CRASH_THREADS, !way->has_file);
        if (!way->has_file) {
            expect_sum(&recovered, progress);
        }
    } else if (way->has_file) {
        crash_expect(log_file, NULL, progress, CRASH_THREADS, false);
    }
}

/* One that had not leaves nothing, a mapping that says so, or one in which nothing is. */
static void expect_nothing(void)
{
    const char *folder = folder_path("run");
    DIR *list = opendir(folder);
    const struct dirent *entry;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        etwas_recovered recovered;
        char path[4096];
        uint32_t code;

        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".pool") == NULL) {
            continue; /* what the process showed others, if it did */
        }
        code = etwas_recover(path, 0, NULL, &recovered);
        assert_false(recovered.is_alive);
        assert_true(code == ERROR_NOT_FOUND || code == ERROR_FILE_CORRUPT || code == ERROR_SUCCESS);
        assert_int_equal(recovered.events + recovered.damaged_buffers, 0);
        assert_int_equal(unlink(path), 0);
    }
    (void)closedir(list);
}

/* So often a moment may pass before the kill. */
static uint32_t latest_of(int moment)
{
    switch (moment) {
    case ETWAS_POINT_RESERVE_LOADED:
    case ETWAS_POINT_STAMPED:
    case ETWAS_POINT_RESERVED:
    case ETWAS_POINT_WRITTEN:
    case ETWAS_POINT_MARKED:
        return 500;
    case ETWAS_POINT_SWITCH_ENTERED:
    case ETWAS_POINT_SWITCH_CLAIMED:
    case ETWAS_POINT_SWITCH_NAMED:
    case ETWAS_POINT_SWITCH_INSTALLED:
        return 10;
    case ETWAS_POINT_SWITCH_GREW:
    case ETWAS_POINT_SWITCH_FOUND_NONE:
        return 1;
    default:
        return 2;
    }
}

static void die_at(int moment, struct crash_progress *progress)
{
    /*
     * So many that a window can keep some of each stream, so few that the flusher is behind at
     * times.
     */
    const uint32_t buffers = 16 * ((uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1);
    const etwas_session_options options = {
        .log_file_mode = way->mode,
        .protocol = way->protocol,
        .flush_timer = way->has_file && !way->no_flusher,
        .flusher.no_thread = way->no_flusher,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .buffer_size_kb = 4,
        .minimum_buffers = way->has_file ? buffers / 4 : buffers,
        .maximum_buffers = way->has_file ? buffers / 2 : buffers,
    };
    const char *log_file = way->has_file ? folder_path("log.etl") : NULL;
    int child;

    memset(told, 0, sizeof *told);
    wanted = moment;
    wanted_pass = 1 + (uint32_t)rand() % latest_of(moment);
    etwas_testpoint_set(come_to_point);
    etwas_file_set_failure_hook(come_to_call);
    child = crash_child_that(&options, log_file, CRASH_THREADS, progress, control);
    etwas_testpoint_set(NULL);
    etwas_file_set_failure_hook(NULL);
    await_death(child, progress);
    reached[moment] += told->is_reached;
    if (progress->is_ready != 0) {
        expect_all(log_file, progress);
    }
    expect_nothing();
    if (log_file != NULL) {
        (void)unlink(log_file);
    }
}

/*
 * Returns whether a process with a session comes to this test point: those of the system logger are
 * left out.
 */
static bool is_of_a_session(int moment)
{
    return moment < (int)ETWAS_POINT_SYSTEM_DRAINS || moment >= (int)ETWAS_POINT_COUNT;
}

/* Every way has its turn, and again until one has come to a moment that must be. */
static void die_each_way_at(int moment, long kills, struct crash_progress *progress)
{
    bool can_be =
        moment < (int)ETWAS_POINT_SYSTEM_DRAINS && ((moment != (int)ETWAS_POINT_SNAPSHOT_COPIES &&
                                                     moment != (int)ETWAS_POINT_COLLECT_LOOKED) ||
                                                    can_have_sequences());

    for (long round = 0; round < kills || (can_be && reached[moment] == 0 && round < ENOUGH_ROUNDS);
         round++) {
        for (size_t index = 0; index < sizeof ways / sizeof ways[0]; index++) {
            way = &ways[index];
            die_at(moment, progress);
        }
    }
    if (can_be && reached[moment] == 0) {
        fail_msg("nobody came to test point %d", moment);
    }
}

static void who_is_killed_at_any_point_leaves_what_was_acknowledged(void **state)
{
    struct crash_progress *progress = crash_progress_new();
    const char *asked = getenv("ETWAS_TEST_KILLS");
    long kills = asked != NULL ? strtol(asked, NULL, 10) : 1;

    (void)state;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    srand((unsigned)getpid());
    for (int moment = 0; moment < MOMENTS; moment++) {
        if (is_of_a_session(moment)) {
            die_each_way_at(moment, kills, progress);
        }
    }
    crash_progress_free(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(who_is_killed_at_any_point_leaves_what_was_acknowledged),
    };

    return cmocka_run_group_tests_name("recover points", tests, folder_in_memory, NULL);
}
