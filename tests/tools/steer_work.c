/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process with a modern and a classic provider, for tests of the commands that steer sessions. It
 * does what the lines of its standard input say, and answers each:
 *
 *   log N            N events of either provider, to whichever sessions want them
 *   large N          N modern events of 8,000 bytes
 *   register N NAME  another modern provider, which calls itself NAME and whose GUID begins with N
 *                    (hexadecimal)
 *   describe NAME    the class of the classic provider, which NAME is the name of
 *   start NAME FILE  a session of this process: to the file, or where that is "-" in memory
 *   share NAME FILE  the same, and other processes log into it
 *   run COMMAND ...  a command of `etwas`, in this process
 *
 * An answer is what a command prints, and a line with "= " and its exit code, or the code of start.
 */
#include <etwas/etwas.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/guides.h"
#include "commands.h"

/* What has the name "Etwas.Tests.Steer". */
static const GUID modern_guid = {
    0xe878c781, 0x839e, 0x553a, {0x3c, 0x52, 0x43, 0xf2, 0x2e, 0xc4, 0xfa, 0x6e}};
static const GUID classic_guid = {
    0x3c1d7a40, 0x91e5, 0x4f6a, {0x8b, 0x27, 0x5d, 0x90, 0x6e, 0x13, 0xc4, 0x5f}};
static const GUID class_guid = {
    0x3c1d7a41, 0x91e5, 0x4f6a, {0x8b, 0x27, 0x5d, 0x90, 0x6e, 0x13, 0xc4, 0x5f}};

static REGHANDLE modern;
static TRACEHANDLE wanted; /* the session that enables the classic provider; 0: none */

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)context;
    (void)size;
    if (code == WMI_ENABLE_EVENTS || code == WMI_DISABLE_EVENTS) {
        __atomic_store_n(&wanted, code == WMI_ENABLE_EVENTS ? GetTraceLoggerHandle(buffer) : 0,
                         __ATOMIC_RELEASE);
    }
    return ERROR_SUCCESS;
}

static void log_events(unsigned long count)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4, .Keyword = 1};

    for (unsigned long i = 0; i < count; i++) {
        EVENT_TRACE_HEADER header = {
            .Size = sizeof header, .Class = {.Type = 10, .Level = 4}, .Guid = class_guid};
        EVENT_DATA_DESCRIPTOR data = {0};
        TRACEHANDLE session = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE);

        EventDataDescCreate(&data, &i, sizeof i);
        (void)EventWrite(modern, &descriptor, 1, &data);
        header.Flags = WNODE_FLAG_TRACED_GUID;
        if (session != 0) {
            (void)TraceEvent(session, &header);
        }
    }
}

static void log_large(unsigned long count)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 8, .Level = 4, .Keyword = 1};
    static const char bytes[8000];
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, bytes, sizeof bytes);
    for (unsigned long i = 0; i < count; i++) {
        (void)EventWrite(modern, &descriptor, 1, &data);
    }
}

/* What it calls itself stands in its traits: their length, the name with its 0. */
static int register_another(const char *first, const char *name)
{
    GUID guid = classic_guid;
    char traits[256];
    uint16_t bytes = (uint16_t)(sizeof bytes + strlen(name) + 1);
    REGHANDLE another;

    guid.Data1 = (uint32_t)strtoul(first, NULL, 16);
    memcpy(traits, &bytes, sizeof bytes);
    (void)snprintf(traits + sizeof bytes, sizeof traits - sizeof bytes, "%s", name);
    if (EventRegister(&guid, NULL, NULL, &another) != ERROR_SUCCESS) {
        return 1;
    }
    return (int)EventSetInformation(another, EventProviderSetTraits, traits, bytes);
}

static int describe(const char *name)
{
    const etwas_type_description type = {.name = "Mark", .type = 10, .level = 4};
    const etwas_class_description description = {.guid = &class_guid,
                                                 .provider_name = name,
                                                 .name = "Class",
                                                 .types = &type,
                                                 .type_count = 1};

    return (int)etwas_describe_class(&description, NULL);
}

static int start(const char *name, const char *file, uint32_t sharing)
{
    bool is_file = strcmp(file, "-") != 0;
    etwas_session_options options = {.sharing = sharing};
    TRACEHANDLE session;

    if (!is_file) {
        options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
        options.buffer_size_kb = 4;
    }
    return (int)etwas_start(name, is_file ? file : NULL, &options, &session);
}

/* ---- commands -------------------------------------------------------------------------------- */

const struct etwas_command *const etwas_commands[] = {
    &etwas_ps_command,     &etwas_stop_command,    &etwas_query_command,
    &etwas_update_command, &etwas_flush_command,   &etwas_snapshot_command,
    &etwas_enable_command, &etwas_disable_command, NULL,
};

const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

static int run(int count, char **words)
{
    const struct etwas_command *command = etwas_command_find(words[0]);

    optind = 0;
    return command != NULL ? command->run(count, words) : -1;
}

static int obey(char *line)
{
    char *words[32] = {NULL};
    int count = 0;

    for (char *word = strtok(line, " \n"); word != NULL && count < 31; word = strtok(NULL, " \n")) {
        words[count++] = word;
    }
    if (count == 2 && strcmp(words[0], "log") == 0) {
        log_events(strtoul(words[1], NULL, 10));
        return 0;
    }
    if (count == 2 && strcmp(words[0], "large") == 0) {
        log_large(strtoul(words[1], NULL, 10));
        return 0;
    }
    if (count == 3 && strcmp(words[0], "register") == 0) {
        return register_another(words[1], words[2]);
    }
    if (count == 2 && strcmp(words[0], "describe") == 0) {
        return describe(words[1]);
    }
    if (count == 3 && strcmp(words[0], "start") == 0) {
        return start(words[1], words[2], ETWAS_SHARING_NONE);
    }
    if (count == 3 && strcmp(words[0], "share") == 0) {
        return start(words[1], words[2], ETWAS_SHARING_USER);
    }
    return count > 1 && strcmp(words[0], "run") == 0 ? run(count - 1, words + 1) : -1;
}

int main(void)
{
    TRACE_GUID_REGISTRATION class = {&class_guid, NULL};
    TRACEHANDLE classic;
    char line[4096];

    if (EventRegister(&modern_guid, NULL, NULL, &modern) != ERROR_SUCCESS ||
        RegisterTraceGuids(on_control, NULL, &classic_guid, 1, &class, NULL, NULL, &classic) !=
            ERROR_SUCCESS) {
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        printf("= %d\n", obey(line));
        (void)fflush(stdout);
    }
    return 0;
}
