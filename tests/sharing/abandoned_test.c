/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A host that is killed while its guests write: all that they were told is recorded is in its log
 * file, or recovered from the mapping that they have; they go on, and a host of the same name has
 * them again.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <etwas/crash_safe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sharing/programs.h"

enum {
    WRITERS = 4,
    SOME = 2000,      /* of each writer, before the host is killed */
    PAUSE_EVERY = 16, /* events, so that a recorder of this size overwrites nothing */
    PAUSE_US = 500,
    BUFFERS = 512,
    MOST = 200000, /* numbers of a writer */
    WRITER_SHIFT = 32,
    PATH_BYTES = 512,
};

struct writer {
    uint32_t recorded;    /* it was told: the numbers before this one */
    uint32_t lost;        /* of these: they were not */
    uint32_t is_disabled; /* so many hosts, with handles that are invalid */
};

static struct writer *writers;
static uint32_t writer_number; /* of the program that is started next */
static uint32_t log_file_mode; /* of the host that is started next */

/* ---- writers --------------------------------------------------------------------------------- */

/* A lost one is tried again. */
static void write_one(uint64_t session, struct writer *writer, uint32_t number)
{
    uint64_t own = (uint64_t)number << WRITER_SHIFT;
    uint32_t code = log_number(session, own | writer->recorded);

    if (code == ERROR_SUCCESS) {
        ck_pr_store_32(&writer->recorded, writer->recorded + 1);
    } else if (code == ERROR_NOT_ENOUGH_MEMORY) {
        ck_pr_store_32(&writer->lost, writer->lost + 1);
    } else {
        CHECK_IN_CHILD(code == ERROR_INVALID_HANDLE);
    }
    if (code != ERROR_SUCCESS || writer->recorded % PAUSE_EVERY == 0) {
        (void)usleep(PAUSE_US);
    }
}

static int writing_program(void)
{
    const uint32_t number = writer_number;
    struct writer *writer = &writers[number];
    etwas_trace_handle registration = register_provider(&control_guid);
    uint64_t before = 0;

    while (ck_pr_load_32(&board->end) == 0 && writer->recorded < MOST) {
        uint64_t session = enabling_session();

        if (session != 0) {
            before = session;
            write_one(session, writer, number);
        } else if (before != 0) {
            CHECK_IN_CHILD(log_number(before, 0) == ERROR_INVALID_HANDLE);
            before = 0;
            ck_pr_inc_32(&writer->is_disabled);
        } else {
            (void)usleep(PAUSE_US);
        }
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void await_more(uint32_t count)
{
    for (uint32_t index = 0; index < WRITERS; index++) {
        uint32_t recorded = ck_pr_load_32(&writers[index].recorded);

        assert_true(comes_to(&writers[index].recorded, recorded + count));
    }
}

/* ---- the host -------------------------------------------------------------------------------- */

static int host_until_killed(void)
{
    const etwas_session_options options = {.log_file_mode = log_file_mode,
                                           .buffer_size_kb = 16,
                                           .minimum_buffers = BUFFERS,
                                           .maximum_buffers = BUFFERS,
                                           .flush_timer = 1,
                                           .sharing = ETWAS_SHARING_USER};
    const char *file =
        (log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0 ? NULL : folder_path("host.etl");
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("orphaned", file, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    for (;;) {
        (void)pause();
    }
}

/* ---- what it leaves -------------------------------------------------------------------------- */

/* Finds the mapping that a process has open. */
static void find_mapping(int process, char path[PATH_BYTES])
{
    char folder[64];
    char target[PATH_BYTES];
    const struct dirent *found;
    DIR *list;

    (void)snprintf(folder, sizeof folder, "/proc/%d/fd", process);
    list = opendir(folder);
    assert_non_null(list);
    path[0] = '\0';
    while (path[0] == '\0' && (found = readdir(list)) != NULL) {
        ssize_t length;

        (void)snprintf(path, PATH_BYTES, "%s/%s", folder, found->d_name);
        length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "memfd:etwas-pool") == NULL) {
            path[0] = '\0';
        }
    }
    (void)closedir(list);
    assert_string_not_equal(path, "");
}

static bool is_there[WRITERS][MOST];

static void note_events(const struct events *events)
{
    for (size_t index = 0; index < events->count; index++) {
        uint64_t number = number_of(&events->items[index]);

        assert_in_range(number >> WRITER_SHIFT, 0, WRITERS - 1);
        assert_in_range((uint32_t)number, 0, MOST - 1);
        is_there[number >> WRITER_SHIFT][(uint32_t)number] = true;
    }
}

/*
 * All that was told is recorded, and of each writer perhaps the next one: it was not told yet when
 * the gates were closed.
 */
static void expect_all_written(void)
{
    for (uint32_t index = 0; index < WRITERS; index++) {
        uint32_t number = 0;

        while (number < MOST && is_there[index][number]) {
            number++;
        }
        assert_in_range(number, writers[index].recorded, writers[index].recorded + 1);
    }
}

static void recover(const char *source)
{
    struct events events;
    etwas_recovered recovered;
    bool has_file = (log_file_mode & EVENT_TRACE_BUFFERING_MODE) == 0;

    memset(is_there, 0, sizeof is_there);
    assert_int_equal(etwas_recover(source, 0, folder_path("recovered.etl"), &recovered),
                     ERROR_SUCCESS);
    assert_int_equal(recovered.damaged_buffers, 0);
    assert_int_equal(recovered.unfinished, 0);
    assert_int_equal(recovered.overwritten, 0);
    assert_false(recovered.is_alive);
    read_events(folder_path("recovered.etl"), 0, &events);
    assert_int_equal(events.count, recovered.events);
    note_events(&events);
    free_events(&events);
    if (has_file) {
        read_events(folder_path("host.etl"), 0, &events);
        note_events(&events);
        free_events(&events);
    }
    expect_all_written();
}

/* ---- the test -------------------------------------------------------------------------------- */

/*
 * Hosts the session again, in this process under the same name. It counts what the guests have
 * logged since.
 */
static void host_again(const int programs[WRITERS])
{
    struct block block;
    etwas_session_counts counts;
    etwas_trace_handle session;
    uint64_t recorded = 0;

    for (uint32_t index = 0; index < WRITERS; index++) {
        recorded -= writers[index].recorded;
    }
    prepare_block(&block, folder_path("again.etl"));
    session = start_block("orphaned", &block);
    assert_int_equal(enable_with_timeout(session, &control_guid, 30000), ERROR_SUCCESS);
    await_more(SOME);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < WRITERS; index++) {
        assert_int_equal(exit_code_of(programs[index]), 0);
        recorded += writers[index].recorded;
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, recorded);
    assert_int_equal(count_events(folder_path("again.etl")), recorded);
}

static void kill_a_host(uint32_t mode)
{
    int programs[WRITERS];
    char path[PATH_BYTES];
    int host;

    writers = shared_memory(WRITERS * sizeof *writers);
    assert_non_null(writers);
    log_file_mode = mode;
    for (writer_number = 0; writer_number < WRITERS; writer_number++) {
        programs[writer_number] = start_program(writing_program);
    }
    host = start_program(host_until_killed);
    await_more(SOME);
    kill_program(host);
    for (uint32_t index = 0; index < WRITERS; index++) {
        assert_true(comes_to(&writers[index].is_disabled, 1));
    }
    find_mapping(programs[WRITERS - 1], path);
    recover(path);
    host_again(programs);
    (void)munmap(writers, WRITERS * sizeof *writers);
}

static void a_recorder_is_recovered_from_its_guests(void **state)
{
    (void)state;
    kill_a_host(EVENT_TRACE_BUFFERING_MODE);
}

static void a_log_file_and_what_its_guests_have_is_everything(void **state)
{
    (void)state;
    kill_a_host(EVENT_TRACE_FILE_MODE_SEQUENTIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(a_recorder_is_recovered_from_its_guests),
        PROGRAMS_TEST(a_log_file_and_what_its_guests_have_is_everything),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
