/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes that run what a file system has that does not answer, or are locked up because of it: a
 * thread that asks for their files or arguments waits for ever. A system logger does not: it says
 * what it can find out, goes on and ends.
 */
#include <dirent.h>
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failures/private_mounts.h"
#include "failures/remote.h"
#include "support/folder.h"
#include "system/kernel_fixture.h"
#include "system/names/offload.h"
#include "system/names/processes.h"

enum {
    SKIPPED = 77,
    PAGE = 4096,
    FLAGS_AT = 32, /* in a process's payload */
    PROCESS_AT = 8,
    IMAGE_PROCESS_AT = 16, /* in an image's */
    ID_PROCESS_AT = 8,     /* in a build's */
    ID_TYPE = 36,
    EVERYTHING = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_IMAGE_LOAD |
                 EVENT_TRACE_FLAG_PROCESS_COUNTERS | EVENT_TRACE_FLAG_VAMAP |
                 EVENT_TRACE_FLAG_DISK_FILE_IO | EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

/* Which build an image is, told when it was there in the beginning, and in the end. */
static const etwas_guid build_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

static struct remote remote;

static void answer(bool does)
{
    assert_int_equal(kill(remote.process, does ? SIGCONT : SIGSTOP), 0);
}

/* Waits until the offloaded tasks that were abandoned have come back. */
static void await_abandoned(void)
{
    while (etwas_offload_abandoned() != 0) {
        (void)usleep(1000);
    }
}

/* On the disk: a program with a build id. */
static void copy_program(const char *name)
{
    char command[1024];

    (void)snprintf(command, sizeof command, "cp /bin/true %s/%s", remote.folder, name);
    assert_int_equal(system(command), 0);
}

static int begin_test(void **state)
{
    if (folder_setup(state) != 0 || remote_begin(&remote) != 0) {
        return -1;
    }
    copy_program("program");
    return 0;
}

static int end_test(void **state)
{
    remote_end(&remote);
    return folder_teardown(state);
}

static uint8_t *map_file(const char *name)
{
    char path[512];
    uint8_t *mapped;
    int file;

    (void)snprintf(path, sizeof path, "%s/%s", remote.folder, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* a thread that needs it has to ask
                                                           * the disk */
    mapped = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    return file >= 0 && mapped != MAP_FAILED ? mapped : NULL;
}

/* Wants to change what the process has mapped, again and again. */
static void *map_and_unmap(void *argument)
{
    for (;;) {
        void *mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        (void)munmap(mapped, PAGE);
    }
    return argument;
}

/*
 * One thread reads the memory of the process where that is the disk's, and so holds the lock of its
 * mappings; another waits to change them. Every thread that only wants to read the mappings waits
 * behind that one.
 */
static void lock_up(uint8_t *mapped)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    pthread_t thread;
    char byte;

    (void)pthread_create(&thread, NULL, map_and_unmap, NULL);
    (void)!pread(memory, &byte, 1, (off_t)(uintptr_t)(mapped + PAGE));
    (void)pause();
}

/* How many threads of it wait for what cannot be interrupted. */
static uint32_t waiting_threads(uint32_t process_id)
{
    char path[64];
    char text[PAGE];
    uint32_t count = 0;
    const struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/task", process_id);
    folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char stat_path[512];
        int file;

        (void)snprintf(stat_path, sizeof stat_path, "%s/%s/stat", path, entry->d_name);
        file = open(stat_path, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && entry->d_name[0] != '.') {
            ssize_t bytes = read(file, text, sizeof text - 1);

            text[bytes > 0 ? bytes : 0] = 0;
            count += strstr(text, ") D ") != NULL;
        }
        (void)close(file);
    }
    (void)closedir(folder);
    return count;
}

/* A process that has mapped the file. Once the disk does not answer it may be locked up. */
struct child {
    uint32_t process_id;
    int go;
};

static struct child begin_child(void)
{
    struct child begun;
    int ready[2];
    int go[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    child = fork_child();
    if (child == 0) {
        uint8_t *mapped = map_file("program");

        (void)!write(ready[1], "", mapped != NULL ? 1 : 0);
        (void)close(ready[1]);
        (void)close(go[1]);
        if (read(go[0], &byte, 1) == 1) {
            lock_up(mapped);
        }
        (void)pause();
    }
    (void)close(ready[1]);
    (void)close(go[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    begun = (struct child){(uint32_t)child, go[1]};
    return begun;
}

static void lock_child(const struct child *child)
{
    assert_int_equal(write(child->go, "", 1), 1);
    while (waiting_threads(child->process_id) != 2) {
        (void)usleep(1000);
    }
}

static void end_child(const struct child *child)
{
    (void)close(child->go);
    assert_int_equal(kill((pid_t)child->process_id, SIGKILL), 0);
    assert_int_equal(waitpid((pid_t)child->process_id, NULL, 0), child->process_id);
}

static uint32_t count_saying(const struct events *events, const etwas_guid *class_guid,
                             uint8_t type, size_t offset, uint32_t number)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_kernel_event(&events->items[index], class_guid, type) &&
                 u32_at(&events->items[index], offset) == number;
    }
    return count;
}

static uint32_t count_images(const struct events *events, uint32_t process_id)
{
    return count_saying(events, &ImageLoadGuid, RUNDOWN_START, IMAGE_PROCESS_AT, process_id);
}

static uint32_t count_builds(const struct events *events, uint32_t process_id)
{
    return count_saying(events, &build_class, ID_TYPE, ID_PROCESS_AT, process_id);
}

/* Told when the session began, with its threads and images; whether its command line is known. */
static void expect_process(const struct events *events, uint32_t process_id, bool has_line)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &ProcessGuid, RUNDOWN_START) &&
            u32_at(event, PROCESS_AT) == process_id) {
            count++;
            assert_int_equal((u32_at(event, FLAGS_AT) & ETWAS_PROCESS_NO_COMMAND_LINE) == 0,
                             has_line);
        }
    }
    assert_int_equal(count, 1);
}

/* What happens behind the rundown is recorded. */
static void record(struct events *events)
{
    etwas_trace_handle session = start_kernel(EVERYTHING);
    uint32_t child;

    update_kernel_flags(session, EVERYTHING | EVENT_TRACE_FLAG_THREAD, ERROR_SUCCESS);
    child = (uint32_t)run_child();
    (void)read_with_loss(session, events);
    assert_int_equal(count_threads(events, THREAD_START, child, 0), 3);
    expect_process(events, (uint32_t)getpid(), true);
    assert_in_range(count_builds(events, (uint32_t)getpid()), 1, UINT32_MAX);
}

static void a_disk_that_answers_says_builds(void **state)
{
    struct child child = begin_child();
    struct events events;
    uint32_t own;

    (void)state;
    record(&events);
    own = (uint32_t)getpid();
    assert_int_equal(count_images(&events, child.process_id), count_images(&events, own) + 1);
    assert_int_equal(count_builds(&events, child.process_id), count_builds(&events, own) + 2);
    end_child(&child);
    free_events(&events);
}

static void begin_children(struct child *children, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        children[index] = begin_child();
    }
    answer(false);
}

static void end_children(const struct child *children, uint32_t count)
{
    answer(true);
    await_abandoned();
    for (uint32_t index = 0; index < count; index++) {
        end_child(&children[index]);
    }
}

/* One is waited for, and of the others the disk is not asked. */
static void a_disk_that_does_not_answer_says_no_builds(void **state)
{
    enum {
        CHILDREN = 3
    };
    struct child children[CHILDREN];
    struct events events;
    uint32_t own;

    (void)state;
    begin_children(children, CHILDREN);
    record(&events);
    own = (uint32_t)getpid();
    assert_int_equal(etwas_offload_abandoned(), 1);
    for (int index = 0; index < CHILDREN; index++) {
        uint32_t child = children[index].process_id;

        expect_process(&events, child, true);
        assert_int_equal(count_images(&events, child), count_images(&events, own) + 1);
        assert_int_equal(count_builds(&events, child), count_builds(&events, own));
    }
    end_children(children, CHILDREN);
    free_events(&events);
}

/* What it has mapped may be known or not, as the kernel is. */
static void a_process_that_is_locked_up_has_no_command_line(void **state)
{
    struct child child;
    struct events events;

    (void)state;
    begin_children(&child, 1);
    lock_child(&child);
    record(&events);
    assert_int_equal(etwas_offload_abandoned(), 1);
    expect_process(&events, child.process_id, false);
    end_children(&child, 1);
    free_events(&events);
}

/* Others are told of, and nobody waits for more than a few. */
static void many_that_are_locked_up_are_notified_all_the_same(void **state)
{
    enum {
        MANY = 2 * ETWAS_OFFLOAD_MOST
    };
    struct child children[MANY];
    struct events events;

    (void)state;
    begin_children(children, MANY);
    for (int index = 0; index < MANY; index++) {
        lock_child(&children[index]);
    }
    record(&events);
    assert_int_equal(etwas_offload_abandoned(), ETWAS_OFFLOAD_MOST);
    for (int index = 0; index < MANY; index++) {
        expect_process(&events, children[index].process_id, false);
    }
    end_children(children, MANY);
    free_events(&events);
}

#define SILENT_TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SILENT_TEST(a_disk_that_answers_says_builds),
        SILENT_TEST(a_disk_that_does_not_answer_says_no_builds),
        SILENT_TEST(a_process_that_is_locked_up_has_no_command_line),
        SILENT_TEST(many_that_are_locked_up_are_notified_all_the_same),
    };
    const char *reason = enter_private_mounts();

    reason = reason != NULL ? reason : remote_refused();
    if (reason != NULL) {
        (void)printf("skipped: %s\n", reason);
        return SKIPPED;
    }
    return RUN_KERNEL_TESTS("silent processes", tests);
}
