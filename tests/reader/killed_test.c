/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of processes that were killed while they wrote them, in every file mode: the reader and the
 * independent walker find the same events, each whole and in the order of its writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "etl/layout.h"
#include "hostile.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/places.h"

enum {
    WRITERS = 2,
    WORDS = 14,
    ROUNDS = 2,
    EVENTS = 6000, /* before it is killed, at least */
    PARTS_LIMIT = 60,
    ENDED_PLACES = 7,
    EVENTS_A_BUFFER = 50,
    ENDED_EVENTS = 24 * EVENTS_A_BUFFER, /* three times round, and to the middle */
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
};

/* ---- the process that is killed -------------------------------------------------------------- */

static etwas_trace_handle session;
static const etwas_session_options *wanted;
static uint64_t *written; /* events, shared with the process */

struct event {
    EVENT_TRACE_HEADER header;
    uint64_t words[WORDS];
};

/* Each word of event n is n. */
static void write_event(uint32_t writer, uint64_t number)
{
    struct event event = {.header.Flags = WNODE_FLAG_TRACED_GUID, .header.Guid.Data1 = writer};
    size_t words = 1 + number % WORDS;

    event.header.Size = (uint16_t)(sizeof event.header + words * 8);
    for (size_t i = 0; i < words; i++) {
        event.words[i] = number;
    }
    TraceEvent(session, &event.header);
}

/* Writes for ever. */
static void *write_events(void *writer)
{
    /*
     * A few MB in the time it lives: more would only take the walker longer. If that time is long,
     * it goes on so slowly that no file becomes full.
     */
    const struct timespec pause = {.tv_nsec = 200000};
    const struct timespec long_pause = {.tv_nsec = 50000000};

    for (uint64_t number = 1;; number++) {
        write_event((uint32_t)(uintptr_t)writer, number);
        if (number % 64 == 0) {
            ck_pr_add_64(written, 64);
            (void)nanosleep(number < 5 * EVENTS ? &pause : &long_pause, NULL);
        }
    }
    return NULL;
}

static void be_killed(const char *path)
{
    pthread_t thread;

    /* The child ends also when the test itself is killed. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (etwas_start("killed", path, wanted, &session) != ERROR_SUCCESS) {
        _exit(1);
    }
    for (uintptr_t i = 1; i < WRITERS; i++) {
        if (pthread_create(&thread, NULL, write_events, (void *)i) != 0) {
            _exit(2);
        }
    }
    (void)write_events((void *)(uintptr_t)0);
}

static void sleep_ms(uint32_t milliseconds)
{
    const struct timespec pause = {.tv_nsec = (long)milliseconds * 1000000};

    (void)nanosleep(&pause, NULL);
}

static off_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* What the process must have done before it is killed, besides writing EVENTS events. */
struct condition {
    const char *file_is_there; /* NULL: none need be */
    const char *file_wrapped;  /* NULL: none need have */
};

/* Is the first data buffer not the first any more? */
static bool has_wrapped(const char *path)
{
    int64_t sequence = 0;
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        return false;
    }
    if (fseek(file,
              (long)(wanted->buffer_size_kb * 1024 +
                     offsetof(struct etwas_etl_buffer_header, sequence_number)),
              SEEK_SET) != 0 ||
        fread(&sequence, sizeof sequence, 1, file) != 1) {
        sequence = 0;
    }
    fclose(file);
    return sequence > 1;
}

static bool holds(const struct condition *condition)
{
    return ck_pr_load_64(written) >= EVENTS &&
           (condition->file_is_there == NULL || size_of(condition->file_is_there) > 0) &&
           (condition->file_wrapped == NULL || has_wrapped(condition->file_wrapped));
}

/* Has a process write; returns when the condition holds. */
static pid_t begin_writing(const char *path, const struct condition *condition)
{
    pid_t child;

    ck_pr_store_64(written, 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        be_killed(path);
    }
    for (int tries = 0; tries < 20000 && !holds(condition); tries++) {
        sleep_ms(1);
    }
    assert_true(holds(condition));
    sleep_ms(next_random() % 20);
    return child;
}

static void end_writing(pid_t child)
{
    int status;

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void write_and_kill(const char *path, const struct condition *condition)
{
    end_writing(begin_writing(path, condition));
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    uint64_t events;
    uint64_t wrong;
    uint64_t damages;
    uint64_t latest[WRITERS];
    bool unfinished;
};

static void on_event(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;
    const EVENT_HEADER *header = &record->EventHeader;
    uint64_t words[WORDS];
    uint32_t writer = header->ProviderId.Data1;
    size_t count = record->UserDataLength / 8u;

    if (memcmp(&header->ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0) {
        return;
    }
    reading->events++;
    if (writer >= WRITERS || count == 0 || count > WORDS) {
        reading->wrong++;
        return;
    }
    memcpy(words, record->UserData, count * 8);
    reading->wrong += words[0] <= reading->latest[writer] || count != 1 + words[0] % WORDS;
    reading->latest[writer] = words[0];
    for (size_t i = 1; i < count; i++) {
        reading->wrong += words[i] != words[0];
    }
}

static void read_paths(char (*paths)[512], uint32_t count, struct reading *reading)
{
    etwas_trace_handle traces[PARTS_LIMIT];
    etwas_trace_information information;
    uint32_t code;

    *reading = (struct reading){0};
    for (uint32_t i = 0; i < count; i++) {
        EVENT_TRACE_LOGFILEA file = {
            .LogFileName = paths[i],
            .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
            .EventRecordCallback = on_event,
            .Context = reading,
        };

        traces[i] = OpenTraceA(&file);
        assert_true(traces[i] != INVALID_PROCESSTRACE_HANDLE);
    }
    code = ProcessTrace(traces, count, NULL, NULL);
    assert_true(code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(etwas_trace_query(traces[i], &information), ERROR_SUCCESS);
        reading->damages += information.damages;
        reading->unfinished = information.unfinished;
        assert_int_equal(CloseTrace(traces[i]), ERROR_SUCCESS);
    }
    assert_int_equal(reading->wrong, 0);
}

static uint64_t reported(const char *report, const char *key)
{
    const char *found = strstr(report, key);

    assert_non_null(found);
    return strtoull(found + strlen(key), NULL, 10);
}

/* The walker keeps every rule and finds as many events. Returns how many buffers were torn. */
static uint64_t walk(char (*paths)[512], uint32_t count, uint64_t events)
{
    FILE *pipe;

    static char command[PARTS_LIMIT * 512];
    static char report[65536];
    int length =
        snprintf(command, sizeof command, WALKER " --unfinished%s", count > 1 ? " --set" : "");

    for (uint32_t i = 0; i < count; i++) {
        length += snprintf(command + length, sizeof command - (size_t)length, " '%s'", paths[i]);
    }
    pipe = popen(command, "re");
    assert_non_null(pipe);
    report[fread(report, 1, sizeof report - 1, pipe)] = 0;
    if (pclose(pipe) != 0) {
        fail_msg("the walker: %s", report);
    }
    assert_int_equal(reported(report, "\"events\": "), events);
    return reported(report, "\"torn\": ");
}

static void expect_readable(char (*paths)[512], uint32_t count)
{
    struct reading reading;

    read_paths(paths, count, &reading);
    assert_true(reading.unfinished);
    /* At most the one buffer that was being written, torn or cut. */
    assert_in_range(reading.damages, 0, 1);
    assert_true(walk(paths, count, reading.events) <= reading.damages);
}

static void kill_in_mode(const etwas_session_options *options, bool wraps)
{
    char path[1][512];

    wanted = options;
    for (int round = 0; round < ROUNDS; round++) {
        char name[32];

        (void)snprintf(name, sizeof name, "%d.etl", round);
        (void)snprintf(path[0], sizeof path[0], "%s", folder_path(name));
        write_and_kill(path[0], &(struct condition){.file_wrapped = wraps ? path[0] : NULL});
        expect_readable(path, 1);
    }
}

static void a_sequential_file_is_read_to_where_it_was_left(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 16, .maximum_file_size = 60};

    (void)state;
    kill_in_mode(&options, false);
}

/* What is found is of one writer's past moments: whole events, in their order. */
static void a_circular_file_is_read_while_it_is_written_R94(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | KB,
                                           .buffer_size_kb = 8,
                                           .maximum_file_size = 64};
    char path[1][512];
    struct reading reading;
    pid_t child;

    (void)state;
    (void)snprintf(path[0], sizeof path[0], "%s", folder_path("live.etl"));
    wanted = &options;
    child = begin_writing(path[0], &(struct condition){.file_wrapped = path[0]});
    for (int round = 0; round < 20; round++) {
        read_paths(path, 1, &reading);
        assert_true(reading.unfinished);
        assert_in_range(reading.damages, 0, 1);
        sleep_ms(1);
    }
    end_writing(child);
}

static void a_circular_file_is_read_wherever_it_was_left_R94(void **state)
{
    const etwas_session_options small = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | KB,
                                         .buffer_size_kb = 8,
                                         .maximum_file_size = 64};
    const etwas_session_options large = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR,
                                         .buffer_size_kb = 512,
                                         .maximum_file_size = 3};

    (void)state;
    kill_in_mode(&small, true);
    (void)unlink(folder_path("0.etl"));
    (void)unlink(folder_path("1.etl"));
    (void)unlink(folder_path("2.etl"));
    kill_in_mode(&large, false);
}

static void space_set_aside_is_no_part_of_the_file_R97(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                            EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                           .buffer_size_kb = 64,
                                           .maximum_file_size = 60};

    (void)state;
    kill_in_mode(&options, false);
}

static void one_stream_is_read_in_its_order_R78(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | KB |
                                                            EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
                                           .buffer_size_kb = 16,
                                           .minimum_buffers = 32,
                                           .maximum_file_size = 512};

    (void)state;
    kill_in_mode(&options, false);
}

static uint32_t numbers_left; /* before the process is killed */

/*
 * At a number, or the mark that comes after the last: nothing else is written in pieces so small.
 */
static long kill_at_number(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_WRITE && bytes <= sizeof(int64_t) && numbers_left-- == 0) {
        (void)raise(SIGKILL);
    }
    return (long)bytes;
}

/* Ends a circular file that went round; is killed when so many buffers have their number anew. */
static void be_killed_at_number(const char *path, uint32_t numbers)
{
    etwas_session_counts counts;

    if (etwas_start("killed", path, wanted, &session) != ERROR_SUCCESS) {
        _exit(1);
    }
    for (uint64_t number = 1; number <= ENDED_EVENTS; number++) {
        write_event(0, number);
        if (number % EVENTS_A_BUFFER == 0 && etwas_flush(session) != ERROR_SUCCESS) {
            _exit(2);
        }
    }
    if (etwas_counts(session, &counts) != ERROR_SUCCESS) {
        _exit(3);
    }
    ck_pr_store_64(written, counts.recorded);
    numbers_left = numbers;
    etwas_file_set_failure_hook(kill_at_number);
    (void)etwas_stop(session, NULL);
    _exit(4);
}

static void a_circular_file_is_read_wherever_its_end_was_left_R94(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | KB |
                                                            EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
                                           .buffer_size_kb = 8,
                                           .maximum_file_size = 8 * (ENDED_PLACES + 1),
                                           .flusher = {.no_thread = true}};
    char path[1][512];
    struct reading reading;

    (void)state;
    wanted = &options;
    (void)snprintf(path[0], sizeof path[0], "%s", folder_path("ended.etl"));
    for (uint32_t numbers = 0; numbers <= ENDED_PLACES; numbers++) {
        int status = 0;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            be_killed_at_number(path[0], numbers);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        read_paths(path, 1, &reading);
        assert_true(reading.unfinished);
        assert_int_equal(reading.damages, 0);
        assert_int_equal(reading.events, ck_pr_load_64(written));
        assert_int_equal(walk(path, 1, reading.events), 0);
    }
}

/* Each time appended to what the killed ones before left. A writer's numbers begin anew. */
static void an_appended_file_is_read_over_all_its_sessions_R95(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND,
                                           .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                           .buffer_size_kb = 16,
                                           .maximum_file_size = 60};
    char path[1][512];
    etwas_trace_information information;

    (void)state;
    wanted = &options;
    (void)snprintf(path[0], sizeof path[0], "%s", folder_path("appended.etl"));
    for (int round = 0; round < ROUNDS; round++) {
        EVENT_TRACE_LOGFILEA file = {.LogFileName = path[0]};
        etwas_trace_handle trace;

        write_and_kill(path[0], &(struct condition){0});
        trace = OpenTraceA(&file);
        assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
        (void)ProcessTrace(&trace, 1, NULL, NULL);
        assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
        assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
        assert_in_range(information.damages, 0, 1);
        assert_true(walk(path, 1, information.events) <= information.damages);
    }
}

static void a_set_of_new_files_is_whole_but_for_its_last_part_R96(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | KB,
                                           .buffer_size_kb = 16,
                                           .maximum_file_size = 256};
    static char paths[PARTS_LIMIT][512];
    uint32_t count = 0;

    (void)state;
    wanted = &options;
    write_and_kill(folder_path("%d.etl"),
                   &(struct condition){.file_is_there = folder_path("3.etl")});
    while (count < PARTS_LIMIT) {
        char name[32];

        (void)snprintf(name, sizeof name, "%u.etl", count + 1);
        (void)snprintf(paths[count], sizeof paths[count], "%s", folder_path(name));
        if (size_of(paths[count]) == 0) {
            break;
        }
        count++;
    }
    assert_in_range(count, 3, PARTS_LIMIT - 1);
    expect_readable(paths, count);
}

static int share_counter(void **state)
{
    (void)state;
    written =
        mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return written == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_sequential_file_is_read_to_where_it_was_left),
        FOLDER_TEST(a_circular_file_is_read_while_it_is_written_R94),
        FOLDER_TEST(a_circular_file_is_read_wherever_it_was_left_R94),
        FOLDER_TEST(a_circular_file_is_read_wherever_its_end_was_left_R94),
        FOLDER_TEST(space_set_aside_is_no_part_of_the_file_R97),
        FOLDER_TEST(one_stream_is_read_in_its_order_R78),
        FOLDER_TEST(an_appended_file_is_read_over_all_its_sessions_R95),
        FOLDER_TEST(a_set_of_new_files_is_whole_but_for_its_last_part_R96),
    };

    return cmocka_run_group_tests(tests, share_counter, NULL);
}
