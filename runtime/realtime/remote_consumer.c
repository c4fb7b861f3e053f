/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/remote_consumer.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "etl/layout.h"
#include "platform/cancel.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "realtime/consume_protocol.h"

#define NS_A_MILLISECOND UINT64_C(1000000)

enum {
    HEAD_LIMIT_BYTES = 1 << 20, /* it has a buffer header, the session's properties and its names */
    BUFFER_LIMIT_BYTES = 64 << 20,
    LOOK_AGAIN_MS = 100,      /* whether the trace was closed, while the host reads nothing */
    LEAVING_PATIENCE_MS = 500 /* of a consumer that goes, with a host that reads nothing */
};

/* HEAD or BUFFER, of which pieces have come. */
struct whole {
    uint8_t *content; /* NULL: there is none */
    uint32_t number;
    uint32_t bytes;
    uint32_t filled;
    uint16_t notices;
};

struct remote_consumer {
    struct etwas_consumer base;
    int connection;   /* -1: the fork's child has none */
    uint32_t stopped; /* stored by any thread */
    bool is_leaving;  /* it has begun to hand back */
    bool has_ended;   /* END has come */
    bool is_broken;
    uint8_t *head;
    uint32_t head_bytes;
    uint32_t buffer_bytes;                /* no buffer is longer */
    struct etwas_realtime_buffer *buffer; /* whose pieces come */
    struct whole whole;
    pthread_mutex_t lock; /* the two that follow: any thread reads them */
    struct etwas_clock_history clocks;
    uint64_t clocks_set;
    uint8_t body[ETWAS_MESSAGE_BYTES] __attribute__((aligned(16)));
};

static struct remote_consumer *remote(const struct etwas_consumer *consumer)
{
    /* None is constant itself. */
    return (struct remote_consumer *)(uintptr_t)consumer;
}

static bool is_stopped(const struct remote_consumer *consumer)
{
    return consumer->connection < 0 || ck_pr_load_32(&consumer->stopped) != 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The first piece of a buffer: there is room for all of it. */
static bool begin_buffer(struct remote_consumer *consumer, const struct etwas_consume_piece *piece)
{
    if (piece->bytes < ETWAS_ETL_BUFFER_HEADER_BYTES || piece->bytes > consumer->buffer_bytes) {
        return false;
    }
    consumer->buffer = malloc(sizeof *consumer->buffer + piece->bytes);
    if (consumer->buffer == NULL) {
        return false;
    }
    *consumer->buffer =
        (struct etwas_realtime_buffer){.bytes = piece->bytes, .number = piece->number};
    consumer->whole.content = consumer->buffer->content;
    return true;
}

static bool begin_head(struct remote_consumer *consumer, const struct etwas_consume_piece *piece)
{
    if (consumer->head != NULL || piece->bytes < ETWAS_ETL_BUFFER_HEADER_BYTES ||
        piece->bytes > HEAD_LIMIT_BYTES) {
        return false;
    }
    consumer->head = malloc(piece->bytes);
    consumer->head_bytes = piece->bytes;
    consumer->whole.content = consumer->head;
    return consumer->head != NULL;
}

/* Adds a piece of what has begun, or begins it. False: it is none, or there is no memory. */
static bool add_piece(struct remote_consumer *consumer, const struct etwas_consume_piece *piece,
                      const uint8_t *content, uint32_t bytes)
{
    struct whole *whole = &consumer->whole;

    if (whole->content == NULL) {
        *whole = (struct whole){
            .number = piece->number, .bytes = piece->bytes, .notices = piece->notices};
        if (!(piece->kind == ETWAS_CONSUME_HEAD ? begin_head(consumer, piece)
                                                : begin_buffer(consumer, piece))) {
            return false;
        }
    }
    if (piece->number != whole->number || piece->bytes != whole->bytes ||
        piece->at != whole->filled || bytes == 0 || bytes > whole->bytes - whole->filled) {
        return false;
    }
    memcpy(whole->content + whole->filled, content, bytes);
    whole->filled += bytes;
    return true;
}

static bool take_clocks(struct remote_consumer *consumer, const uint8_t *content, uint32_t bytes)
{
    const size_t before = offsetof(struct etwas_clock_history, readings);
    struct etwas_clock_history history = {0};

    if (bytes < before || bytes > sizeof history) {
        return false;
    }
    memcpy(&history, content, bytes);
    if (history.count == 0 || history.count > ETWAS_CLOCK_HISTORY_READINGS ||
        bytes != before + history.count * sizeof history.readings[0]) {
        return false;
    }
    (void)pthread_mutex_lock(&consumer->lock);
    consumer->clocks = history;
    consumer->clocks_set++;
    (void)pthread_mutex_unlock(&consumer->lock);
    return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The next message, without waiting: its piece, and how many bytes follow that. */
static uint32_t receive(struct remote_consumer *consumer, struct etwas_consume_piece *piece,
                        uint32_t *bytes)
{
    struct etwas_message message;
    uint32_t code = etwas_own_is(consumer->connection)
                        ? etwas_message_receive(consumer->connection, &message, consumer->body,
                                                sizeof consumer->body, 0)
                        : (uint32_t)ERROR_INVALID_HANDLE;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (message.descriptor >= 0) {
        (void)close(message.descriptor);
    }
    if (message.op != ETWAS_MESSAGE_CONSUME || message.code != ERROR_SUCCESS) {
        return message.code != ERROR_SUCCESS ? message.code : (uint32_t)ERROR_INVALID_DATA;
    }
    if (message.bytes < sizeof *piece) {
        return ERROR_INVALID_DATA;
    }
    memcpy(piece, consumer->body, sizeof *piece);
    *bytes = message.bytes - (uint32_t)sizeof *piece;
    return ERROR_SUCCESS;
}

/* Whether the message makes sense where it comes; *is_entry: the entry is whole. */
static bool take(struct remote_consumer *consumer, const struct etwas_consume_piece *piece,
                 uint32_t bytes, struct etwas_consumer_entry *entry, bool *is_entry)
{
    const uint8_t *content = consumer->body + sizeof *piece;
    bool is_between = consumer->whole.content == NULL && consumer->head != NULL;

    *is_entry = false;
    switch (piece->kind) {
    case ETWAS_CONSUME_BUFFER:
        if (consumer->head == NULL || !add_piece(consumer, piece, content, bytes)) {
            return false;
        }
        if (consumer->whole.filled == consumer->whole.bytes) {
            *entry = (struct etwas_consumer_entry){.buffer = consumer->buffer,
                                                   .notices = consumer->whole.notices};
            consumer->buffer = NULL;
            consumer->whole.content = NULL;
            *is_entry = true;
        }
        return true;
    case ETWAS_CONSUME_CLOCKS:
        return is_between && take_clocks(consumer, content, bytes);
    case ETWAS_CONSUME_BOUND:
        *entry = (struct etwas_consumer_entry){.bound = piece->bound, .notices = piece->notices};
        *is_entry = is_between;
        return is_between;
    case ETWAS_CONSUME_END:
        *entry = (struct etwas_consumer_entry){.notices = piece->notices};
        consumer->has_ended = is_between;
        return is_between;
    default:
        return false;
    }
}

/* Nothing that could be read: waits until there is something, or the trace is closed. */
static void wait_for_more(const struct remote_consumer *consumer, int cancelling)
{
    struct pollfd what = {.fd = consumer->connection, .events = POLLIN};

    etwas_cancel_allow(cancelling);
    (void)poll(&what, 1, -1);
    (void)etwas_cancel_forbid();
}

static enum etwas_consumer_result next_of(struct remote_consumer *consumer,
                                          struct etwas_consumer_entry *entry, int cancelling)
{
    bool is_entry = false;

    while (!is_stopped(consumer) && !consumer->is_broken && !consumer->has_ended) {
        struct etwas_consume_piece piece;
        uint32_t bytes;
        uint32_t code = receive(consumer, &piece, &bytes);

        if (code == ERROR_TIMEOUT) {
            wait_for_more(consumer, cancelling);
            continue;
        }
        consumer->is_broken =
            code != ERROR_SUCCESS || !take(consumer, &piece, bytes, entry, &is_entry);
        if (is_entry) {
            return entry->buffer != NULL ? ETWAS_CONSUMER_RESULT_BUFFER
                                         : ETWAS_CONSUMER_RESULT_BOUND;
        }
    }
    if (is_stopped(consumer)) {
        return ETWAS_CONSUMER_RESULT_STOPPED;
    }
    return consumer->has_ended ? ETWAS_CONSUMER_RESULT_ENDED : ETWAS_CONSUMER_RESULT_BROKEN;
}

static enum etwas_consumer_result await_next(struct etwas_consumer *base,
                                             struct etwas_consumer_entry *entry)
{
    int cancelling = etwas_cancel_forbid();
    enum etwas_consumer_result got;

    *entry = (struct etwas_consumer_entry){0};
    got = next_of(remote(base), entry, cancelling);
    etwas_cancel_allow(cancelling);
    return got;
}

/* ---- what became of buffers ------------------------------------------------------------------ */

/*
 * A host that reads nothing is waited for, as it is for what it sends; but not by a consumer that goes: then its
 * connection ends, and the host takes back what it has not heard of.
 */
static void tell(struct remote_consumer *consumer, enum etwas_consume_disposition outcome,
                 const struct etwas_realtime_buffer *buffer, uint32_t delivered_records,
                 uint32_t delivered_bytes)
{
    const struct etwas_consume_done done = {.kind = ETWAS_CONSUME_DONE,
                                            .outcome = (uint16_t)outcome,
                                            .number = buffer->number,
                                            .delivered_records = delivered_records,
                                            .delivered_bytes = delivered_bytes};
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONSUME, .bytes = sizeof done, .descriptor = -1};
    int cancelling = etwas_cancel_forbid();
    uint32_t code = ERROR_TIMEOUT;
    bool is_going;

    do {
        is_going = consumer->is_leaving || is_stopped(consumer);
        if (consumer->is_broken || consumer->connection < 0) {
            break;
        }
        code = etwas_message_send(consumer->connection, &message, &done,
                                  etwas_monotonic_ns() +
                                      (is_going ? LEAVING_PATIENCE_MS : LOOK_AGAIN_MS) *
                                          NS_A_MILLISECOND);
    } while (code == ERROR_TIMEOUT && !is_going);
    /* What was sent before the end can still be read. */
    consumer->is_broken = consumer->is_broken || (code != ERROR_SUCCESS && is_going);
    etwas_cancel_allow(cancelling);
}

static void let_go(struct remote_consumer *consumer, struct etwas_consumer_entry *entry,
                   enum etwas_consume_disposition outcome, uint32_t delivered_records,
                   uint32_t delivered_bytes)
{
    if (entry->buffer != NULL) {
        tell(consumer, outcome, entry->buffer, delivered_records, delivered_bytes);
        free(entry->buffer);
        entry->buffer = NULL;
    }
}

static void release(struct etwas_consumer *base, struct etwas_consumer_entry *entry)
{
    let_go(remote(base), entry, ETWAS_CONSUME_DELIVERED, 0, 0);
}

static void refuse(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                   uint32_t delivered_records)
{
    let_go(remote(base), entry, ETWAS_CONSUME_REFUSED, delivered_records, 0);
}

static void give_back(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                      uint32_t delivered_records, uint32_t delivered_bytes)
{
    remote(base)->is_leaving = true;
    let_go(remote(base), entry, ETWAS_CONSUME_RETURNED, delivered_records, delivered_bytes);
}

/* ---- the rest of the verbs ------------------------------------------------------------------- */

static const uint8_t *head(const struct etwas_consumer *base, uint32_t *bytes)
{
    *bytes = remote(base)->head_bytes;
    return remote(base)->head;
}

static struct etwas_clock_history *clocks(const struct etwas_consumer *base, uint64_t *version)
{
    struct remote_consumer *consumer = remote(base);
    struct etwas_clock_history *history = NULL;

    (void)pthread_mutex_lock(&consumer->lock);
    if (consumer->clocks_set != *version) {
        history = malloc(sizeof *history);
    }
    if (history != NULL) {
        *history = consumer->clocks;
        *version = consumer->clocks_set;
    }
    (void)pthread_mutex_unlock(&consumer->lock);
    return history;
}

/* What it has taken it may still give, and say so; nothing more comes, and who waits for that wakes up. */
static void stop(struct etwas_consumer *base)
{
    ck_pr_store_32(&remote(base)->stopped, 1);
    if (etwas_own_is(remote(base)->connection)) {
        (void)shutdown(remote(base)->connection, SHUT_RD);
    }
}

static void disconnect(struct etwas_consumer *base)
{
    struct remote_consumer *consumer = remote(base);
    int cancelling = etwas_cancel_forbid();

    if (consumer->connection >= 0) {
        etwas_own_close(consumer->connection);
    }
    etwas_cancel_allow(cancelling);
    (void)pthread_mutex_destroy(&consumer->lock);
    free(consumer->buffer);
    free(consumer->head);
    free(consumer);
}

/* What another thread was receiving stays behind: it may have been anywhere. */
static void after_fork_in_child(struct etwas_consumer *base)
{
    struct remote_consumer *consumer = remote(base);

    etwas_own_close(consumer->connection);
    consumer->connection = -1;
    consumer->buffer = NULL;
    (void)pthread_mutex_init(&consumer->lock, NULL);
}

static const struct etwas_consumer_verbs verbs = {
    .head = head,
    .clocks = clocks,
    .next = await_next,
    .give_back = give_back,
    .release = release,
    .refuse = refuse,
    .stop = stop,
    .disconnect = disconnect,
    .after_fork_in_child = after_fork_in_child,
};

/* ---- connecting ------------------------------------------------------------------------------ */

static bool wait_until(const struct remote_consumer *consumer, uint64_t deadline_ns)
{
    struct pollfd what = {.fd = consumer->connection, .events = POLLIN};
    uint64_t now = etwas_monotonic_ns();

    return now < deadline_ns &&
           poll(&what, 1, (int)((deadline_ns - now) / NS_A_MILLISECOND) + 1) >= 0;
}

/* The head, and the clocks as they are now. */
static uint32_t receive_start(struct remote_consumer *consumer, uint64_t deadline_ns)
{
    while (consumer->clocks_set == 0) {
        struct etwas_consume_piece piece;
        uint32_t bytes;
        uint32_t code = receive(consumer, &piece, &bytes);
        const uint8_t *content = consumer->body + sizeof piece;

        if (code == ERROR_TIMEOUT && wait_until(consumer, deadline_ns)) {
            continue;
        }
        if (code != ERROR_SUCCESS) {
            return code == ERROR_BROKEN_PIPE ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
        }
        if (piece.kind == ETWAS_CONSUME_HEAD
                ? (consumer->head != NULL && consumer->whole.content == NULL) ||
                      !add_piece(consumer, &piece, content, bytes)
                : piece.kind != ETWAS_CONSUME_CLOCKS || consumer->head == NULL ||
                      consumer->whole.content != NULL || !take_clocks(consumer, content, bytes)) {
            return ERROR_INVALID_DATA;
        }
        if (consumer->whole.content != NULL && consumer->whole.filled == consumer->whole.bytes) {
            consumer->whole.content = NULL;
        }
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_remote_consumer_connect(int connection, uint64_t deadline_ns,
                                       struct etwas_consumer **connected)
{
    const struct etwas_message message = {.op = ETWAS_MESSAGE_CONSUME, .descriptor = -1};
    struct remote_consumer *consumer = calloc(1, sizeof *consumer);
    struct etwas_etl_buffer_header header;
    uint32_t code;

    if (consumer == NULL) {
        (void)close(connection);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    consumer->base.verbs = &verbs;
    consumer->connection = etwas_own_keep(connection);
    (void)pthread_mutex_init(&consumer->lock, NULL);
    code = etwas_message_send(consumer->connection, &message, NULL, deadline_ns);
    code = code == ERROR_SUCCESS ? receive_start(consumer, deadline_ns) : code;
    if (code != ERROR_SUCCESS) {
        disconnect(&consumer->base);
        return code == ERROR_BROKEN_PIPE ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
    }
    memcpy(&header, consumer->head, sizeof header);
    consumer->buffer_bytes =
        header.buffer_bytes < BUFFER_LIMIT_BYTES ? header.buffer_bytes : BUFFER_LIMIT_BYTES;
    *connected = &consumer->base;
    return ERROR_SUCCESS;
}
