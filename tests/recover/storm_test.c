/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes that are killed at any moment, under load, in sessions of every kind: what was
 * acknowledged before the kill is recovered, once. So many kills as ETWAS_TEST_KILLS says; 30
 * without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recover/crash.h"

enum {
    KILLS = 30,
    LONGEST_LIFE_US = 40000,
};

static const struct kind {
    uint32_t mode;
    uint32_t protocol;
    uint32_t flush_timer;
    const char *log_file;
} kinds[] = {
    {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_BEST, 0, NULL},
    {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_SHARED, 0, NULL},
    {EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, ETWAS_PROTOCOL_BEST, 0,
     NULL},
    {0, ETWAS_PROTOCOL_BEST, 0, "log.etl"},
    {0, ETWAS_PROTOCOL_SHARED, 0, "log.etl"},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_BEST, 1, "log.etl"},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_SHARED, 1, "log.etl"},
    {EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, ETWAS_PROTOCOL_BEST, 0, "log.etl"},
    {EVENT_TRACE_FILE_MODE_NEWFILE, ETWAS_PROTOCOL_BEST, 0, "log%d.etl"},
    {EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_BEST, 1,
     "log%d.etl"},
    {EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_SHARED, 1,
     "log%d.etl"},
    {EVENT_TRACE_COMPRESSED_MODE, ETWAS_PROTOCOL_BEST, 0, "log.etl"},
    {EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER, ETWAS_PROTOCOL_SHARED, 1,
     "log.etl"},
};

static void die_once(const struct kind *kind, struct crash_progress *progress)
{
    const etwas_session_options options = {
        .log_file_mode = kind->mode,
        .protocol = kind->protocol,
        .flush_timer = kind->flush_timer,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .buffer_size_kb = 4,
        .minimum_buffers = 16,
        .maximum_buffers = 64,
        .maximum_file_size = (kind->mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0, /* MB */
    };
    const char *log_file = kind->log_file != NULL ? folder_path(kind->log_file) : NULL;
    etwas_recovered recovered;
    int child;

    for (uint32_t part = 1; unlink(crash_part(part)) == 0; part++) { /* of the child before */
    }
    child = crash_child(&options, log_file, CRASH_THREADS, progress);
    crash_await(child, progress, CRASH_THREADS, 0);
    (void)usleep((useconds_t)(rand() % LONGEST_LIFE_US));
    crash_kill(child);
    crash_recover(progress->path, folder_path("after.etl"), &recovered);
    crash_expect(folder_path("after.etl"), log_file, progress, CRASH_THREADS,
                 kind->log_file == NULL);
    if (kind->log_file == NULL && !recovered.is_settling) {
        assert_in_range(recovered.events + recovered.overwritten + recovered.unfinished,
                        crash_logged(progress), crash_logged(progress) + CRASH_THREADS);
    }
}

static void whoever_is_killed_leaves_what_was_acknowledged(void **state)
{
    struct crash_progress *progress = crash_progress_new();
    const char *asked = getenv("ETWAS_TEST_KILLS");
    long kills = asked != NULL ? strtol(asked, NULL, 10) : KILLS;

    (void)state;
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    srand((unsigned)getpid());
    for (long kill = 0; kill < kills; kill++) {
        die_once(&kinds[(size_t)kill % (sizeof kinds / sizeof kinds[0])], progress);
    }
    crash_progress_free(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(whoever_is_killed_leaves_what_was_acknowledged),
    };

    return cmocka_run_group_tests_name("recover storm", tests, NULL, NULL);
}
