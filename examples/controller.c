/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Starts a session and enables a provider in another program, as ETW's page "Configuring and
 * Starting an Event Tracing Session" does. provider.c is the other program:
 *
 *     cc controller.c -o controller $(pkg-config --cflags --libs etwas)
 *     cc provider.c -o provider $(pkg-config --cflags --libs etwas)
 *     ./controller two.etl        and in another terminal: ./provider
 */

#include <etwas/etwas.h>
#include <etwas/winmeta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_NAME "My Event Trace Session"

static const GUID session_guid = {
    0xae44cb98, 0xbd11, 0x4069, {0x80, 0x93, 0x77, 0x0e, 0xc9, 0x25, 0x8a, 0x12}};

static EVENT_TRACE_PROPERTIES *session_properties(const char *file)
{
    size_t size = sizeof(EVENT_TRACE_PROPERTIES) + strlen(file) + 1 + sizeof SESSION_NAME;
    EVENT_TRACE_PROPERTIES *properties = calloc(1, size);

    if (properties == NULL) {
        return NULL;
    }
    properties->Wnode.BufferSize = (ULONG)size;
    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->Wnode.ClientContext = 1; /* the performance counter */
    properties->Wnode.Guid = session_guid;
    properties->LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    properties->MaximumFileSize = 64; /* MB */
    properties->LoggerNameOffset = sizeof *properties;
    properties->LogFileNameOffset = (ULONG)(sizeof *properties + sizeof SESSION_NAME);
    strcpy((char *)properties + properties->LogFileNameOffset, file);
    return properties;
}

int main(int argc, char **argv)
{
    EVENT_TRACE_PROPERTIES *properties = session_properties(argc > 1 ? argv[1] : "two.etl");
    TRACEHANDLE session = 0;
    GUID provider;
    ULONG status;

    if (properties == NULL || etwas_name_guid("Etwas.Examples.Provider", &provider) != 0) {
        return 1;
    }
    status = StartTrace(&session, SESSION_NAME, properties);
    if (status != ERROR_SUCCESS) {
        fprintf(stderr, "StartTrace: %s\n", etwas_error_text(status));
        return 1;
    }
    status = EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                            WINEVENT_LEVEL_INFO, 0, 0, 0, NULL);
    if (status != ERROR_SUCCESS) {
        fprintf(stderr, "EnableTraceEx2: %s\n", etwas_error_text(status));
    }
    puts("Start the provider, then press Enter to end the session.");
    fflush(stdout);
    getchar();
    status =
        EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0, NULL);
    if (status == ERROR_SUCCESS) {
        status = ControlTrace(session, SESSION_NAME, properties, EVENT_TRACE_CONTROL_STOP);
    }
    printf("%s: %u buffers, %u events lost\n", SESSION_NAME, properties->BuffersWritten,
           properties->EventsLost);
    free(properties);
    return status == ERROR_SUCCESS ? 0 : 1;
}
