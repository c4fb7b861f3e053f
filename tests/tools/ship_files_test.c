/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is shipped of files that are not just a session from its start to its end: circular ones,
 * snapshots, what a killed process left, damaged ones, those of Windows.
 */
#include "ship_whole.h"

#include "reader/builder.h"

#include <etwas/evntrace.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/places.h"

static uint64_t session_of(const char *path)
{
    struct etwas_ship_file *file = open_file(path);
    uint64_t session = etwas_ship_file_facts(file)->session;

    etwas_ship_file_close(file);
    return session;
}

/* ---- other modes ----------------------------------------------------------------------------- */

static void a_circular_file_goes_when_it_has_ended(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = 8,
                                     .maximum_file_size = 256};
    const char *path = folder_path("c.etl");
    struct shipped *shipped = shipped_new();
    struct etwas_ship_block block = block_open();
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_ship_file *file = open_file(path);
    struct work work[WRITERS];
    etwas_session_counts counts;

    (void)state;
    scene_enable(session);
    begin_work(work, session, 6000, false);
    end_work(work);
    assert_true(etwas_ship_file_look(file));
    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block),
                     ETWAS_SHIP_NOTHING_YET);
    stop_session(session, &counts);
    ship_file(shipped, path);
    assert_true(counts.overwritten > 0);
    expect_all(shipped, &counts, WRITERS * 6000);
    block_close(&block);
    etwas_ship_file_close(file);
    free(shipped);
}

/* Each with what it has; and since that may be the same, each as a session. */
static void snapshots_are_sessions_of_their_own(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = 8};
    etwas_trace_handle session = start_session(NULL, &options);
    struct shipped *shipped = shipped_new();

    (void)state;
    scene_enable(session);
    for (uint64_t number = 0; number < 500; number++) {
        assert_int_equal(scene_write(session, number), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, folder_path("s1.etl")), ERROR_SUCCESS);
    assert_int_equal(etwas_snapshot(session, folder_path("s2.etl")), ERROR_SUCCESS);
    stop_session(session, NULL);
    ship_file(shipped, folder_path("s1.etl"));
    assert_int_equal(shipped->events, 500);
    assert_int_equal(shipped->recorded, 500);
    assert_true(session_of(folder_path("s1.etl")) != session_of(folder_path("s2.etl")));
    free(shipped);
}

/* ---- a process that was killed --------------------------------------------------------------- */

struct left {
    uint32_t is_ready;
    char path[4096]; /* of the buffers */
};

static void be_killed(const char *path, struct left *left)
{
    etwas_session_options options = sequential();
    etwas_trace_handle session;

    options.crash_safe = ETWAS_CRASH_SAFE_POOL_FILE;
    options.crash_safe_folder = folder_path("pools");
    if (etwas_start("to be killed", path, &options, &session) != ERROR_SUCCESS ||
        etwas_crash_safe_path(session, left->path, sizeof left->path) != ERROR_SUCCESS) {
        _exit(1);
    }
    for (uint64_t number = 0; number < 4000; number++) {
        /* Providers are enabled for sessions of their own process: these need none. */
        (void)scene_write(session, number - number % 6 + number % 4);
        if (number % 256 == 255) {
            wait_for_room(session);
        }
        /* Some are in the file then, the others in the buffers. */
        if (number == 2000 && etwas_flush(session) != ERROR_SUCCESS) {
            _exit(1);
        }
    }
    __atomic_store_n(&left->is_ready, 1, __ATOMIC_RELEASE);
    for (;;) {
        (void)pause();
    }
}

static void kill_one(const char *path, struct left *left)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        be_killed(path, left);
    }
    while (__atomic_load_n(&left->is_ready, __ATOMIC_ACQUIRE) == 0) {
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
        (void)usleep(1000);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

/* All that is there, of a file without an end. */
static uint64_t ship_what_was_left(const char *path)
{
    struct etwas_ship_file *file = open_file(path);
    struct etwas_ship_block block = block_open();
    struct etwas_ship_position at = beginning;
    uint64_t events = 0;

    assert_false(etwas_ship_file_facts(file)->has_ended);
    etwas_ship_file_leave(file);
    while (etwas_ship_block_next(file, &at, &whole, &block) == ETWAS_SHIP_BLOCK) {
        at = block.bounds.until;
        events += block.bounds.rows;
    }
    assert_int_equal(etwas_ship_block_next(file, &at, &whole, &block), ETWAS_SHIP_FILE_END);
    assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_FAILED);
    block_close(&block);
    etwas_ship_file_close(file);
    return events;
}

static void what_is_recovered_ends_the_session(void **state)
{
    const char *path = folder_path("k.etl");
    const char *recovered_path = folder_path("r.etl");
    struct left *left =
        mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct etwas_ship_block block = block_open();
    struct etwas_ship_position at = beginning;
    etwas_recovered recovered;
    struct etwas_ship_file *file;
    uint64_t events;

    (void)state;
    assert_true(left != MAP_FAILED);
    kill_one(path, left);
    assert_int_equal(etwas_recover(left->path, 0, recovered_path, &recovered), ERROR_SUCCESS);
    events = ship_what_was_left(path);
    assert_true(events > 0);
    assert_true(recovered.events > 0);
    file = open_file(recovered_path);
    assert_int_equal(etwas_ship_file_facts(file)->part, ETWAS_SHIP_RECOVERED_PART);
    assert_true(etwas_ship_file_facts(file)->session == session_of(path));
    while (etwas_ship_block_next(file, &at, &whole, &block) == ETWAS_SHIP_BLOCK) {
        at = block.bounds.until;
        events += block.bounds.rows;
    }
    assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_BLOCK);
    assert_int_equal(block.buffers->rows, 1);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_STATE),
                     ETWAS_SHIP_STATE_RECOVERED);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_RECORDED), events);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_ENDED), 1);
    etwas_ship_file_close(file);
    block_close(&block);
    (void)munmap(left, sizeof *left);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* A buffer that is full of events. */
static uint64_t offset_of_full_buffer(const char *path)
{
    struct etwas_ship_file *file = open_file(path);
    struct etwas_ship_block block = block_open();
    uint64_t most = 0;
    uint64_t offset = 0;

    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block), ETWAS_SHIP_BLOCK);
    for (uint32_t row = 0; row < block.buffers->rows; row++) {
        uint64_t events = buffer_value(block.buffers, row, ETWAS_SHIP_BUFFER_EVENTS);

        if (events > most) {
            most = events;
            offset = buffer_value(block.buffers, row, ETWAS_SHIP_BUFFER_FILE_POSITION);
        }
    }
    block_close(&block);
    etwas_ship_file_close(file);
    return offset;
}

static void a_damaged_buffer_goes_as_far_as_it_can_be_read(void **state)
{
    static const char nonsense[1024];
    const char *path = folder_path("d.etl");
    etwas_session_options options = sequential();
    struct shipped *shipped = shipped_new();
    struct etwas_ship_block block = block_open();
    etwas_session_counts counts;
    struct etwas_ship_file *file;
    uint64_t damages = 0;
    uint64_t events;
    int descriptor;

    (void)state;
    write_file(path, &options, 3000, &counts);
    descriptor = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    assert_int_equal(
        pwrite(descriptor, nonsense, sizeof nonsense, (off_t)offset_of_full_buffer(path) + 1000),
        sizeof nonsense);
    assert_int_equal(close(descriptor), 0);
    file = open_file(path);
    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block), ETWAS_SHIP_BLOCK);
    take_buffers(shipped, block.buffers);
    events = block.bounds.rows;
    for (uint32_t row = 0; row < block.buffers->rows; row++) {
        damages += buffer_value(block.buffers, row, ETWAS_SHIP_BUFFER_DAMAGES);
    }
    /* Where the nonsense begins within a stamp, that is one, and what is behind it another. */
    assert_in_range(damages, 1, 2);
    assert_int_equal(shipped->by_buffers, events);
    assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_BLOCK);
    take_buffers(shipped, block.buffers);
    assert_int_equal(shipped->recorded, counts.recorded);
    assert_true(events < counts.recorded && events > counts.recorded / 2);
    etwas_ship_file_close(file);
    block_close(&block);
    free(shipped);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Logs until so many events more are lost, since nothing is written meanwhile. */
static void lose(etwas_trace_handle session, uint32_t events)
{
    for (uint32_t lost = 0; lost < events;) {
        lost += scene_write(session, 0) != ERROR_SUCCESS;
    }
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
}

static void what_is_lost_is_reported_by_its_cause(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 8, .flusher = {.no_thread = true}};
    const char *path = folder_path("l.etl");
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_ship_block block = block_open();
    struct etwas_ship_file *file;
    etwas_session_counts counts;

    (void)state;
    lose(session, 5);
    lose(session, 7);
    stop_session(session, &counts);
    file = open_file(path);
    assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_BLOCK);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_RECORDED), counts.recorded);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_LOST), 12);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_LOST_NO_BUFFER), 12);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_LOST_OTHER), 0);
    etwas_ship_file_close(file);
    block_close(&block);
}

/* ---- days ------------------------------------------------------------------------------------ */

#define FILETIME_A_SECOND INT64_C(10000000)
#define FILETIME_A_DAY (86400 * FILETIME_A_SECOND)

enum {
    MIDNIGHTS_DAY = 19739, /* since 1970, */
    DAYS_TO_1970 = 134774, /* since 1601 */
    LAST_DAY = 49710,      /* 2106-02-07 */
};

/*
 * Cuts a file into blocks whose events lie so many seconds of the wall clock behind a day's
 * midnight, a buffer each. The buffer `damaged`, from 1, cannot be read.
 */
static void cut_around(int64_t day, const int64_t *seconds, uint32_t count, uint32_t damaged,
                       uint32_t *days)
{
    const int64_t midnight = (DAYS_TO_1970 + day) * FILETIME_A_DAY;
    struct builder_options options = builder_defaults();
    struct etwas_ship_block block = block_open();
    struct etwas_ship_position at = beginning;
    struct builder builder;
    struct etwas_ship_file *file;
    const char *path;
    uint32_t rows = 0;
    size_t bytes_count;
    uint8_t *bytes;

    options.clock_type = ETWAS_ETL_CLOCK_SYSTEM;
    options.start_filetime = midnight - 600 * FILETIME_A_SECOND;
    options.first_raw = options.start_filetime;
    builder_begin(&builder, &options);
    for (uint32_t i = 0; i < count; i++) {
        builder_buffer(&builder, 0);
        builder_number(&builder, midnight + seconds[i] * FILETIME_A_SECOND, i);
    }
    builder_end(&builder);
    if (damaged > 0) {
        memset(builder_header(&builder, damaged), 0xFF, sizeof(struct etwas_etl_buffer_header));
    }
    path = put_file(0, builder.bytes, builder.size);
    file = open_file(path);
    while (etwas_ship_block_next(file, &at, &whole, &block) == ETWAS_SHIP_BLOCK) {
        for (uint32_t i = 0; i < block.bounds.rows; i++) {
            days[rows++] = block.bounds.day;
        }
        at = block.bounds.until;
        bytes = block_bytes(&block, &bytes_count);
        expect_again(path, &block.bounds, bytes, bytes_count);
        free(bytes);
    }
    assert_int_equal(rows, count - (damaged > 0));
    etwas_ship_file_close(file);
    block_close(&block);
    builder_free(&builder);
}

/* A block does not end at midnight itself, around which buffers of several processors overlap. */
static void a_block_is_of_one_day(void **state)
{
    static const int64_t seconds[] = {-100, -1, 30, -2, 59, 61, -30, 100};
    static const int64_t far[] = {0, 1000 * INT64_C(86400), -1000 * INT64_C(86400)};
    uint32_t days[8];

    (void)state;
    cut_around(MIDNIGHTS_DAY, seconds, 8, 0, days);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(days[i], MIDNIGHTS_DAY - (i < 5));
    }
    cut_around(MIDNIGHTS_DAY, far, 3, 0, days);
    assert_int_equal(days[0], MIDNIGHTS_DAY);
    assert_int_equal(days[1], MIDNIGHTS_DAY - 1 + 366);
    assert_int_equal(days[2], MIDNIGHTS_DAY - 2);
    /* The first day ends where nothing can be read. */
    cut_around(MIDNIGHTS_DAY, seconds, 8, 5, days);
    assert_int_equal(days[3], MIDNIGHTS_DAY - 1);
    assert_int_equal(days[4], MIDNIGHTS_DAY);
}

/*
 * A server takes each day behind its last one for 1970-01-01, and refuses all rows where a row of
 * that day is there.
 */
static void days_that_servers_do_not_know_are_their_last(void **state)
{
    static const int64_t seconds[] = {-3600, 3600, 90000, 400 * INT64_C(86400)};
    uint32_t days[4];

    (void)state;
    cut_around(LAST_DAY, seconds, 4, 0, days);
    assert_int_equal(days[0], LAST_DAY - 1);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(days[i], LAST_DAY);
    }
}

/* ---- files of Windows ------------------------------------------------------------------------ */

static void files_of_windows_go_too(void **state)
{
    static const struct {
        const char *name;
        uint32_t events;
        uint32_t lost;
    } samples[] = {
        {"AMSITrace.etl", 19, 3},    {"HTTP_Server.etl", 2041, 0},  {"gcevents.etl", 69, 0},
        {"lxcore_kernel.etl", 2, 0}, {"primitive-types.etl", 5, 0}, {"smallEtlFile.etl", 1, 0},
    };
    char path[4096];

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct etwas_ship_block block = block_open();
        struct etwas_ship_file *file;

        (void)snprintf(path, sizeof path, "%s/etl-samples/%s", shared_folder(), samples[i].name);
        if (access(path, R_OK) != 0) {
            print_message("%s is not there\n", path);
            block_close(&block);
            continue;
        }
        file = open_file(path);
        assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block), ETWAS_SHIP_BLOCK);
        assert_int_equal(block.bounds.rows, samples[i].events);
        assert_int_equal(block.bounds.times.error_ns, UINT32_MAX);
        assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_BLOCK);
        assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_RECORDED),
                         samples[i].events);
        assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_LOST), samples[i].lost);
        etwas_ship_file_close(file);
        block_close(&block);
    }
}

static int remove_all(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_circular_file_goes_when_it_has_ended),
        FOLDER_TEST(snapshots_are_sessions_of_their_own),
        FOLDER_TEST(what_is_recovered_ends_the_session),
        FOLDER_TEST(a_damaged_buffer_goes_as_far_as_it_can_be_read),
        FOLDER_TEST(what_is_lost_is_reported_by_its_cause),
        cmocka_unit_test(a_block_is_of_one_day),
        cmocka_unit_test(days_that_servers_do_not_know_are_their_last),
        cmocka_unit_test(files_of_windows_go_too),
    };

    scene_begin();
    return cmocka_run_group_tests(tests, NULL, remove_all);
}
