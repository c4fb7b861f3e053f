/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Killed between any two instructions, a process loses at most the record that it was writing:
 * writers of each protocol, flush, the next file, snapshot and stop, step by step.
 */
#include "recover/stepped.h"

/* ---- writers --------------------------------------------------------------------------------- */

/* Two buffers and a part. */
static void log_events(void)
{
    for (int event = 0; event < 2 * STEPPED_RECORDS + 1; event++) {
        (void)stepped_log();
    }
}

static void log_until_lost(void)
{
    while (stepped_log()) {
    }
    (void)stepped_log();
}

static void a_writer_of_a_recorder(void **state)
{
    struct stepped_case one = {.what = "recorder", .stride = 1, .run = log_events};

    (void)state;
    stepped_through(&one, STEPPED_SEQUENCES);
    stepped_through(&one, STEPPED_SHARED);
    one.stride = 5;
    stepped_through(&one, STEPPED_EXTRA);
    stepped_through(&one, STEPPED_ONE);
}

/* It takes free buffers and new ones, until there are no more. */
static void a_writer_of_a_log_file(void **state)
{
    const struct stepped_case one = {
        .what = "log file", .has_file = true, .stride = 5, .run = log_until_lost};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SEQUENCES);
    stepped_through(&one, STEPPED_SHARED);
}

static void describe_and_log(void)
{
    stepped_describe();
    (void)stepped_log();
}

static void who_describes_events(void **state)
{
    const struct stepped_case one = {
        .what = "description", .has_file = true, .stride = 1, .run = describe_and_log};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SHARED);
}

/* ---- flush, snapshot, stop ------------------------------------------------------------------- */

static void log_and_flush(void)
{
    log_events();
    CHECK_IN_CHILD(etwas_flush(stepped_session) == ERROR_SUCCESS);
}

static void who_flushes(void **state)
{
    const struct stepped_case one = {
        .what = "flush", .has_file = true, .stride = 20, .run = log_and_flush};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SEQUENCES);
    stepped_through(&one, STEPPED_SHARED);
}

static void go_on_in_the_next_file(void)
{
    static struct block block;

    prepare_block(&block, NULL);
    CHECK_IN_CHILD(ControlTraceA(stepped_session, NULL, &block.properties,
                                 EVENT_TRACE_CONTROL_INCREMENT_FILE) == ERROR_SUCCESS);
}

static void log_into_the_next_file(void)
{
    log_and_flush();
    go_on_in_the_next_file();
    log_events();
}

/* A buffer of which an older file has the beginning. */
static void log_into_the_last_of_many_files(void)
{
    go_on_in_the_next_file();
    go_on_in_the_next_file();
    go_on_in_the_next_file();
    log_and_flush();
}

static void who_goes_on_in_the_next_file(void **state)
{
    const struct stepped_case one = {.what = "next file",
                                     .has_file = true,
                                     .has_parts = true,
                                     .stride = 30,
                                     .run = log_into_the_next_file};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SEQUENCES);
}

static void who_goes_on_in_many_files(void **state)
{
    const struct stepped_case one = {.what = "many files",
                                     .has_file = true,
                                     .has_parts = true,
                                     .stride = 1,
                                     .run = log_into_the_last_of_many_files};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SEQUENCES);
}

static void take_snapshot(void)
{
    CHECK_IN_CHILD(etwas_snapshot(stepped_session, folder_path("snapshot.etl")) == ERROR_SUCCESS);
}

static void who_takes_a_snapshot(void **state)
{
    const struct stepped_case one = {.what = "snapshot", .stride = 1, .run = take_snapshot};

    (void)state;
    stepped_is_long();
    stepped_through(&one, STEPPED_SEQUENCES);
    stepped_through(&one, STEPPED_SHARED);
}

static void log_and_stop(void)
{
    (void)stepped_log();
    CHECK_IN_CHILD(etwas_stop(stepped_session, NULL) == ERROR_SUCCESS);
}

static void who_stops(void **state)
{
    const struct stepped_case file = {
        .what = "stop of a log file", .has_file = true, .stride = 20, .run = log_and_stop};
    const struct stepped_case recorder = {
        .what = "stop of a recorder", .stride = 1, .run = log_and_stop};

    (void)state;
    stepped_through(&recorder, STEPPED_SEQUENCES);
    stepped_through(&recorder, STEPPED_SHARED);
    stepped_is_long();
    stepped_through(&file, STEPPED_SEQUENCES);
    stepped_through(&file, STEPPED_SHARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_writer_of_a_recorder),       FOLDER_TEST(a_writer_of_a_log_file),
        FOLDER_TEST(who_describes_events),         FOLDER_TEST(who_flushes),
        FOLDER_TEST(who_goes_on_in_the_next_file), FOLDER_TEST(who_goes_on_in_many_files),
        FOLDER_TEST(who_takes_a_snapshot),         FOLDER_TEST(who_stops),
    };

    return cmocka_run_group_tests_name("recover step", tests, folder_in_memory, NULL);
}
