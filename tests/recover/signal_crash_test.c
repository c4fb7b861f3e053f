/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Snapshots from the handler of a crash, wherever that is: children crash, and what they had logged
 * by then is in the file, or counted in it.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/testpoint.h"
#include "recover/signal_handler.h"
#include "support/inside.h"
#include "support/metadata.h"

enum {
    THREADS = 3, /* the child's first, and two others */
    EVENTS = 400,
    MOST_EVENTS = 20000, /* of each of the others: no buffer is overwritten */
    NUMBER_BITS = 32,
    STACK_BYTES = 64 << 10,
    STACK_PATTERN = 0x5A,
    SNAPSHOT_STACK_BYTES = 4096, /* as etwas.h says */
};

/* What a child tells its parent. */
struct told {
    uint64_t logged[THREADS];   /* events of each whose call returned */
    uint64_t at_crash[THREADS]; /* the same when the handler began */
    uint32_t code;
    uint32_t snapshots;
    uint64_t stack_bytes;
};

static struct told *told;
static uint8_t *handler_stack;

/* ---- children that crash --------------------------------------------------------------------- */

static void on_crash(int signal)
{
    (void)signal;
    etwas_testpoint_set(NULL);
    for (int thread = 0; thread < THREADS; thread++) {
        told->at_crash[thread] = ck_pr_load_64(&told->logged[thread]);
    }
    told->code = snapshot_as_handler();
    told->snapshots++;
    for (uint64_t at = 0; at < STACK_BYTES && handler_stack[at] == STACK_PATTERN; at++) {
        told->stack_bytes = STACK_BYTES - at - 1;
    }
    _exit(0);
}

static void handle_crashes(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_size = STACK_BYTES};

    handler_stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_IN_CHILD(handler_stack != MAP_FAILED);
    memset(handler_stack, STACK_PATTERN, STACK_BYTES);
    stack.ss_sp = handler_stack;
    CHECK_IN_CHILD(sigaltstack(&stack, NULL) == 0);
    CHECK_IN_CHILD(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK_IN_CHILD(sigaction(SIGABRT, &action, NULL) == 0);
}

static uint32_t log_as(int thread)
{
    uint32_t code = log_number(session, (uint64_t)thread << NUMBER_BITS | told->logged[thread]);

    if (code == ERROR_SUCCESS) {
        ck_pr_fence_release();
        ck_pr_store_64(&told->logged[thread], told->logged[thread] + 1);
    }
    return code;
}

static void log_some(void)
{
    for (int event = 0; event < EVENTS; event++) {
        (void)log_as(0);
    }
}

static void fault(void)
{
    ck_pr_store_8((uint8_t *)(uintptr_t)ck_pr_load_ptr(&(void *){NULL}), 1);
}

static bool is_recorder(const etwas_session_options *options)
{
    return options == &recorder;
}

/* A child that starts such a session, prepares a snapshot, and crashes. Its wait status. */
static int crash(const etwas_session_options *options, void (*run)(void))
{
    char log_path[256];
    char path[256];
    int child;
    int status;

    (void)snprintf(log_path, sizeof log_path, "%s", folder_path("trace.etl"));
    (void)snprintf(path, sizeof path, "%s", folder_path("crash.etl"));
    memset(told, 0, sizeof *told);
    child = fork_child();
    if (child == 0) {
        session = start_session(is_recorder(options) ? NULL : log_path, options);
        CHECK_IN_CHILD(etwas_snapshot_prepare(session, open_file(path), &prepared) ==
                       ERROR_SUCCESS);
        handle_crashes();
        run();
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/*
 * All that was logged before the crash is in the file, in order, but for what the file says is not.
 */
static uint64_t expect_whole(void)
{
    uint64_t found[THREADS] = {0};
    uint64_t all = 0;
    uint64_t logged = 0;
    struct events events;
    uint64_t lost;

    assert_int_equal(told->snapshots, 1);
    read_events(folder_path("crash.etl"), 0, &events);
    lost = events.information.lost_events;
    for (size_t index = 0; index < events.count; index++) {
        uint64_t number =
            is_metadata(&events.items[index].record) ? UINT64_MAX : number_of(&events.items[index]);
        uint64_t thread = number >> NUMBER_BITS;

        if (number == UINT64_MAX) {
            continue; /* what other tests described */
        }
        assert_true(thread < THREADS);
        if (lost == 0) {
            assert_int_equal(number & UINT32_MAX, found[thread]);
        }
        found[thread]++;
    }
    for (int thread = 0; thread < THREADS; thread++) {
        all += found[thread];
        logged += told->at_crash[thread];
        if (lost == 0) {
            assert_true(found[thread] >= told->at_crash[thread]);
        }
    }
    assert_true(all + lost >= logged);
    if (told->logged[1] == 0) {
        assert_true(all + lost <= logged + 1); /* its own record may be whole */
    }
    assert_true(events.header.EndTime.QuadPart >= events.header.StartTime.QuadPart);
    free_events(&events);
    return lost;
}

static uint64_t expect_snapshot(const etwas_session_options *options, void (*run)(void))
{
    int status = crash(options, run);

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("the child ended with status %#x", (unsigned)status);
    }
    assert_int_equal(told->code, ERROR_SUCCESS);
    return expect_whole();
}

/* Expects a snapshot of a recorder, and of a session with a file. */
static void expect_both(void (*run)(void))
{
    assert_int_equal(expect_snapshot(&recorder, run), 0);
    assert_int_equal(expect_snapshot(&filing, run), 0);
}

/* ---- where they crash ------------------------------------------------------------------------ */

static void in_the_program(void)
{
    log_some();
    fault();
}

static void aborting(void)
{
    log_some();
    abort();
}

static void a_crash_of_the_program(void **state)
{
    (void)state;
    expect_both(in_the_program);
    expect_both(aborting);
}

/* The record's payload cannot be read: with restartable sequences it is one that crashes. */
static void in_a_record(void)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD field;
    } event = {.header = {.Size = sizeof event, .Guid = event_class}, .field = {.Length = 2000}};

    log_some();
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    event.field.DataPtr =
        (uintptr_t)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)TraceEvent(session, &event.header);
}

static void a_crash_in_the_midst_of_a_record(void **state)
{
    (void)state;
    expect_both(in_a_record);
}

static enum etwas_testpoint crash_point;

static void crash_at_point(enum etwas_testpoint point)
{
    if (point == crash_point) {
        fault();
    }
}

static void at_a_point(void)
{
    log_some();
    etwas_testpoint_set(crash_at_point);
    for (int event = 0; event < MOST_EVENTS; event++) {
        (void)log_as(0);
    }
}

static void a_crash_between_any_two_steps_of_a_writer(void **state)
{
    uint32_t before = session_protocol;

    (void)state;
    session_protocol = ETWAS_PROTOCOL_SHARED;
    for (int point = ETWAS_POINT_RESERVE_LOADED; point <= ETWAS_POINT_SWITCH_INSTALLED; point++) {
        crash_point = (enum etwas_testpoint)point;
        if (point == ETWAS_POINT_SWITCH_GREW) {
            assert_int_equal(expect_snapshot(&filing, at_a_point), 0); /* a recorder does not */
        } else if (point != ETWAS_POINT_SWITCH_FOUND_NONE) {
            expect_both(at_a_point);
        }
    }
    session_protocol = before;
}

static void with_the_control_lock(void)
{
    log_some();
    etwas_control_lock();
    fault();
}

static void with_the_other_locks(void)
{
    struct etwas_session *inside = inside_of(session);

    log_some();
    (void)pthread_mutex_lock(&inside->drain.role);
    (void)pthread_mutex_lock(&inside->buffers.pool_lock);
    fault();
}

static void a_crash_with_the_librarys_locks_held(void **state)
{
    (void)state;
    expect_both(with_the_control_lock);
    expect_both(with_the_other_locks);
}

/* Crashes in a write to the session's own file; the snapshot's writes are let through. */
static long crash_in_write(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_WRITE && !in_handler) {
        fault();
    }
    return (long)bytes;
}

static void in_a_flush(void)
{
    log_some();
    etwas_file_set_failure_hook(crash_in_write);
    (void)etwas_flush(session);
}

static void crash_at_third_pin(enum etwas_testpoint point)
{
    static int pins;

    if (point == ETWAS_POINT_SNAPSHOT_PINNED && ++pins == 3) {
        fault();
    }
}

static void in_a_snapshot(void)
{
    log_some();
    etwas_testpoint_set(crash_at_third_pin);
    (void)etwas_snapshot(session, folder_path("never.etl"));
}

static void a_crash_in_a_flush_or_another_snapshot(void **state)
{
    (void)state;
    assert_int_equal(expect_snapshot(&filing, in_a_flush), 0);
    assert_int_equal(expect_snapshot(&recorder, in_a_snapshot), 0);
}

static void *log_as_other(void *number)
{
    while (told->logged[*(const int *)number] < MOST_EVENTS) {
        (void)log_as(*(const int *)number);
    }
    return NULL;
}

static void beside_writers(void)
{
    static const int numbers[] = {1, 2};
    pthread_t thread;

    CHECK_IN_CHILD(pthread_create(&thread, NULL, log_as_other, (void *)(uintptr_t)&numbers[0]) ==
                   0);
    CHECK_IN_CHILD(pthread_create(&thread, NULL, log_as_other, (void *)(uintptr_t)&numbers[1]) ==
                   0);
    while (ck_pr_load_64(&told->logged[1]) < EVENTS || ck_pr_load_64(&told->logged[2]) < EVENTS) {
        (void)usleep(100);
    }
    log_some();
    fault();
}

static void a_crash_while_others_write(void **state)
{
    (void)state;
    for (int turn = 0; turn < 5; turn++) {
        (void)expect_snapshot(&recorder, beside_writers);
        (void)expect_snapshot(&filing, beside_writers);
    }
}

/* What lies behind a block is written over, until the allocator notices. */
static void in_malloc(void)
{
    enum {
        BYTES = 5000, /* too many for a cache without checks */
    };
    char *volatile block = malloc(BYTES);

    log_some();
    for (int byte = 0; byte < 2 * BYTES; byte++) {
        *(volatile unsigned char *)(block + byte) = UINT8_MAX;
    }
    free(block);
    block = malloc((size_t)20 * BYTES);
}

/* All of it. */
static void with_a_broken_heap(void)
{
    uint8_t *end = sbrk(0);
    uint8_t *start = (uint8_t *)((uintptr_t)malloc(24) & ~(uintptr_t)4095);

    log_some();
    while (start < end) {
        *(volatile uint8_t *)start++ = 0xA5;
    }
    fault();
}

static void a_crash_in_malloc_and_of_a_broken_heap(void **state)
{
    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer has an allocator of its own\n");
        skip();
    }
    expect_both(in_malloc);
    expect_both(with_a_broken_heap);
}

static uint64_t __attribute__((noinline)) recurse(uint64_t depth)
{
    volatile uint8_t frame[1024];

    frame[depth % sizeof frame] = (uint8_t)depth;
    return depth == UINT64_MAX ? 0 : recurse(depth + 1) + frame[0];
}

static void without_stack(void)
{
    log_some();
    (void)recurse(0);
}

static void a_crash_for_lack_of_stack_takes_little_of_the_other(void **state)
{
    uint64_t frame = getauxval(AT_MINSIGSTKSZ);

    (void)state;
    expect_both(without_stack);
    if (!FIXTURE_SANITIZER) {
        assert_true(told->stack_bytes > 0);
        assert_true(told->stack_bytes <
                    (frame != 0 ? frame : (uint64_t)MINSIGSTKSZ) + SNAPSHOT_STACK_BYTES);
    }
}

static void in_a_child_of_the_crash(void)
{
    int child;

    log_some();
    child = fork();
    if (child == 0) {
        _exit(etwas_snapshot_signal_safe(prepared) == ERROR_INVALID_HANDLE ? 0 : 1);
    }
    CHECK_IN_CHILD(exit_code_of(child) == 0);
    fault();
}

static void a_forks_child_has_nothing_to_show_and_leaves_the_file_alone(void **state)
{
    (void)state;
    expect_both(in_a_child_of_the_crash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_crash_of_the_program),
        FOLDER_TEST(a_crash_in_the_midst_of_a_record),
        FOLDER_TEST(a_crash_between_any_two_steps_of_a_writer),
        FOLDER_TEST(a_crash_with_the_librarys_locks_held),
        FOLDER_TEST(a_crash_in_a_flush_or_another_snapshot),
        FOLDER_TEST(a_crash_while_others_write),
        FOLDER_TEST(a_crash_in_malloc_and_of_a_broken_heap),
        FOLDER_TEST(a_crash_for_lack_of_stack_takes_little_of_the_other),
        FOLDER_TEST(a_forks_child_has_nothing_to_show_and_leaves_the_file_alone),
    };

    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return RUN_WITH_EACH_PROTOCOL(tests);
}
