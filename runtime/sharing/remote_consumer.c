/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/remote.h"

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
#include "sharing/consume_protocol.h"

#define NS_A_MILLISECOND UINT64_C(1000000)

enum {
    /* the header contains a buffer header, the session's properties and its names */
    HEAD_LIMIT_BYTES = 1 << 20,
    BUFFER_LIMIT_BYTES = 64 << 20,
    STOP_CHECK_MS = 100,     /* how often a blocked send checks whether the trace was closed */
    LEAVING_TIMEOUT_MS = 500 /* for the last sends to a host that reads nothing */
};

/* A HEAD or BUFFER that is being received in pieces. */
struct whole {
    uint8_t *content; /* NULL: none is being received */
    uint32_t number;
    uint32_t bytes;
    uint32_t filled;
    uint16_t notices;
};

struct remote_consumer {
    struct etwas_consumer base;
    int connection;   /* -1: in a fork's child */
    uint32_t stopped; /* stored by any thread */
    bool is_leaving;  /* it has begun to return buffers */
    bool has_ended;   /* END was received */
    bool is_broken;
    uint8_t *head;
    uint32_t head_bytes;
    uint32_t buffer_bytes;                /* limit of a buffer's length */
    struct etwas_realtime_buffer *buffer; /* whose pieces are being received */
    struct whole whole;
    pthread_mutex_t lock; /* guards the next two members, which any thread reads */
    struct etwas_clock_history clocks;
    uint64_t clocks_set;
    uint8_t body[ETWAS_MESSAGE_BYTES] __attribute__((aligned(16)));
};

static struct remote_consumer *remote_consumer_of(const struct etwas_consumer *consumer)
{
    /* The objects themselves are never constant. */
    return (struct remote_consumer *)(uintptr_t)consumer;
}

static bool remote_consumer_is_stopped(const struct remote_consumer *consumer)
{
    return consumer->connection < 0 || ck_pr_load_32(&consumer->stopped) != 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/*
 * Allocates room for a whole buffer at its first piece. Returns false if its length is invalid, or
 * if there is no memory.
 */
static bool remote_consumer_begin_buffer(struct remote_consumer *consumer,
                                         const struct etwas_consume_piece *piece)
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

static bool remote_consumer_begin_head(struct remote_consumer *consumer,
                                       const struct etwas_consume_piece *piece)
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

/*
 * Adds a piece to the HEAD or BUFFER being received, or begins one. Returns false if the piece does
 * not fit, or if there is no memory.
 */
static bool remote_consumer_add_piece(struct remote_consumer *consumer,
                                      const struct etwas_consume_piece *piece,
                                      const uint8_t *content, uint32_t bytes)
{
    struct whole *whole = &consumer->whole;

    if (whole->content == NULL) {
        *whole = (struct whole){
            .number = piece->number, .bytes = piece->bytes, .notices = piece->notices};
        if (!(piece->kind == ETWAS_CONSUME_HEAD ? remote_consumer_begin_head(consumer, piece)
                                                : remote_consumer_begin_buffer(consumer, piece))) {
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

static bool remote_consumer_store_clocks(struct remote_consumer *consumer, const uint8_t *content,
                                         uint32_t bytes)
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

/* Receives the next message, without waiting: its piece, and the number of bytes that follow it. */
static uint32_t remote_consumer_receive_message(struct remote_consumer *consumer,
                                                struct etwas_consume_piece *piece, uint32_t *bytes)
{
    struct etwas_message message;
    uint32_t code = etwas_descriptor_is_own(consumer->connection)
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

/*
 * Handles a message. Returns false if it is invalid at this point; *is_entry is set if it completes
 * an entry.
 */
static bool remote_consumer_handle_message(struct remote_consumer *consumer,
                                           const struct etwas_consume_piece *piece, uint32_t bytes,
                                           struct etwas_consumer_entry *entry, bool *is_entry)
{
    const uint8_t *content = consumer->body + sizeof *piece;
    bool is_between = consumer->whole.content == NULL && consumer->head != NULL;

    *is_entry = false;
    switch (piece->kind) {
    case ETWAS_CONSUME_BUFFER:
        if (consumer->head == NULL || !remote_consumer_add_piece(consumer, piece, content, bytes)) {
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
        return is_between && remote_consumer_store_clocks(consumer, content, bytes);
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

/* Waits until a message can be read or the trace is closed. A cancellation point. */
static void remote_consumer_wait_for_more(const struct remote_consumer *consumer, int cancelling)
{
    struct pollfd what = {.fd = consumer->connection, .events = POLLIN};

    etwas_cancel_allow(cancelling);
    (void)poll(&what, 1, -1);
    (void)etwas_cancel_forbid();
}

static enum etwas_consumer_result remote_consumer_next_uncancelled(
    struct remote_consumer *consumer, struct etwas_consumer_entry *entry, int cancelling)
{
    bool is_entry = false;

    while (!remote_consumer_is_stopped(consumer) && !consumer->is_broken && !consumer->has_ended) {
        struct etwas_consume_piece piece;
        uint32_t bytes;
        uint32_t code = remote_consumer_receive_message(consumer, &piece, &bytes);

        if (code == ERROR_TIMEOUT) {
            remote_consumer_wait_for_more(consumer, cancelling);
            continue;
        }
        consumer->is_broken =
            code != ERROR_SUCCESS ||
            !remote_consumer_handle_message(consumer, &piece, bytes, entry, &is_entry);
        if (is_entry) {
            return entry->buffer != NULL ? ETWAS_CONSUMER_RESULT_BUFFER
                                         : ETWAS_CONSUMER_RESULT_BOUND;
        }
    }
    if (remote_consumer_is_stopped(consumer)) {
        return ETWAS_CONSUMER_RESULT_STOPPED;
    }
    return consumer->has_ended ? ETWAS_CONSUMER_RESULT_ENDED : ETWAS_CONSUMER_RESULT_BROKEN;
}

static enum etwas_consumer_result remote_consumer_next(struct etwas_consumer *base,
                                                       struct etwas_consumer_entry *entry)
{
    int cancelling = etwas_cancel_forbid();
    enum etwas_consumer_result result;

    *entry = (struct etwas_consumer_entry){0};
    result = remote_consumer_next_uncancelled(remote_consumer_of(base), entry, cancelling);
    etwas_cancel_allow(cancelling);
    return result;
}

/* ---- dispositions of buffers ----------------------------------------------------------------- */

/*
 * Waits for a host that reads nothing, as it does for a host that sends nothing. A consumer that
 * leaves does not wait: its connection ends, and the host takes back the buffers without a
 * disposition.
 */
static void remote_consumer_send_disposition(struct remote_consumer *consumer,
                                             enum etwas_consume_disposition disposition,
                                             const struct etwas_realtime_buffer *buffer,
                                             uint32_t delivered_records, uint32_t delivered_bytes)
{
    const struct etwas_consume_done done = {.kind = ETWAS_CONSUME_DONE,
                                            .disposition = (uint16_t)disposition,
                                            .number = buffer->number,
                                            .delivered_records = delivered_records,
                                            .delivered_bytes = delivered_bytes};
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONSUME, .bytes = sizeof done, .descriptor = -1};
    ETWAS_UNCANCELLED_SCOPE;
    uint32_t code = ERROR_TIMEOUT;
    bool is_ending;

    do {
        is_ending = consumer->is_leaving || remote_consumer_is_stopped(consumer);
        if (consumer->is_broken || consumer->connection < 0) {
            break;
        }
        code = etwas_message_send(consumer->connection, &message, &done,
                                  etwas_monotonic_ns() +
                                      (is_ending ? LEAVING_TIMEOUT_MS : STOP_CHECK_MS) *
                                          NS_A_MILLISECOND);
    } while (code == ERROR_TIMEOUT && !is_ending);
    /* Messages sent before the end can still be read. */
    consumer->is_broken = consumer->is_broken || (code != ERROR_SUCCESS && is_ending);
}

static void remote_consumer_finish_buffer(struct remote_consumer *consumer,
                                          struct etwas_consumer_entry *entry,
                                          enum etwas_consume_disposition disposition,
                                          uint32_t delivered_records, uint32_t delivered_bytes)
{
    if (entry->buffer != NULL) {
        remote_consumer_send_disposition(consumer, disposition, entry->buffer, delivered_records,
                                         delivered_bytes);
        free(entry->buffer);
        entry->buffer = NULL;
    }
}

static void remote_consumer_release(struct etwas_consumer *base, struct etwas_consumer_entry *entry)
{
    remote_consumer_finish_buffer(remote_consumer_of(base), entry, ETWAS_CONSUME_DELIVERED, 0, 0);
}

static void remote_consumer_refuse(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                                   uint32_t delivered_records)
{
    remote_consumer_finish_buffer(remote_consumer_of(base), entry, ETWAS_CONSUME_REFUSED,
                                  delivered_records, 0);
}

static void remote_consumer_return(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                                   uint32_t delivered_records, uint32_t delivered_bytes)
{
    remote_consumer_of(base)->is_leaving = true;
    remote_consumer_finish_buffer(remote_consumer_of(base), entry, ETWAS_CONSUME_RETURNED,
                                  delivered_records, delivered_bytes);
}

/* ---- other verbs ----------------------------------------------------------------------------- */

static const uint8_t *remote_consumer_head(const struct etwas_consumer *base, uint32_t *bytes)
{
    *bytes = remote_consumer_of(base)->head_bytes;
    return remote_consumer_of(base)->head;
}

static struct etwas_clock_history *remote_consumer_clocks(const struct etwas_consumer *base,
                                                          uint64_t *version)
{
    struct remote_consumer *consumer = remote_consumer_of(base);
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

/*
 * Shuts the connection for reading: no more messages come, and a thread that waits for one wakes
 * up. Received buffers may still be delivered, and their disposition sent.
 */
static void remote_consumer_stop(struct etwas_consumer *base)
{
    ck_pr_store_32(&remote_consumer_of(base)->stopped, 1);
    if (etwas_descriptor_is_own(remote_consumer_of(base)->connection)) {
        (void)shutdown(remote_consumer_of(base)->connection, SHUT_RD);
    }
}

static void remote_consumer_disconnect(struct etwas_consumer *base)
{
    struct remote_consumer *consumer = remote_consumer_of(base);
    ETWAS_UNCANCELLED_SCOPE;

    if (consumer->connection >= 0) {
        etwas_descriptor_close(consumer->connection);
    }
    (void)pthread_mutex_destroy(&consumer->lock);
    free(consumer->buffer);
    free(consumer->head);
    free(consumer);
}

/* The buffer that another thread was receiving is leaked, because it may be in any state. */
static void remote_consumer_after_fork_in_child(struct etwas_consumer *base)
{
    struct remote_consumer *consumer = remote_consumer_of(base);

    etwas_descriptor_close(consumer->connection);
    consumer->connection = -1;
    consumer->buffer = NULL;
    (void)pthread_mutex_init(&consumer->lock, NULL);
}

static const struct etwas_consumer_verbs verbs = {
    .head = remote_consumer_head,
    .clocks = remote_consumer_clocks,
    .next = remote_consumer_next,
    .give_back = remote_consumer_return,
    .release = remote_consumer_release,
    .refuse = remote_consumer_refuse,
    .stop = remote_consumer_stop,
    .disconnect = remote_consumer_disconnect,
    .after_fork_in_child = remote_consumer_after_fork_in_child,
};

/* ---- connecting ------------------------------------------------------------------------------ */

static bool remote_consumer_wait_until(const struct remote_consumer *consumer, uint64_t deadline_ns)
{
    struct pollfd what = {.fd = consumer->connection, .events = POLLIN};
    uint64_t now = etwas_monotonic_ns();

    return now < deadline_ns &&
           poll(&what, 1, (int)((deadline_ns - now) / NS_A_MILLISECOND) + 1) >= 0;
}

/* Receives the header and the present clock readings. */
static uint32_t remote_consumer_receive_start(struct remote_consumer *consumer,
                                              uint64_t deadline_ns)
{
    while (consumer->clocks_set == 0) {
        struct etwas_consume_piece piece;
        uint32_t bytes;
        uint32_t code = remote_consumer_receive_message(consumer, &piece, &bytes);
        const uint8_t *content = consumer->body + sizeof piece;

        if (code == ERROR_TIMEOUT && remote_consumer_wait_until(consumer, deadline_ns)) {
            continue;
        }
        if (code != ERROR_SUCCESS) {
            return code == ERROR_BROKEN_PIPE ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
        }
        if (piece.kind == ETWAS_CONSUME_HEAD
                ? (consumer->head != NULL && consumer->whole.content == NULL) ||
                      !remote_consumer_add_piece(consumer, &piece, content, bytes)
                : piece.kind != ETWAS_CONSUME_CLOCKS || consumer->head == NULL ||
                      consumer->whole.content != NULL ||
                      !remote_consumer_store_clocks(consumer, content, bytes)) {
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
    consumer->connection = etwas_descriptor_protect(connection);
    (void)pthread_mutex_init(&consumer->lock, NULL);
    code = etwas_message_send(consumer->connection, &message, NULL, deadline_ns);
    code = code == ERROR_SUCCESS ? remote_consumer_receive_start(consumer, deadline_ns) : code;
    if (code != ERROR_SUCCESS) {
        remote_consumer_disconnect(&consumer->base);
        return code == ERROR_BROKEN_PIPE ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
    }
    memcpy(&header, consumer->head, sizeof header);
    consumer->buffer_bytes =
        header.buffer_bytes < BUFFER_LIMIT_BYTES ? header.buffer_bytes : BUFFER_LIMIT_BYTES;
    *connected = &consumer->base;
    return ERROR_SUCCESS;
}
