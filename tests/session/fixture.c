/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/fixture.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "etl/own_record.h"

/* Children of these tests start threads after a fork, which ThreadSanitizer forbids by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

const etwas_guid event_class = {0x11111111, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
const etwas_guid control_guid = {0x22222222, 3, 4, {8, 7, 6, 5, 4, 3, 2, 1}};
const etwas_guid first_class = {0x33333333, 5, 6, {3, 3, 3, 3, 3, 3, 3, 3}};
const etwas_guid second_class = {0x44444444, 7, 8, {4, 4, 4, 4, 4, 4, 4, 4}};

/* ---- sessions -------------------------------------------------------------------------------- */

void prepare_block(struct block *block, const char *file)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.LoggerNameOffset = offsetof(struct block, session_name);
    if (file != NULL) {
        block->properties.LogFileNameOffset = offsetof(struct block, file_name);
        assert_true(strlen(file) < sizeof block->file_name);
        memcpy(block->file_name, file, strlen(file) + 1);
    }
}

etwas_trace_handle start_block(const char *name, struct block *block)
{
    etwas_trace_handle session = 0;

    assert_int_equal(StartTraceA(&session, name, &block->properties), ERROR_SUCCESS);
    assert_int_not_equal(session, 0);
    return session;
}

const etwas_session_options small_session = {.buffer_size_kb = 4, .maximum_buffers = 1};
const etwas_session_options small_recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
    .buffer_size_kb = 4,
};

etwas_trace_handle start_recorder(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};

    return start_session(NULL, &options);
}

etwas_wchar *wide_of(const char *text, etwas_wchar *buffer, size_t units)
{
    size_t length = strlen(text);

    assert_true(length < units);
    for (size_t index = 0; index <= length; index++) {
        assert_true((unsigned char)text[index] < 0x80);
        buffer[index] = (etwas_wchar)text[index];
    }
    return buffer;
}

/* ---- events ---------------------------------------------------------------------------------- */

uint32_t log_number(etwas_trace_handle session, uint64_t number)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t number;
    } event = {
        .header = {.Size = sizeof event,
                   .Class = {.Type = 10, .Level = TRACE_LEVEL_INFORMATION, .Version = 1},
                   .Guid = event_class},
        .number = number,
    };

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    return TraceEvent(session, &event.header);
}

uint32_t ignore_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)request;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

/* ---- reading back ---------------------------------------------------------------------------- */

/* What a snapshot says of the time that it covers. */
static bool is_of_window(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return memcmp(&record->EventHeader.ProviderId, &etwas_etl_own_class,
                  sizeof etwas_etl_own_class) == 0 &&
           (type == ETWAS_ETL_WINDOW_TYPE || type == ETWAS_ETL_MISSING_TYPE);
}

static void keep_event(EVENT_RECORD *record)
{
    struct events *events = record->UserContext;
    struct event *event;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0) {
        events->header_events++;
        events->header_stamp = record->EventHeader.TimeStamp.QuadPart;
        return;
    }
    if (is_of_window(record)) {
        return;
    }
    if ((events->count & (events->count - 1)) == 0) {
        size_t room = events->count == 0 ? 1 : events->count * 2;

        events->items = realloc(events->items, room * sizeof *events->items);
        assert_non_null(events->items);
    }
    event = &events->items[events->count++];
    *event = (struct event){.record = *record};
    event->payload = malloc(record->UserDataLength + 1u);
    assert_non_null(event->payload);
    if (record->UserDataLength != 0) {
        memcpy(event->payload, record->UserData, record->UserDataLength);
    }
    for (uint32_t index = 0; index < record->ExtendedDataCount; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];

        assert_int_equal(item->ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
        assert_int_equal(item->DataSize, sizeof event->instance);
        memcpy(&event->instance, (const void *)(uintptr_t)item->DataPtr, sizeof event->instance);
        event->instance_items++;
    }
    event->record.ExtendedData = NULL;
    event->record.UserData = NULL;
}

/* Returns what ProcessTrace says. */
static uint32_t read_all(const char *path, uint32_t mode, struct events *events)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path, .Context = events};
    etwas_trace_handle trace;
    uint32_t code;

    memset(events, 0, sizeof *events);
    file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | mode;
    file.EventRecordCallback = keep_event;
    trace = OpenTraceA(&file);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        fail_msg("%s cannot be opened: code %u", path, GetLastError());
    }
    events->header = file.LogfileHeader;
    code = ProcessTrace(&trace, 1, NULL, NULL);
    assert_int_equal(etwas_trace_query(trace, &events->information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    /* R99: the header event, once. */
    assert_int_equal(events->header_events, 1);
    return code;
}

void read_events(const char *path, uint32_t mode, struct events *events)
{
    assert_int_equal(read_all(path, mode, events), ERROR_SUCCESS);
    assert_int_equal(events->information.damages, 0);
}

void free_events(struct events *events)
{
    for (size_t index = 0; index < events->count; index++) {
        free(events->items[index].payload);
    }
    free(events->items);
    memset(events, 0, sizeof *events);
}

uint64_t number_of(const struct event *event)
{
    uint64_t number;

    assert_int_equal(event->record.UserDataLength, sizeof number);
    assert_memory_equal(&event->record.EventHeader.ProviderId, &event_class, sizeof event_class);
    memcpy(&number, event->payload, sizeof number);
    return number;
}

size_t count_events(const char *path)
{
    struct events events;
    size_t count;

    read_events(path, 0, &events);
    count = events.count;
    for (size_t index = 0; index < count; index++) {
        (void)number_of(&events.items[index]);
    }
    free_events(&events);
    return count;
}

/* ---- what the process owns ------------------------------------------------------------------- */

static uint32_t entries_of(const char *path)
{
    DIR *entries = opendir(path);
    uint32_t count = 0;

    assert_non_null(entries);
    while (readdir(entries) != NULL) {
        count++;
    }
    (void)closedir(entries);
    return count;
}

static uint32_t count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint32_t lines = 0;
    int character;

    assert_non_null(maps);
    while ((character = fgetc(maps)) != EOF) {
        lines += character == '\n';
    }
    (void)fclose(maps);
    return lines;
}

struct belongings count_belongings(void)
{
    return (struct belongings){
        .descriptors = entries_of("/proc/self/fd"),
        .threads = entries_of("/proc/self/task"),
        .mappings = count_mappings(),
        .files = entries_of(folder_path(".")),
    };
}

void assert_nothing_gained(const struct belongings *before)
{
    enum {
        ALLOCATOR_NOISE = 16,
        LOOKS = 60000 /* a minute */
    };
    const struct timespec pause = {.tv_nsec = 1000000};
    struct belongings now = count_belongings();

    /*
     * A thread that was joined may stay in the list for a moment, and one that looks what other
     * processes share has a descriptor for that long; also when `before` was counted.
     */
    for (int look = 0;
         look < LOOKS && (now.threads > before->threads || now.descriptors > before->descriptors);
         look++) {
        (void)nanosleep(&pause, NULL);
        now = count_belongings();
    }
    assert_true(now.threads <= before->threads);
    assert_true(now.descriptors <= before->descriptors);
    assert_int_equal(now.files, before->files);
    assert_true(FIXTURE_SANITIZER || now.mappings <= before->mappings + ALLOCATOR_NOISE);
}

/* ---- children -------------------------------------------------------------------------------- */

_Noreturn void child_failed(const char *condition, const char *file, int line)
{
    (void)dprintf(STDERR_FILENO, "%s:%d: in the child: %s\n", file, line, condition);
    _exit(1);
}

void limit_child(void)
{
    enum {
        CHILD_SECONDS = 150
    };

    (void)alarm(CHILD_SECONDS);
}

#ifdef __SANITIZE_ADDRESS__
/*
 * AddressSanitizer of gcc 12 does not hold the locks of its allocator over a fork. Where another
 * thread had one just then, the child would wait for it for ever. So each child first allocates of
 * each size class (four a power of two) more than is cached, and is replaced where it does not say
 * that it could.
 */
static void allocate_each_size(void)
{
    enum {
        SMALLEST = 512,
        LARGEST = 32768,
        CACHED = 65536
    };
    void *allocated[CACHED / SMALLEST + 2];

    for (size_t size = SMALLEST; size <= LARGEST; size += size / 8) {
        size_t count = CACHED / size + 2;

        for (size_t index = 0; index < count; index++) {
            allocated[index] = malloc(size);
        }
        for (size_t index = 0; index < count; index++) {
            free(allocated[index]);
        }
    }
}

static bool has_allocated(int child, int notice)
{
    enum {
        TIMEOUT_MS = 1000
    };
    struct pollfd said = {.fd = notice, .events = POLLIN};
    bool has = poll(&said, 1, TIMEOUT_MS) == 1 && (said.revents & POLLIN) != 0;

    if (!has) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    return has;
}

static int fork_usable(void)
{
    int child;
    bool is_usable;

    do {
        int ends[2];

        if (pipe(ends) != 0) {
            return -1;
        }
        child = fork();
        if (child == 0) {
            allocate_each_size();
            (void)write(ends[1], "", 1);
        }
        is_usable = child <= 0 || has_allocated(child, ends[0]);
        (void)close(ends[0]);
        (void)close(ends[1]);
    } while (!is_usable);
    return child;
}
#else
static int fork_usable(void)
{
    return fork();
}
#endif

int fork_child(void)
{
    int child = fork_usable();

    if (child == 0) {
        limit_child();
    }
    return child;
}

int exit_code_of(int child)
{
    int status;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        fail_msg("the child was killed by signal %d", WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

void expect_child(int child)
{
    int code = exit_code_of(child);

    if (code == 77) {
        skip();
    }
    assert_int_equal(code, 0);
}

void expect_in_child(int (*run)(void))
{
    int child = fork_child();

    if (child == 0) {
        _exit(run());
    }
    expect_child(child);
}

void limit_address_space(uint64_t more)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    struct rlimit limit;

    CHECK_IN_CHILD(file != NULL && fscanf(file, "%lu", &pages) == 1);
    (void)fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    CHECK_IN_CHILD(setrlimit(RLIMIT_AS, &limit) == 0);
}
