/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers in plugins that come and go while events flow: theirs, and others' to the same session,
 * which is flushed and changed meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <dlfcn.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "contract/provider_plugin.h"

enum {
    ROUNDS = 300,
    EVENTS = 200,
};

static const GUID event_class = {0x0e7f3b91, 0x5d2c, 0x4a86, {8, 7, 6, 5, 4, 3, 2, 1}};

static etwas_trace_handle session;
static uint32_t end; /* atomic */
static uint64_t logged;

static void *log_until_end(void *argument)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (ck_pr_load_32(&end) == 0) {
        EVENT_TRACE_HEADER header = {.Size = sizeof header, .Guid = event_class};

        header.Flags = WNODE_FLAG_TRACED_GUID;
        logged += TraceEvent(session, &header) == ERROR_SUCCESS;
        (void)nanosleep(&pause, NULL);
    }
    return argument;
}

static void *flush_and_enable_until_end(void *id)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (uint8_t level = 4; ck_pr_load_32(&end) == 0; level ^= 1) {
        (void)EnableTraceEx2(session, id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, 0, 0, 0, NULL);
        (void)etwas_flush(session);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Its provider is enabled before it is there. Returns how many events it wrote. */
static uint64_t live_in_plugin(void)
{
    void *library = dlopen(ETWAS_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const struct provider_plugin *plugin;
    int written;

    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    plugin = dlsym(library, PROVIDER_PLUGIN_SYMBOL);
    assert_non_null(plugin);
    assert_int_equal(plugin->begin(), 0);
    written = plugin->write_events(EVENTS);
    plugin->end();
    assert_int_equal(plugin->write_events(EVENTS), 0);
    assert_int_equal(dlclose(library), 0);
    /* It is gone, with its code and data. */
    assert_null(dlopen(ETWAS_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD));
    assert_int_equal(written, EVENTS);
    return EVENTS;
}

static void count_event(EVENT_RECORD *record)
{
    static const GUID system_header = {
        0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

    if (!IsEqualGUID(&record->EventHeader.ProviderId, &system_header)) {
        ++*(uint64_t *)record->UserContext;
    }
}

static uint64_t count_events(char *path)
{
    uint64_t events = 0;
    EVENT_TRACE_LOGFILEA log = {.LogFileName = path,
                                .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                .EventRecordCallback = count_event,
                                .Context = &events};
    TRACEHANDLE trace = OpenTraceA(&log);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return events;
}

static GUID id_of_plugin(void)
{
    void *library = dlopen(ETWAS_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const struct provider_plugin *plugin = dlsym(library, PROVIDER_PLUGIN_SYMBOL);
    GUID id;

    assert_non_null(plugin);
    id = plugin->id();
    assert_int_equal(dlclose(library), 0);
    return id;
}

static void providers_come_and_go_with_their_plugins_while_events_flow(void **state)
{
    char path[] = "/tmp/etwas-dlclose-XXXXXX";
    int file = mkstemp(path);
    etwas_session_counts counts;
    pthread_t threads[2];
    uint64_t written = 0;
    GUID id;

    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    id = id_of_plugin();
    assert_int_equal(etwas_start("dlclose", path, NULL, &session), ERROR_SUCCESS);
    assert_int_equal(
        EnableTraceEx2(session, &id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL),
        ERROR_SUCCESS);
    assert_int_equal(pthread_create(&threads[0], NULL, log_until_end, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, flush_and_enable_until_end, &id), 0);
    for (int round = 0; round < ROUNDS; round++) {
        written += live_in_plugin();
    }
    ck_pr_store_32(&end, 1);
    for (int index = 0; index < 2; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    assert_int_equal(etwas_stop(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(counts.recorded, written + logged);
    assert_int_equal(count_events(path), written + logged);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(providers_come_and_go_with_their_plugins_while_events_flow),
    };

    return cmocka_run_group_tests_name("dlclose", tests, NULL, NULL);
}
