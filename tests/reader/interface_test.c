/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace, ProcessTrace and CloseTrace: arguments, handles, callbacks, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder.h"
#include "collect.h"

static etwas_trace_handle open_path(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path};

    return OpenTraceA(&logfile);
}

static void assert_open_fails(EVENT_TRACE_LOGFILEA *logfile, uint32_t code)
{
    EVENT_TRACE_LOGFILEA before;

    if (logfile != NULL) {
        before = *logfile;
    }
    etwas_SetLastError(ERROR_SUCCESS);
    assert_true(OpenTraceA(logfile) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), code);
    if (logfile != NULL) {
        assert_memory_equal(logfile, &before, sizeof before);
    }
}

static void what_cannot_be_opened_gets_its_code(void **state)
{
    char *sound = strdup(put_sound_file(0, 1, false));
    char folder[128];
    char longest[5000];
    char name[] = "a session";
    EVENT_TRACE_LOGFILEA logfile = {0};

    (void)state;
    assert_non_null(sound);
    assert_open_fails(NULL, ERROR_INVALID_PARAMETER);
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    logfile.LogFileName = (char[]){""};
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    logfile.LoggerName = name;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    logfile.LogFileName = NULL;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    logfile.LoggerName = NULL;
    logfile.LogFileName = sound;
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    logfile.ProcessTraceMode = 0;

    logfile.LogFileName = (char[]){"/nowhere.etl"};
    assert_open_fails(&logfile, ERROR_FILE_NOT_FOUND);
    logfile.LogFileName = (char[]){"/no/such/folder.etl"};
    assert_open_fails(&logfile, ERROR_PATH_NOT_FOUND);
    logfile.LogFileName = (char[]){"/etc/passwd/a.etl"};
    assert_open_fails(&logfile, ERROR_PATH_NOT_FOUND);
    logfile.LogFileName = (char[]){"/tmp"};
    assert_open_fails(&logfile, ERROR_ACCESS_DENIED);
    logfile.LogFileName = (char[]){"/dev/null"};
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    logfile.LogFileName = longest;
    assert_open_fails(&logfile, ERROR_FILENAME_EXCED_RANGE);

    snprintf(folder, sizeof folder, "%s", sound);
    *strrchr(folder, '/') = 0;
    if (getuid() != 0) {
        chmod(sound, 0);
        logfile.LogFileName = sound;
        assert_open_fails(&logfile, ERROR_ACCESS_DENIED);
        chmod(sound, 0600);
    }
    snprintf(folder + strlen(folder), 16, "/pipe");
    assert_int_equal(mkfifo(folder, 0600), 0);
    logfile.LogFileName = folder;
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    unlink(folder);
    free(sound);
}

static void a_file_that_is_no_trace_is_corrupt(void **state)
{
    uint8_t noise[9000];
    const struct {
        const void *bytes;
        size_t size;
    } table[] = {{"", 0}, {"#!/bin/sh\n", 10}, {noise, 71}, {noise, 400}, {noise, sizeof noise}};

    (void)state;
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)(i * 7 + i / 251);
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        EVENT_TRACE_LOGFILEA logfile = {
            .LogFileName = (char *)(uintptr_t)put_file(0, table[i].bytes, table[i].size)};

        assert_open_fails(&logfile, ERROR_FILE_CORRUPT);
    }
    memset(noise, 0, sizeof noise);
    assert_true(open_path(put_file(0, noise, sizeof noise)) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), ERROR_FILE_CORRUPT);
    memset(noise, 0xFF, sizeof noise);
    assert_true(open_path(put_file(0, noise, sizeof noise)) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), ERROR_FILE_CORRUPT);
}

static void OpenTrace_fills_in_the_header(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        EVENT_TRACE_LOGFILEA logfile = {0};
        const TRACE_LOGFILE_HEADER *header = &logfile.LogfileHeader;
        etwas_trace_handle handle;
        const char *name;

        options.narrow = narrow != 0;
        options.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
        builder_begin(&builder, &options);
        builder_buffer(&builder, 0);
        builder_end(&builder);
        builder_log_header(&builder)->events_lost = 99;
        name = put_file(0, builder.bytes, builder.size);
        logfile.LogFileName = (char *)(uintptr_t)name;
        handle = OpenTraceA(&logfile);
        assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
        assert_ptr_equal(logfile.LogFileName, name);
        assert_int_equal(logfile.BufferSize, 4096);
        assert_int_equal(logfile.IsKernelTrace, 0);
        assert_int_equal(header->BufferSize, 4096);
        assert_int_equal(header->VersionDetail.MajorVersion, 10);
        assert_int_equal(header->VersionDetail.SubMinorVersion, 5);
        assert_int_equal(header->ProviderVersion, 19045);
        assert_int_equal(header->NumberOfProcessors, 4);
        assert_int_equal(header->EndTime.QuadPart, BUILDER_START + 600000000);
        assert_int_equal(header->TimerResolution, 156250);
        assert_int_equal(header->LogFileMode, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
        assert_int_equal(header->BuffersWritten, 2);
        assert_int_equal(header->PointerSize, narrow ? 4 : 8);
        assert_int_equal(header->EventsLost, 99);
        assert_int_equal(header->CpuSpeedInMHz, 3000);
        assert_int_equal(header->BootTime.QuadPart, BUILDER_START - 1000);
        assert_int_equal(header->PerfFreq.QuadPart, 10000000);
        assert_int_equal(header->StartTime.QuadPart, BUILDER_START);
        assert_int_equal(header->ReservedFlags, 1);
        assert_memory_equal(header->LoggerName, u"a session", 20);
        assert_memory_equal(header->LogFileName, u"C:\\trace.etl", 26);
        assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
        builder_free(&builder);
    }
}

static void the_kernel_loggers_trace_says_so(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    EVENT_TRACE_LOGFILEA logfile = {0};
    etwas_trace_handle handle;

    (void)state;
    options.session_name = u"nt kernel LOGGER";
    builder_begin(&builder, &options);
    builder_end(&builder);
    logfile.LogFileName = (char *)(uintptr_t)put_file(0, builder.bytes, builder.size);
    handle = OpenTraceA(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(logfile.IsKernelTrace, 1);
    CloseTrace(handle);
    builder_free(&builder);
}

static EVENT_TRACE_LOGFILEW wide_seen;
static etwas_wchar wide_name_seen[64];

static uint32_t on_wide_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    wide_seen = *logfile;
    for (size_t i = 0; i < 64 && (i == 0 || wide_name_seen[i - 1] != 0); i++) {
        wide_name_seen[i] = logfile->LogFileName[i];
    }
    return 1;
}

static void OpenTraceW_takes_UTF_16(void **state)
{
    const char *path = put_sound_file(0, 3, false);
    etwas_wchar name[64] = {0};
    etwas_wchar bad[] = {'/', 0xD800, '.', 0};
    etwas_wchar *longest = calloc(5001, sizeof *longest);
    EVENT_TRACE_LOGFILEW logfile = {
        .LogFileName = name, .BufferCallback = on_wide_buffer, .Context = &wide_seen};
    etwas_trace_handle handle;

    (void)state;
    assert_non_null(longest);
    for (size_t i = 0; path[i] != 0; i++) {
        name[i] = (etwas_wchar)path[i];
    }
    handle = OpenTraceW(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_ptr_equal(logfile.LogFileName, name);
    assert_int_equal(logfile.LogfileHeader.BuffersWritten, 2);
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(wide_seen.BuffersRead, 2);
    assert_ptr_equal(wide_seen.Context, &wide_seen);
    assert_memory_equal(wide_name_seen, name, strlen(path) * 2 + 2);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);

    logfile = (EVENT_TRACE_LOGFILEW){.LogFileName = bad};
    assert_true(OpenTraceW(&logfile) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), ERROR_BAD_PATHNAME);
    for (size_t i = 0; i < 5000; i++) {
        longest[i] = 'x';
    }
    logfile.LogFileName = longest;
    assert_true(OpenTraceW(&logfile) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), ERROR_FILENAME_EXCED_RANGE);
    assert_true(OpenTraceW(NULL) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_GetLastError(), ERROR_INVALID_PARAMETER);
    free(longest);
}

static void up_to_64_files_are_processed_together_C16(void **state)
{
    etwas_trace_handle handles[65];
    etwas_trace_information information;

    (void)state;
    forget_collected();
    for (unsigned i = 0; i < 65; i++) {
        handles[i] = open_collecting(put_sound_file(i, 2, false), PROCESS_TRACE_MODE_EVENT_RECORD);
        assert_true(handles[i] != INVALID_PROCESSTRACE_HANDLE);
    }
    assert_int_equal(ProcessTrace(handles, 65, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(ProcessTrace(handles, 0, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(collected.event_count, 0);
    assert_int_equal(ProcessTrace(handles, 64, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 64 * 3);
    forget_collected();
    assert_int_equal(etwas_process_traces(handles, 0, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(etwas_process_traces(handles, 1025, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(etwas_process_traces(NULL, 65, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_process_traces(handles, 65, NULL, NULL), ERROR_SUCCESS);
    /* They say that one session recorded them: the header of each, and the two events once. */
    assert_int_equal(collected.event_count, 65 + 2);
    assert_int_equal(etwas_trace_query(handles[64], &information), ERROR_SUCCESS);
    assert_int_equal(information.repeated_events, 2);
    assert_int_equal(information.events, 0);
    for (unsigned i = 0; i < 65; i++) {
        assert_int_equal(CloseTrace(handles[i]), ERROR_SUCCESS);
    }
}

static void bad_arguments_of_ProcessTrace_get_their_codes(void **state)
{
    etwas_trace_handle handles[2] = {open_path(put_sound_file(0, 1, false)), 12345};
    etwas_filetime early = filetime_of(BUILDER_START);
    etwas_filetime late = filetime_of(BUILDER_START + 1);

    (void)state;
    assert_int_equal(ProcessTrace(NULL, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(ProcessTrace(handles, 1, &late, &early), ERROR_INVALID_TIME);
    handles[1] = handles[0];
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_BUSY);
    /* None of them held the good handle. */
    assert_int_equal(ProcessTrace(handles, 1, &early, &late), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
}

static void a_handle_is_dead_after_CloseTrace(void **state)
{
    etwas_trace_handle handle = open_path(put_sound_file(0, 1, false));
    const etwas_trace_handle never[] = {0, INVALID_PROCESSTRACE_HANDLE, handle ^ 0xFFFF,
                                        handle + (1 << 16), handle ^ 1ull << 62};
    etwas_trace_information information;
    etwas_trace_handle other;

    (void)state;
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        assert_int_equal(CloseTrace(never[i]), ERROR_INVALID_HANDLE);
    }
    assert_int_equal(etwas_trace_query(handle, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
    assert_int_equal(information.file_bytes, 2 * 4096);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_query(handle, &information), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_on_damage(handle, NULL, NULL), ERROR_INVALID_HANDLE);
    /* Its place is taken by another trace, with another handle. */
    other = open_path(put_sound_file(0, 1, false));
    assert_true(other != handle);
    assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
    assert_int_equal(CloseTrace(other), ERROR_SUCCESS);
}

static void a_full_table_of_handles_is_an_error(void **state)
{
    enum {
        MANY = 1024
    };
    etwas_trace_handle again;
    static etwas_trace_handle handles[MANY];
    const char *path = put_sound_file(0, 1, false);
    size_t opened = 0;

    (void)state;
    while (opened < MANY && (handles[opened] = open_path(path)) != INVALID_PROCESSTRACE_HANDLE) {
        opened++;
    }
    if (opened == MANY) {
        assert_true(open_path(path) == INVALID_PROCESSTRACE_HANDLE);
        assert_int_equal(etwas_GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
    } else {
        /* The system allows fewer open files. */
        assert_int_equal(etwas_GetLastError(), ERROR_NO_SYSTEM_RESOURCES);
    }
    while (opened > 0) {
        assert_int_equal(CloseTrace(handles[--opened]), ERROR_SUCCESS);
    }
    again = open_path(path);
    assert_true(again != INVALID_PROCESSTRACE_HANDLE);
    CloseTrace(again);
}

static void a_trace_can_be_processed_again(void **state)
{
    etwas_trace_handle handle;
    etwas_trace_information information;

    (void)state;
    forget_collected();
    handle = open_collecting(put_sound_file(0, 25, false), PROCESS_TRACE_MODE_EVENT_RECORD);
    for (size_t round = 1; round <= 2; round++) {
        assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(collected.event_count, round * 26);
        assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
        assert_int_equal(information.events, 25);
        assert_int_equal(information.buffers, 4);
        assert_int_equal(collected.buffers[4 * round - 1].buffers_read, 4);
    }
    CloseTrace(handle);
}

static uint32_t buffers_wanted;
static uint32_t buffers_seen;

static uint32_t count_and_cancel(EVENT_TRACE_LOGFILEA *logfile)
{
    (void)logfile;
    return ++buffers_seen < buffers_wanted;
}

static void a_buffer_callback_that_returns_0_cancels(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)put_sound_file(0, 95, false),
                                    .BufferCallback = count_and_cancel};
    etwas_trace_handle handle;

    (void)state;
    for (buffers_wanted = 1; buffers_wanted <= 11; buffers_wanted++) {
        etwas_trace_handle handle = OpenTraceA(&logfile);

        buffers_seen = 0;
        assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_CANCELLED);
        assert_int_equal(buffers_seen, buffers_wanted);
        assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    }
    /* One more than there are: nothing cancels. */
    handle = OpenTraceA(&logfile);
    buffers_seen = 0;
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(buffers_seen, 11);
    CloseTrace(handle);
}

static etwas_trace_handle to_close;
static size_t events_seen;
static uint32_t close_code;

static void close_at_the_fifth(EVENT_RECORD *record)
{
    etwas_trace_information information;

    (void)record;
    if (++events_seen == 5) {
        assert_int_equal(etwas_trace_query(to_close, &information), ERROR_SUCCESS);
        assert_int_equal(etwas_trace_on_damage(to_close, NULL, NULL), ERROR_BUSY);
        assert_int_equal(ProcessTrace(&to_close, 1, NULL, NULL), ERROR_BUSY);
        close_code = CloseTrace(to_close);
    }
}

static void CloseTrace_in_a_callback_ends_the_processing(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)put_sound_file(0, 95, false),
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = close_at_the_fifth};

    (void)state;
    to_close = OpenTraceA(&logfile);
    events_seen = 0;
    assert_int_equal(ProcessTrace(&to_close, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(events_seen, 5);
    assert_int_equal(close_code, ERROR_CTX_CLOSE_PENDING);
    assert_int_equal(CloseTrace(to_close), ERROR_INVALID_HANDLE);
}

static void closing_one_of_two_files_leaves_the_other(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)put_sound_file(0, 95, false),
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = close_at_the_fifth};
    etwas_trace_handle handles[2];

    (void)state;
    forget_collected();
    handles[0] = to_close = OpenTraceA(&logfile);
    handles[1] = open_collecting(put_sound_file(1, 42, false), PROCESS_TRACE_MODE_EVENT_RECORD);
    events_seen = 0;
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(events_seen, 5);
    assert_int_equal(collected.event_count, 43);
    assert_int_equal(CloseTrace(handles[0]), ERROR_INVALID_HANDLE);
    assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

static void a_trace_without_callbacks_is_read_all_the_same(void **state)
{
    etwas_trace_handle handle = open_path(put_sound_file(0, 12, false));
    etwas_trace_information information;

    (void)state;
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
    assert_int_equal(information.events, 12);
    CloseTrace(handle);
}

/* Threads: each opens, processes and closes its own, while one asks about all. */
enum {
    THREADS = 4,
    ROUNDS = 50
};

static void count_in_context(EVENT_RECORD *record)
{
    ++*(size_t *)record->UserContext;
}

static void *read_repeatedly(void *path)
{
    for (int i = 0; i < ROUNDS; i++) {
        size_t events = 0;
        EVENT_TRACE_LOGFILEA logfile = {.LogFileName = path,
                                        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                        .EventRecordCallback = count_in_context,
                                        .Context = &events};
        etwas_trace_handle handle = OpenTraceA(&logfile);

        if (handle == INVALID_PROCESSTRACE_HANDLE ||
            ProcessTrace(&handle, 1, NULL, NULL) != ERROR_SUCCESS ||
            CloseTrace(handle) != ERROR_SUCCESS || events != 201) {
            return path;
        }
    }
    return NULL;
}

static void different_handles_are_processed_by_different_threads(void **state)
{
    pthread_t threads[THREADS];
    const char *path = put_sound_file(0, 200, false);
    void *failed;

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, read_repeatedly, (void *)(uintptr_t)path), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

static pthread_barrier_t in_callback;

static void wait_in_the_first(EVENT_RECORD *record)
{
    if (++*(size_t *)record->UserContext == 1) {
        pthread_barrier_wait(&in_callback);
        pthread_barrier_wait(&in_callback);
    }
}

static void *process_one(void *handle)
{
    return (void *)(uintptr_t)ProcessTrace(handle, 1, NULL, NULL);
}

static void another_thread_may_close_and_ask(void **state)
{
    size_t events = 0;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)put_sound_file(0, 200, false),
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = wait_in_the_first,
                                    .Context = &events};
    etwas_trace_handle handle = OpenTraceA(&logfile);
    etwas_trace_information information;
    pthread_t thread;
    void *code;

    (void)state;
    pthread_barrier_init(&in_callback, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, process_one, &handle), 0);
    pthread_barrier_wait(&in_callback);
    assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
    assert_int_equal(information.buffers, 21);
    assert_int_equal(CloseTrace(handle), ERROR_CTX_CLOSE_PENDING);
    assert_int_equal(CloseTrace(handle), ERROR_CTX_CLOSE_PENDING);
    pthread_barrier_wait(&in_callback);
    assert_int_equal(pthread_join(thread, &code), 0);
    assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
    assert_int_equal(events, 1);
    assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
    pthread_barrier_destroy(&in_callback);
}

static void *last_error_of_a_thread(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)etwas_GetLastError();
}

static void each_thread_has_its_own_last_error(void **state)
{
    pthread_t thread;
    void *code = &thread;

    (void)state;
    etwas_SetLastError(ERROR_CANCELLED);
    assert_int_equal(pthread_create(&thread, NULL, last_error_of_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &code), 0);
    assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
    assert_int_equal(etwas_GetLastError(), ERROR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_opened_gets_its_code),
        cmocka_unit_test(a_file_that_is_no_trace_is_corrupt),
        cmocka_unit_test(OpenTrace_fills_in_the_header),
        cmocka_unit_test(the_kernel_loggers_trace_says_so),
        cmocka_unit_test(OpenTraceW_takes_UTF_16),
        cmocka_unit_test(up_to_64_files_are_processed_together_C16),
        cmocka_unit_test(bad_arguments_of_ProcessTrace_get_their_codes),
        cmocka_unit_test(a_handle_is_dead_after_CloseTrace),
        cmocka_unit_test(a_full_table_of_handles_is_an_error),
        cmocka_unit_test(a_trace_can_be_processed_again),
        cmocka_unit_test(a_buffer_callback_that_returns_0_cancels),
        cmocka_unit_test(CloseTrace_in_a_callback_ends_the_processing),
        cmocka_unit_test(closing_one_of_two_files_leaves_the_other),
        cmocka_unit_test(a_trace_without_callbacks_is_read_all_the_same),
        cmocka_unit_test(different_handles_are_processed_by_different_threads),
        cmocka_unit_test(another_thread_may_close_and_ask),
        cmocka_unit_test(each_thread_has_its_own_last_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
