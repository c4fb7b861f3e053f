/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: ship_work NAME FILE COUNT END [PART_KB] [A_MS]
 *
 * A session of that name logs COUNT events into FILE, numbered from 0, and ends: stop, kill (half
 * of them are in the file then, and the others in its pool), move (the second half is in
 * FILE.moved.etl), again (the first half is in FILE.first.etl, which was FILE until another one was
 * begun under that name), append (it begins behind what is in FILE, and stops), or wait, which says
 * "ready" when all is logged and goes on when a line comes; share does that, too, and others find
 * the session. PART_KB: FILE has a %d, and parts of so many KB. A_MS: so many events a millisecond,
 * or as fast as may be.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const etwas_guid provider_guid = {
    0x6f1b7a31, 0x2c5d, 0x4e0f, {0x91, 0x62, 0x3b, 0x77, 0x10, 0xaa, 0x5c, 0x9e}};

TRACELOGGING_DEFINE_PROVIDER(provider, "Ship.Work",
                             (0x6f1b7a31, 0x2c5d, 0x4e0f, 0x91, 0x62, 0x3b, 0x77, 0x10, 0xaa, 0x5c,
                              0x9e));

static void log_some(uint32_t first, uint32_t end, uint32_t a_ms)
{
    for (uint32_t number = first; number < end; number++) {
        TraceLoggingWrite(provider, "Counted", TraceLoggingUInt32(number, "number"),
                          TraceLoggingString("some words", "words"));
        if (a_ms != 0 && number % a_ms == a_ms - 1) {
            (void)usleep(1000);
        }
    }
}

/* What is logged from now on goes to FILE and what is behind it. */
static bool move(etwas_trace_handle session, const char *file, const char *behind)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char names[2][1024];
    } update = {.properties = {.Wnode = {.BufferSize = sizeof update,
                                         .Guid = provider_guid,
                                         .Flags = WNODE_FLAG_TRACED_GUID},
                               .LogFileNameOffset = sizeof update.properties,
                               .LoggerNameOffset = sizeof update.properties + 1024}};

    (void)snprintf(update.names[0], sizeof update.names[0], "%s%s", file, behind);
    return ControlTrace(session, NULL, &update.properties, EVENT_TRACE_CONTROL_UPDATE) ==
           ERROR_SUCCESS;
}

static bool begin_again(etwas_trace_handle session, const char *file)
{
    char first[1024];

    (void)snprintf(first, sizeof first, "%s.first.etl", file);
    return move(session, file, ".between") && rename(file, first) == 0 && move(session, file, "");
}

static bool change_file(etwas_trace_handle session, const char *file, const char *how)
{
    return (strcmp(how, "move") != 0 || move(session, file, ".moved.etl")) &&
           (strcmp(how, "again") != 0 || begin_again(session, file));
}

int main(int argc, char **argv)
{
    etwas_session_options options = {.buffer_size_kb = 16, .flush_timer = 1};
    etwas_trace_handle session;
    uint32_t count;
    uint32_t a_ms;
    char line[16];

    if (argc < 5) {
        return 1;
    }
    options.crash_safe = strcmp(argv[4], "kill") == 0 ? ETWAS_CRASH_SAFE_POOL_FILE : 0;
    options.maximum_buffers = options.crash_safe != 0 ? 256 : 0;
    if (argc > 5 && atoi(argv[5]) != 0) {
        options.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
        options.maximum_file_size = (uint32_t)atoi(argv[5]);
    }
    if (strcmp(argv[4], "append") == 0) {
        options.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND;
        options.clock = ETWAS_CLOCK_SYSTEM_TIME;
    }
    if (TraceLoggingRegister(provider) != 0) {
        return 1;
    }
    options.sharing = strcmp(argv[4], "share") == 0 ? ETWAS_SHARING_USER : ETWAS_SHARING_NONE;
    if (etwas_start(argv[1], argv[2], &options, &session) != ERROR_SUCCESS ||
        EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0,
                       NULL) != ERROR_SUCCESS) {
        return 1;
    }
    count = (uint32_t)atoi(argv[3]);
    a_ms = argc > 6 ? (uint32_t)atoi(argv[6]) : 0;
    log_some(0, count / 2, a_ms);
    if (options.crash_safe != 0) {
        (void)etwas_flush(session);
    }
    if (!change_file(session, argv[2], argv[4])) {
        return 1;
    }
    log_some(count / 2, count, a_ms);
    if (strcmp(argv[4], "kill") == 0) {
        (void)raise(SIGKILL);
    }
    if (strcmp(argv[4], "wait") == 0 || strcmp(argv[4], "share") == 0) {
        (void)puts("ready");
        (void)fflush(stdout);
        (void)!fgets(line, sizeof line, stdin);
    }
    return etwas_stop(session, NULL) == ERROR_SUCCESS ? 0 : 1;
}
