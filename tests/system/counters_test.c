/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS_COUNTERS against the real kernel: the end of a process has what it used,
 * and without leave the flag is refused.
 */
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"
#include "system/names/processes.h"

enum {
    COUNTERS = EVENT_TRACE_FLAG_PROCESS_COUNTERS | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    END = 32,
    RUNDOWN = 33,
    PAGE = 4096,
    PAGES = 8192, /* 32 MiB */
    PIECE = 32768,
    PIECES = 64, /* 2 MiB */
    SLACK = 2000,
    KB = 1024,
    MB = 1 << 20,

    FAULTS_AT = 4,
    HANDLES_AT = 8,
    RESERVED_AT = 12,
    PEAK_VIRTUAL_AT = 16,
    PEAK_RESIDENT_AT = 24,
    RESIDENT_AT = 64,
    READ_AT = 104,
    WRITTEN_AT = 112,
};

static const etwas_guid process_class = {
    0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* Returns the only event of the process, or NULL; with `last` the last one of several. */
static const struct event *find(const struct events *events, uint8_t type, uint32_t process_id,
                                bool last)
{
    const struct event *found = NULL;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &process_class, type) && u32_at(event, 0) == process_id) {
            assert_true(last || found == NULL);
            assert_int_equal(event->record.UserDataLength, 136);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
            found = event;
        }
    }
    return found;
}

static void *touch_half(void *pages)
{
    volatile uint8_t *memory = pages;

    for (size_t page = 0; page < PAGES / 2; page++) {
        memory[page * PAGE] = 1;
    }
    return NULL;
}

/* One half by its first thread, the other by another; the same for what goes through the pipe. */
static void use_much(void)
{
    static uint8_t piece[PIECE];
    uint8_t *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    int ends[2];

    CHECK_IN_CHILD(memory != MAP_FAILED && madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE) == 0);
    CHECK_IN_CHILD(pthread_create(&thread, NULL, touch_half, memory) == 0);
    CHECK_IN_CHILD(pthread_join(thread, NULL) == 0);
    (void)touch_half(memory + PAGES / 2 * PAGE);
    CHECK_IN_CHILD(pipe(ends) == 0);
    for (int index = 0; index < PIECES; index++) {
        CHECK_IN_CHILD(write(ends[1], piece, PIECE) == PIECE);
        CHECK_IN_CHILD(read(ends[0], piece, PIECE) == PIECE);
    }
    _exit(0);
}

static void the_end_of_a_process_has_what_it_used(void **state)
{
    etwas_trace_handle session;
    struct events events;
    const struct event *event;
    int child;

    (void)state;
    session = start_kernel(COUNTERS);
    child = fork(); /* fork_child takes memory of its own */
    if (child == 0) {
        limit_child();
        use_much();
    }
    assert_int_equal(exit_code_of(child), 0);
    read_and_account(session, &events);
    event = find(&events, END, (uint32_t)child, false);
    assert_non_null(event);
    assert_int_equal(u32_at(event, RESERVED_AT), 0);
    assert_in_range(u32_at(event, FAULTS_AT), PAGES, PAGES + SLACK);
    assert_in_range(u64_at(event, PEAK_RESIDENT_AT), (PAGES - SLACK) * PAGE, 2 * PAGES * PAGE);
    assert_in_range(u64_at(event, PEAK_VIRTUAL_AT), PAGES * PAGE, UINT64_MAX);
    assert_in_range(u64_at(event, READ_AT), PIECES * PIECE, PIECES * PIECE + MB);
    assert_in_range(u64_at(event, WRITTEN_AT), PIECES * PIECE, PIECES * PIECE + MB);
    free_events(&events);
}

/* As it is, and as many descriptors as there are. */
static void a_rundown_has_what_processes_use(void **state)
{
    struct etwas_process_counters now;
    etwas_trace_handle session;
    struct events events;
    const struct event *event;

    (void)state;
    session = start_kernel(COUNTERS);
    assert_true(etwas_process_counters_read((uint32_t)getpid(), &now));
    read_and_account(session, &events);
    event = find(&events, RUNDOWN, (uint32_t)getpid(), true);
    assert_non_null(event);
    assert_in_range(u32_at(event, FAULTS_AT), now.page_faults, now.page_faults + SLACK);
    assert_in_range(u32_at(event, HANDLES_AT), 1, now.handles);
    assert_in_range(u64_at(event, RESIDENT_AT), KB, u64_at(event, PEAK_RESIDENT_AT));
    assert_in_range(u64_at(event, READ_AT), now.characters_read, UINT64_MAX);
    assert_null(find(&events, END, (uint32_t)getpid(), true));
    free_events(&events);
}

/* All that other flags need, which does not do for this one. */
static int start_without_network_administration(void)
{
    etwas_trace_handle session = 7;
    struct block block;
    char sentence[512];

    if (!become_nobody_with(monitoring_capabilities())) {
        return 1;
    }
    prepare_kernel_block(&block, COUNTERS);
    if (StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) != ERROR_ACCESS_DENIED ||
        session != 0) {
        return 2;
    }
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    if (strstr(sentence, "CAP_NET_ADMIN") == NULL) {
        return 3;
    }
    /* Without it the same may be had, and the flag cannot come later either. */
    prepare_kernel_block(&block, FLAGS);
    if (StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) != ERROR_SUCCESS ||
        etwas_kernel_refusal(NULL, 0) != 0) {
        return 4;
    }
    block.properties.EnableFlags = FLAGS | COUNTERS;
    block.properties.LogFileNameOffset = 0;
    if (ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE) !=
            ERROR_ACCESS_DENIED ||
        etwas_kernel_refusal(NULL, 0) == 0) {
        return 5;
    }
    return ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) ==
                   ERROR_SUCCESS
               ? 0
               : 6;
}

static void a_refusal_of_counters_has_a_reason(void **state)
{
    (void)state;
    expect_as_nobody(start_without_network_administration);
}

/* A process that is forked meanwhile and still exists at the end is not read either. */
static int count_where_proc_is_hidden(void)
{
    etwas_trace_handle session;
    pid_t child;

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        print_message("skipped: mounts in a private namespace are not granted\n");
        return 77;
    }
    session = start_kernel(COUNTERS);
    child = fork_child();
    if (child == 0) {
        (void)pause();
    }
    stop_session(session, NULL);
    (void)kill(child, SIGKILL);
    return 0;
}

static void where_proc_is_not_ours_nothing_is_read_there(void **state)
{
    (void)state;
    expect_in_child(count_where_proc_is_hidden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_end_of_a_process_has_what_it_used),
        FOLDER_TEST(a_rundown_has_what_processes_use),
        FOLDER_TEST(a_refusal_of_counters_has_a_reason),
        FOLDER_TEST(where_proc_is_not_ours_nothing_is_read_there),
    };
    struct etwas_unavailability fault;
    struct etwas_exits *exits = etwas_exits_open(&fault);

    if (exits == NULL) {
        char why[256];

        etwas_unavailability_explain(&fault, why, sizeof why);
        (void)printf("skipped: %s\n", why);
        return 77;
    }
    etwas_exits_close(exits);
    return RUN_KERNEL_TESTS("system counters", tests);
}
