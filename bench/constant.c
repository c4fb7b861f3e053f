/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_constant: the cost of a call without its clock. It is linked with a library built
 * from the same sources, except that a session's TSC is a constant. Reading the counter takes most
 * of a call, which hides the cost of the protocols.
 */
#include <etwas/etwas.h>
#include <stdio.h>

#include "call.h"
#include "rows.h"
#include "session.h"
#include "shim/bench.h"

enum {
    CHECKED_EVENTS = 100,
    LARGEST_SNAPSHOT_BYTES = 1 << 20,
};

/* Returns how often the 8 bytes of `stamp` occur in the file, at multiples of 8. */
static uint32_t stamps_in(const char *path, int64_t stamp)
{
    static int64_t words[LARGEST_SNAPSHOT_BYTES / sizeof(int64_t)];
    FILE *file = fopen(path, "rbe");
    size_t count =
        file != NULL ? fread(words, sizeof words[0], sizeof words / sizeof words[0], file) : 0;
    uint32_t found = 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    for (size_t index = 0; index < count; index++) {
        found += words[index] == stamp;
    }
    return found;
}

/* Returns whether every record has the constant as its stamp: otherwise the rows mean nothing. */
static bool stamps_are_constant(uint32_t protocol)
{
    const struct bench_session_request request = {.buffering = true,
                                                  .protocol = protocol,
                                                  .clock = ETWAS_CLOCK_TSC,
                                                  .buffers = BENCH_CALL_BUFFERS};
    EVENT_INSTANCE_HEADER event;
    EVENT_INSTANCE_INFO instance;
    struct bench_session session;
    char path[256];
    uint32_t found = 0;

    if (!bench_make_instance(&instance)) {
        return false;
    }
    if (bench_session_start(&session, &request) != NULL) {
        return protocol == ETWAS_PROTOCOL_RSEQ; /* the row itself reports why it is skipped */
    }
    bench_prepare_instance_header(&event, 0);
    for (uint32_t count = 0; count < CHECKED_EVENTS; count++) {
        (void)TraceEventInstance(session.handle, &event, &instance, NULL);
    }
    bench_choose_log_file(path, sizeof path);
    if (etwas_snapshot(session.handle, path) == ERROR_SUCCESS) {
        found = stamps_in(path, etwas_clock_read(ETWAS_CLOCK_TSC));
        (void)remove(path);
    }
    return bench_session_stop(&session, CHECKED_EVENTS, NULL) == NULL && found >= CHECKED_EVENTS;
}

static void register_call(const char *name, enum bench_call_entry entry, uint32_t protocol,
                          uint32_t payload_bytes)
{
    struct bench_call call = {
        .entry = entry,
        .mode = BENCH_CALL_BUFFERING,
        .protocol = protocol,
        .clock = ETWAS_CLOCK_TSC,
        .payload_bytes = payload_bytes,
        .buffers = BENCH_CALL_BUFFERS,
        .batch = 8, /* of etwas_write_many */
    };

    (void)snprintf(call.name, sizeof call.name, "%s/%s/%u", name, bench_protocol_name(protocol),
                   payload_bytes);
    bench_call_register(&call);
}

static void register_calls(uint32_t protocol)
{
    register_call("constant", BENCH_CALL_INSTANCE, protocol, 16);
    register_call("constant_parent", BENCH_CALL_PARENT, protocol, 16);
    register_call("constant_fields", BENCH_CALL_FIELDS, protocol, 16);
    register_call("constant_event", BENCH_CALL_EVENT, protocol, 16);
    register_call("constant_write", BENCH_CALL_WRITE, protocol, 16);
    register_call("constant_message", BENCH_CALL_MESSAGE, protocol, 16);
    register_call("constant_tracelogging", BENCH_CALL_TRACELOGGING, protocol, 12);
    register_call("constant_many/8", BENCH_CALL_MANY, protocol, 16);
    register_call("constant_many_write/8", BENCH_CALL_MANY_WRITE, protocol, 16);
}

int main(int argc, char **argv)
{
    static const uint32_t protocols[] = {ETWAS_PROTOCOL_RSEQ, ETWAS_PROTOCOL_SHARED};

    bench_pin_last();
    bench_register_floor_without_clock();
    for (size_t index = 0; index < sizeof protocols / sizeof protocols[0]; index++) {
        if (!stamps_are_constant(protocols[index])) {
            (void)fprintf(stderr, "constant/%s: the library reads its clock\n",
                          bench_protocol_name(protocols[index]));
            return 1;
        }
        register_calls(protocols[index]);
    }
    return bench_run(argc, argv);
}
