/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes a trace with events of heaptrace's class as standard input says: a line for each,
 *
 *   THREAD TYPE VERSION HEX...     THREAD: 0 the main thread, 1 another one; HEX may be missing
 *
 * usage: forge FILE
 */

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 16384
};

struct event {
    EVENT_TRACE_HEADER header;
    unsigned char data[MOST_BYTES];
};

static etwas_trace_handle session;

static void *write_event(void *argument)
{
    struct event *event = argument;

    if (TraceEvent(session, &event->header) != ERROR_SUCCESS) {
        abort();
    }
    return NULL;
}

static size_t read_hex(const char *hex, unsigned char *data)
{
    size_t bytes = 0;
    unsigned int value;

    while (bytes < MOST_BYTES && sscanf(hex + 2 * bytes, "%2x", &value) == 1) {
        data[bytes++] = (unsigned char)value;
    }
    return bytes;
}

static void write_line(const char *line)
{
    static const etwas_guid call_guid = {
        0xa3c81b52, 0x0e9d, 0x4b7e, {0x8d, 0x46, 0x2f, 0x5c, 0x90, 0xd7, 0xe6, 0xb4}};
    static struct event event;
    static char hex[2 * MOST_BYTES + 1];
    unsigned int type;
    unsigned int version;
    unsigned int other;
    pthread_t thread;

    hex[0] = '\0';
    if (sscanf(line, "%u %u %u %32768s", &other, &type, &version, hex) < 3) {
        abort();
    }
    event.header = (EVENT_TRACE_HEADER){
        .Class.Type = (unsigned char)type,
        .Class.Version = (unsigned short)version,
        .Guid = call_guid,
        .Flags = WNODE_FLAG_TRACED_GUID,
    };
    event.header.Size = (unsigned short)(sizeof event.header + read_hex(hex, event.data));
    if (other == 0) {
        (void)write_event(&event);
    } else if (pthread_create(&thread, NULL, write_event, &event) != 0 ||
               pthread_join(thread, NULL) != 0) {
        abort();
    }
}

int main(int count, char *words[])
{
    static char line[2 * MOST_BYTES + 64];
    const etwas_session_options options = {.clock = ETWAS_CLOCK_QPC};

    if (count != 2 || etwas_start("forge", words[1], &options, &session) != ERROR_SUCCESS) {
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        write_line(line);
    }
    return etwas_stop(session, NULL) == ERROR_SUCCESS ? 0 : 1;
}
