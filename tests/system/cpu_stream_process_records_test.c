/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Process records of the real kernel in a stream: processes, threads and images.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/cpu_stream_fixture.h"

static int64_t raw_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* A child with a thread, which loads an image by becoming another program. */
static pid_t run_child(void)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, do_nothing, NULL) != 0) {
            _exit(1);
        }
        (void)pthread_join(thread, NULL);
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return child;
}

struct seen {
    uint32_t processes;
    uint32_t threads;
    uint32_t exits;
    uint32_t execs;
    uint32_t images;
};

static void see(struct seen *seen, const struct etwas_process_record *process_record, pid_t child)
{
    if (process_record->process_id != (uint32_t)child) {
        return;
    }
    if (process_record->type == PERF_RECORD_FORK) {
        bool is_process = process_record->task.parent_process_id != (uint32_t)child;

        assert_int_equal(process_record->task.parent_process_id, is_process ? getpid() : child);
        seen->processes += is_process;
        seen->threads += !is_process;
    } else if (process_record->type == PERF_RECORD_EXIT) {
        seen->exits++;
    } else if (process_record->type == PERF_RECORD_COMM && process_record->comm.is_exec) {
        assert_string_equal(process_record->comm.name, "true");
        seen->execs++;
    } else if (process_record->type == PERF_RECORD_MMAP2 &&
               (process_record->image.protection & PROT_EXEC) != 0 &&
               strstr(process_record->image.path, "/true") != NULL) {
        assert_int_equal(process_record->image.build_id_bytes, 20);
        seen->images++;
    }
}

static void a_childs_beginning_and_end_are_reported(void **state)
{
    const struct perf_event_header *record;
    struct seen seen = {0};
    int64_t before;
    int64_t after;
    pid_t child;

    (void)state;
    open_stream(RING_BYTES);
    before = raw_ns();
    child = run_child();
    after = raw_ns();
    etwas_cpu_stream_stop(&stream);
    assert_true(etwas_ring_begin(&stream.ring));
    while ((record = etwas_ring_next(&stream.ring)) != NULL) {
        struct etwas_process_record process_record;

        assert_true(etwas_process_record_decode(record, &process_record));
        if (process_record.process_id == (uint32_t)child) {
            assert_in_range(process_record.origin.time_ns, before, after);
        }
        see(&seen, &process_record, child);
    }
    etwas_cpu_stream_close(&stream);
    assert_int_equal(seen.processes, 1);
    /* ThreadSanitizer has threads of its own in the child. */
    assert_true(seen.threads >= 1);
    assert_int_equal(seen.exits, seen.processes + seen.threads);
    assert_int_equal(seen.execs, 1);
    assert_int_equal(seen.images, 1);
}

static void only_requested_records_are_reported(void **state)
{
    const struct perf_event_header *record;
    struct etwas_unavailability fault;
    uint32_t tasks = 0;

    (void)state;
    assert_true(etwas_cpu_stream_open(&stream, this_processor(), 0, RING_BYTES, &fault));
    add_process_records(ETWAS_PROCESS_RECORD_TASKS);
    etwas_cpu_stream_start(&stream);
    (void)run_child();
    etwas_cpu_stream_stop(&stream);
    assert_true(etwas_ring_begin(&stream.ring));
    while ((record = etwas_ring_next(&stream.ring)) != NULL) {
        assert_true(record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT);
        tasks++;
    }
    etwas_cpu_stream_close(&stream);
    assert_in_range(tasks, 4, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_childs_beginning_and_end_are_reported),
        cmocka_unit_test(only_requested_records_are_reported),
    };
    const char *reason;

    stay_here();
    reason = why_no_stream();
    if (reason != NULL) {
        (void)printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests_name("feed_sideband", tests, NULL, NULL);
}
