/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process with recorders, for tests of what asks all of them. It does what the lines of its
 * standard input say, and answers each by a line with a code:
 *
 *   start SHARING NAME          a recorder of this process; SHARING: etwas_session_options.sharing
 *   crash NAME                  one whose buffers outlive the process
 *   file NAME FILE              a session with a file, which shall be asked for snapshots
 *   log N                       N events, with their numbers, into the session started last
 *   large N                     likewise, which are too large for a buffer and so are lost
 *   provide                     registers a provider
 *   write N                     N events, with their numbers, to sessions that enable the provider
 *   arm PASS_ON BEFORE_MS NAME  the session started last, for windows in files of this name
 *   trigger
 *   passed                      how many windows were passed on, and 1000 for each that has a file
 */
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const GUID provider_guid = {
    0x0a6e4c11, 0x52d7, 0x4d0b, {0x9a, 0x3c, 0x60, 0x1f, 0x2b, 0x77, 0x85, 0x0e}};
static const GUID class_guid = {
    0x0a6e4c12, 0x52d7, 0x4d0b, {0x9a, 0x3c, 0x60, 0x1f, 0x2b, 0x77, 0x85, 0x0e}};

static TRACEHANDLE session;
static REGHANDLE provider;
static uint64_t number;

static ULONG start(const char *name, const char *file, const etwas_session_options *options)
{
    return etwas_start(name, file, options, &session);
}

static ULONG log_events(unsigned long count)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t number;
    } event;
    ULONG code = ERROR_SUCCESS;

    for (unsigned long i = 0; i < count && code == ERROR_SUCCESS; i++) {
        memset(&event, 0, sizeof event);
        event.header.Size = sizeof event;
        event.header.Flags = WNODE_FLAG_TRACED_GUID;
        event.header.Guid = class_guid;
        event.header.Class.Type = 10;
        event.number = number++;
        code = TraceEvent(session, &event.header);
    }
    return code;
}

static ULONG lose_events(unsigned long count)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[8192];
    } event;

    for (unsigned long i = 0; i < count; i++) {
        memset(&event, 0, sizeof event);
        event.header.Size = sizeof event;
        event.header.Flags = WNODE_FLAG_TRACED_GUID;
        event.header.Guid = class_guid;
        if (TraceEvent(session, &event.header) == ERROR_SUCCESS) {
            return UINT32_MAX;
        }
    }
    return ERROR_SUCCESS;
}

static ULONG write_events(unsigned long count)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
    ULONG code = ERROR_SUCCESS;

    for (unsigned long i = 0; i < count && code == ERROR_SUCCESS; i++) {
        EVENT_DATA_DESCRIPTOR data;

        EventDataDescCreate(&data, &number, sizeof number);
        code = EventWrite(provider, &descriptor, 1, &data);
        number++;
    }
    return code;
}

static ULONG arm(uint32_t pass_on, uint32_t before_ms, const char *name)
{
    const etwas_trigger_options options = {
        .log_file = name, .before_ms = before_ms, .pass_on = pass_on};

    return etwas_trigger_arm(session, &options);
}

static ULONG passed(void)
{
    etwas_trigger_counts counts;

    return etwas_trigger_query(session, &counts) == ERROR_SUCCESS
               ? (ULONG)(counts.passed_on + 1000 * counts.files)
               : UINT32_MAX;
}

/* `words`: the line's, of which a name may have blanks. */
static ULONG obey(char *line)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 64};
    char first[32] = "";
    char rest[2048] = "";
    uint32_t one = 0;
    uint32_t other = 0;

    if (sscanf(line, "start %u %2047[^\n]", &options.sharing, rest) == 2) {
        return start(rest, NULL, &options);
    }
    if (sscanf(line, "crash %2047[^\n]", rest) == 1) {
        options.crash_safe = ETWAS_CRASH_SAFE_POOL_FILE;
        return start(rest, NULL, &options);
    }
    if (sscanf(line, "file %31s %2047[^\n]", first, rest) == 2) {
        options.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
        options.sharing = ETWAS_SHARING_SNAPSHOTS;
        return start(first, rest, &options);
    }
    if (sscanf(line, "arm %u %u %2047[^\n]", &one, &other, rest) == 3) {
        return arm(one, other, rest);
    }
    if (sscanf(line, "log %u", &one) == 1) {
        return log_events(one);
    }
    if (sscanf(line, "large %u", &one) == 1) {
        return lose_events(one);
    }
    if (sscanf(line, "write %u", &one) == 1) {
        return write_events(one);
    }
    if (strcmp(line, "provide\n") == 0) {
        return EventRegister(&provider_guid, NULL, NULL, &provider);
    }
    if (strcmp(line, "trigger\n") == 0) {
        return etwas_trigger(session);
    }
    return strcmp(line, "passed\n") == 0 ? passed() : UINT32_MAX;
}

int main(void)
{
    char line[4096];

    while (fgets(line, sizeof line, stdin) != NULL) {
        printf("%u\n", (unsigned)obey(line));
        (void)fflush(stdout);
    }
    return 0;
}
