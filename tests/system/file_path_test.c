/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Paths that calls are given: with the probe each open, rename, link and deletion has its own,
 * however short the file is open; without it none has.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/file_events.h"
#include "system/names/bpf_probes.h"

enum {
    THREADS = 8,
    ROUNDS = 500, /* of each */
    LONGEST = 256,
    OPENS_OR_CREATES = 3 << 24,
    NAME_AT = 8,
    OPEN_PATH_AT = 32,
    FILE_NAME_AT = 40, /* of a path operation */
    DELETE_PATH = 79,
    RENAME_PATH = 80,
    SET_LINK_PATH = 81,
};

static void skip_without_probe(void)
{
    struct etwas_probe probe;

    if (!etwas_path_probe_open(&probe, 1, 1)) {
        (void)printf("skipped: there is no leave to load BPF programs\n");
        skip();
    }
    etwas_probe_close(&probe);
}

/* A text of ASCII. */
static const char *text_at(const struct event *event, size_t offset)
{
    static char text[LONGEST];
    size_t length = (event->record.UserDataLength - offset) / 2;

    assert_in_range(length, 1, LONGEST);
    for (size_t index = 0; index < length; index++) {
        text[index] = (char)event->payload[offset + 2 * index];
    }
    assert_int_equal(text[length - 1], 0);
    return text;
}

/* What the event's file is called by another, which is near; NULL: nothing says. */
static const char *name_of_file(const struct events *events, const struct event *event)
{
    size_t begin = (size_t)(event - events->items);

    for (size_t passed = 0; passed < events->count; passed++) {
        const struct event *other = &events->items[(begin + passed) % events->count];

        if (is_kernel_event(other, &file_class, FILE_NAMED) && u64_at(other, 0) == file_of(event)) {
            return text_at(other, NAME_AT);
        }
    }
    return NULL;
}

/*
 * Returns the path. An open has it in a Name event if another session, perhaps another test's, has
 * recorded system calls before the one that is read here.
 */
static const char *path_of(const struct events *events, const struct event *event)
{
    bool is_open = event->record.EventHeader.EventDescriptor.Opcode == CREATE;
    const char *path = text_at(event, is_open ? OPEN_PATH_AT : FILE_NAME_AT);

    if (!is_open) {
        return path;
    }
    if (path[0] == 0) {
        path = name_of_file(events, event);
    }
    return path != NULL ? path : "";
}

/* ---- many threads ---------------------------------------------------------------------------- */

static char folder[LONGEST];

/* Each round's own, of one length to sixty. */
static void write_path(char *path, uint32_t thread, uint32_t round)
{
    (void)snprintf(path, LONGEST, "%.128s/%u-%u-%.*s", folder, thread, round, (int)(round % 60),
                   "0123456789012345678901234567890123456789012345678901234567");
}

static uint32_t thread_ids[THREADS];

static void *open_and_delete(void *context)
{
    uint32_t thread = (uint32_t)(uintptr_t)context;
    char path[LONGEST];

    thread_ids[thread] = (uint32_t)syscall(SYS_gettid);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        long opened;

        write_path(path, thread, round);
        opened = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        (void)syscall(SYS_close, opened);
        (void)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    }
    return NULL;
}

/* In order; what is of other kinds is passed over. */
static uint32_t count_in_order(const struct events *events, uint8_t type, uint32_t thread)
{
    uint32_t round = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        char path[LONGEST];

        if (is_kernel_event(event, &file_class, type) &&
            event->record.EventHeader.ThreadId == thread_ids[thread]) {
            const char *found = path_of(events, event);

            write_path(path, thread, round);
            if (strcmp(found, path) == 0) {
                round++;
            } else {
                assert_string_not_equal(found, "");
                assert_int_not_equal(found[strlen(folder)], '/');
            }
        }
    }
    return round;
}

static void every_open_and_deletion_has_its_path(void **state)
{
    etwas_trace_handle session;
    pthread_t threads[THREADS];
    struct events events;

    (void)state;
    skip_without_probe();
    (void)snprintf(folder, sizeof folder, "%s", folder_path("."));
    session = start_files();
    for (uintptr_t thread = 0; thread < THREADS; thread++) {
        assert_int_equal(pthread_create(&threads[thread], NULL, open_and_delete, (void *)thread),
                         0);
    }
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        assert_int_equal(pthread_join(threads[thread], NULL), 0);
    }
    read_and_account(session, &events);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        assert_int_equal(count_in_order(&events, CREATE, thread), ROUNDS);
        assert_int_equal(count_in_order(&events, DELETE_PATH, thread), ROUNDS);
    }
    free_events(&events);
}

/* ---- each kind ------------------------------------------------------------------------------- */

/* The file that it is of was called so before. */
static void expect_becomes(const struct events *events, uint8_t type, uint8_t path_type,
                           const char *before, const char *after)
{
    const struct event *event = nth(events, path_type, 0);
    const char *name;

    assert_non_null(event);
    assert_string_equal(path_of(events, event), after);
    assert_int_equal(irp_of(event), irp_of(nth(events, type, 0)));
    name = name_of_file(events, event);
    assert_non_null(name);
    assert_string_equal(name, before);
    expect_end(events, event, 0);
}

static void what_gets_another_path_has_both(void **state)
{
    etwas_trace_handle session;
    struct events events;
    char one[LONGEST];
    char other[LONGEST];

    (void)state;
    skip_without_probe();
    (void)snprintf(one, sizeof one, "%s", folder_path("one"));
    (void)snprintf(other, sizeof other, "%s", folder_path("the other"));
    session = start_files();
    assert_int_equal(close(open_file("one", O_WRONLY | O_CREAT)), 0);
    assert_int_equal(syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 0), 0);
    assert_int_equal(syscall(SYS_linkat, AT_FDCWD, other, AT_FDCWD, one, 0), 0);
    assert_int_equal(syscall(SYS_symlinkat, "target", AT_FDCWD, folder_path("link")), 0);
    assert_int_equal(syscall(SYS_mkdirat, AT_FDCWD, folder_path("folder"), 0700), 0);
    read_and_account(session, &events);
    expect_becomes(&events, RENAME, RENAME_PATH, one, other);
    expect_becomes(&events, SET_INFO, SET_LINK_PATH, other, one);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 1)), folder_path("link"));
    assert_string_equal(path_of(&events, nth(&events, CREATE, 2)), folder_path("folder"));
    free_events(&events);
}

/* Also of what is no path at all, and of none; one that is too long is no harm. */
static void a_path_is_recorded_as_it_is_given(void **state)
{
    static char longest[5000];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    skip_without_probe();
    memset(longest, 'x', sizeof longest - 1);
    session = start_files();
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, "not/./there", O_RDONLY), -1);
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY), -1);
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, "", O_RDONLY), -1);
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, longest, O_RDONLY), -1);
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, "behind", O_RDONLY), -1);
    read_and_account(session, &events);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 0)), "not/./there");
    expect_end(&events, nth(&events, CREATE, 0), -ENOENT);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 1)), "");
    expect_end(&events, nth(&events, CREATE, 1), -EFAULT);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 2)), "");
    expect_end(&events, nth(&events, CREATE, 3), -ENAMETOOLONG);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 4)), "behind");
    free_events(&events);
}

/* ---- behind their calls ---------------------------------------------------------------------- */

/* A path in a page that is in a file, and not in memory yet. */
static char *map_path(const char *path)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int opened = open(folder_path("text"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    char *mapped;

    assert_int_equal(pwrite(opened, path, strlen(path) + 1, 0), strlen(path) + 1);
    assert_int_equal(ftruncate(opened, (off_t)page), 0);
    mapped = mmap(NULL, page, PROT_READ, MAP_SHARED, opened, 0);
    assert_true(mapped != MAP_FAILED);
    (void)close(opened);
    return mapped;
}

/* The nth that opens or creates: a session's start opens, too. */
static const struct event *nth_created(const struct events *events, uint32_t number)
{
    const struct event *event;

    for (uint32_t index = 0; (event = nth(events, CREATE, index)) != NULL; index++) {
        if (u32_at(event, 20) == OPENS_OR_CREATES && number-- == 0) {
            return event;
        }
    }
    fail();
    return NULL;
}

/* That it had no path, and then its name. */
static void expect_late(const struct events *events, uint32_t number, const char *path)
{
    const struct event *event = nth_created(events, number);
    const char *name;

    assert_string_equal(text_at(event, OPEN_PATH_AT), "");
    name = name_of_file(events, event);
    assert_non_null(name);
    assert_string_equal(name, path);
}

static void a_path_that_the_call_fetches_is_recorded_after_it(void **state)
{
    etwas_trace_handle session;
    struct events events;
    char path[LONGEST];
    char *mapped;

    (void)state;
    skip_without_probe();
    (void)snprintf(path, sizeof path, "%s", folder_path("late"));
    mapped = map_path(path);
    session = start_files();
    (void)close((int)syscall(SYS_openat, AT_FDCWD, mapped, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(madvise(mapped, 1, MADV_DONTNEED), 0);
    assert_int_equal(syscall(SYS_unlinkat, AT_FDCWD, mapped, 0), 0);
    assert_int_equal(syscall(SYS_openat, AT_FDCWD, mapped, O_WRONLY), -1);
    read_and_account(session, &events);
    expect_late(&events, 0, path);
    assert_string_equal(path_of(&events, nth(&events, DELETE_PATH, 0)), path);
    assert_int_equal(irp_of(nth(&events, DELETE_PATH, 0)), irp_of(nth(&events, DELETE, 0)));
    assert_string_equal(path_of(&events, nth(&events, CREATE, 1)), path);
    free_events(&events);
    (void)munmap(mapped, 1);
}

/* The first one's source is there before the second one's probe. */
static void of_two_sessions_each_has_them(void **state)
{
    etwas_trace_handle sessions[2];
    struct events events;
    struct block block;
    char path[LONGEST];
    char *mapped;
    char *late;

    (void)state;
    skip_without_probe();
    (void)snprintf(path, sizeof path, "%s", folder_path("both"));
    mapped = map_path(path);
    sessions[0] = start_files();
    prepare_block(&block, folder_path("second.etl"));
    block.properties.Wnode.ClientContext = 1;
    block.properties.EnableFlags =
        EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    assert_int_equal(StartTraceA(&sessions[1], "second", &block.properties), ERROR_SUCCESS);
    (void)close((int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600));
    (void)close((int)syscall(SYS_openat, AT_FDCWD, mapped, O_WRONLY | O_CREAT, 0600));
    late = strdup(path);
    assert_int_equal(syscall(SYS_unlinkat, AT_FDCWD, late, 0), 0);
    free(late);
    stop_session(sessions[1], NULL);
    read_and_account(sessions[0], &events);
    assert_string_equal(path_of(&events, nth_created(&events, 0)), path);
    expect_late(&events, 1, path);
    free_events(&events);
    read_events(folder_path("second.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    expect_late(&events, 0, path);
    expect_late(&events, 1, path);
    assert_string_equal(path_of(&events, nth(&events, DELETE_PATH, 0)), path);
    free_events(&events);
    (void)munmap(mapped, 1);
}

/* ---- without --------------------------------------------------------------------------------- */

static int log_without_leave(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    struct etwas_probe probe;
    etwas_trace_handle session;
    struct events events;

    if (syscall(SYS_capget, &head, data) != 0) {
        print_message("skipped: capabilities cannot be read\n");
        return 77;
    }
    data[CAP_TO_INDEX(CAP_BPF)].effective &= ~CAP_TO_MASK(CAP_BPF);
    data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
    if (syscall(SYS_capset, &head, data) != 0 || etwas_path_probe_open(&probe, 1, 1)) {
        print_message("skipped: capabilities cannot be given up, or BPF needs none\n");
        return 77;
    }
    session = start_files();
    assert_int_equal(close(open_file("one", O_WRONLY | O_CREAT)), 0);
    assert_int_equal(unlink(folder_path("one")), 0);
    stop_session(session, NULL);
    read_events(folder_path("k.etl"), 0, &events);
    assert_string_equal(path_of(&events, nth(&events, CREATE, 0)), "");
    assert_non_null(nth(&events, DELETE, 0));
    assert_null(nth(&events, DELETE_PATH, 0));
    free_events(&events);
    return 0;
}

static void without_leave_there_are_none(void **state)
{
    (void)state;
    expect_in_child(log_without_leave);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_open_and_deletion_has_its_path),
        FOLDER_TEST(what_gets_another_path_has_both),
        FOLDER_TEST(a_path_is_recorded_as_it_is_given),
        FOLDER_TEST(a_path_that_the_call_fetches_is_recorded_after_it),
        FOLDER_TEST(of_two_sessions_each_has_them),
        FOLDER_TEST(without_leave_there_are_none),
    };

    return RUN_KERNEL_TESTS("system file path", tests);
}
