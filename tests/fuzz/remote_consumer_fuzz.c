/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A host that says anything to a consumer in another process: the input is messages, each behind
 * its length in two bytes. Unless the first byte is 0, a sound head and clocks come before them.
 */
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "etl_parts.h"
#include "platform/wait.h"
#include "read_trace.h"
#include "reader/builder.h"
#include "session/sharing.h"
#include "sharing/consume_protocol.h"
#include "sharing/remote.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_MESSAGES = 100, /* so many answers find room */
};

static int ends[2]; /* the host's, and the consumer's */

static void say(const void *body, size_t bytes)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONSUME, .bytes = (uint32_t)bytes, .descriptor = -1};

    (void)etwas_message_send(ends[0], &message, body, 0);
}

static void say_piece(enum etwas_consume_kind kind, const void *content, size_t bytes)
{
    static uint8_t body[ETWAS_MESSAGE_BYTES];
    const struct etwas_consume_piece piece = {.kind = (uint16_t)kind, .bytes = (uint32_t)bytes};

    MUST(sizeof piece + bytes <= sizeof body);
    memcpy(body, &piece, sizeof piece);
    memcpy(body + sizeof piece, content, bytes);
    say(body, sizeof piece + bytes);
}

static void say_start(void)
{
    static struct builder head;
    struct etwas_clock_history clocks = {.count = 1};

    if (head.bytes == NULL) {
        struct builder_options shape = builder_defaults();

        builder_begin(&head, &shape);
        builder_end(&head);
    }
    clocks.readings[0] = etwas_clock_read_together();
    say_piece(ETWAS_CONSUME_HEAD, head.bytes, head.size);
    say_piece(ETWAS_CONSUME_CLOCKS, &clocks,
              offsetof(struct etwas_clock_history, readings) + sizeof clocks.readings[0]);
}

static void say_all(const uint8_t *data, size_t size)
{
    size_t at = 1;

    if (size == 0 || data[0] != 0) {
        say_start();
    }
    for (uint32_t count = 0; count < MOST_MESSAGES && at + 2 <= size; count++) {
        size_t bytes = etl_number(data + at, 2);

        at += 2;
        bytes = bytes < size - at ? bytes : size - at;
        say(data + at, bytes);
        at += bytes;
    }
    (void)shutdown(ends[0], SHUT_WR);
}

/*
 * What the reader finds when no session of its process has the name; the second time there is none.
 */
static uint32_t consume(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    int connection = ends[1];

    (void)name;
    ends[1] = -1;
    return connection >= 0
               ? etwas_remote_consumer_connect(connection, etwas_monotonic_ns(), consumer)
               : (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND;
}

const struct etwas_sharing etwas_sharing = {.consume = consume};

static void nothing(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct read_trace result = {0};

    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    say_all(data, size);
    read_trace_live("a session", PROCESS_TRACE_MODE_EVENT_RECORD, nothing, &result);
    (void)close(ends[0]);
    return 0;
}
