/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_consumers.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buffer/record_walk.h"
#include "etl/layout.h"
#include "platform/own_descriptor.h"
#include "realtime/realtime.h"
#include "sharing/consume_protocol.h"
#include "sharing/service.h"

/* More than any consumer holds (reader/live.h). One that acknowledges nothing is sent no more. */
#define UNACKNOWLEDGED_LIMIT_BYTES (UINT64_C(64) << 20)

/* A buffer that the other process has or will read. */
struct sent {
    struct sent *older;
    struct etwas_consumer_entry entry;
    uint32_t number;
    uint32_t delivered_records;
    uint32_t delivered_bytes;
};

/*
 * A host-side consumer. Its thread frees it, after the control thread has stopped watching the
 * connection.
 */
struct host_consumer {
    int connection;
    uint64_t session;
    struct etwas_consumer *consumer;
    uint32_t next_number; /* used by its thread alone, as the next two */
    uint64_t clocks_version;
    bool sends; /* no send has failed */

    pthread_mutex_t lock; /* taken before the lock of the session's delivery */
    pthread_cond_t changed;
    struct sent *newest; /* guarded by the lock, as are the next two */
    uint64_t sent_bytes;
    bool is_gone; /* the other process has gone, and its buffers have been taken back */
};

/*
 * Number of host-side consumers that still have something to send. The end of the process waits for
 * them.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static uint32_t sending;

/*
 * Threads by the session's index in the table. Threads of a session that is over count, too.
 * Guarded by `lock`.
 */
static uint32_t threads[ETWAS_SESSION_ENTRIES];

static bool consumer_reserve(uint64_t session)
{
    uint32_t *of_session = &threads[etwas_handle_index(session) - 1];
    bool is_free;

    (void)pthread_mutex_lock(&lock);
    is_free = *of_session < ETWAS_HOST_CONSUMERS;
    *of_session += is_free;
    (void)pthread_mutex_unlock(&lock);
    return is_free;
}

static void consumer_unreserve(uint64_t session)
{
    (void)pthread_mutex_lock(&lock);
    threads[etwas_handle_index(session) - 1]--;
    (void)pthread_mutex_unlock(&lock);
}

static void consumer_count_sending(uint32_t change)
{
    (void)pthread_mutex_lock(&lock);
    sending += change;
    (void)pthread_cond_broadcast(&fewer);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- acknowledged buffers: in the control thread --------------------------------------------- */

/* Stores how many bytes were delivered, if a record begins there. */
static void consumer_store_given(struct sent *sent, uint32_t delivered_bytes)
{
    const struct etwas_realtime_buffer *buffer = sent->entry.buffer;
    uint32_t at = ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint32_t records = 0;

    while (at < delivered_bytes && at < buffer->bytes) {
        const uint8_t *record = buffer->content + at;
        uint32_t units = etwas_record_units(record, etwas_record_marker(record));

        if (units == 0) {
            return;
        }
        at += units * ETWAS_UNIT_BYTES;
        records++;
    }
    if (at == delivered_bytes && at <= buffer->bytes) {
        sent->delivered_records = records;
        sent->delivered_bytes = at;
    }
}

static void consumer_take_back(struct host_consumer *served, struct sent *sent)
{
    if (sent->delivered_bytes < sent->entry.buffer->bytes) {
        etwas_consumer_return(served->consumer, &sent->entry, sent->delivered_records,
                              sent->delivered_bytes);
    } else {
        etwas_consumer_release(served->consumer, &sent->entry);
    }
    free(sent);
}

/* Called with the lock held. Returns false if there is no such buffer. */
static bool consumer_receive_done(struct host_consumer *served,
                                  const struct etwas_consume_done *done)
{
    struct sent **link = &served->newest;
    struct sent *sent;

    while (*link != NULL && (*link)->number != done->number) {
        link = &(*link)->older;
    }
    sent = *link;
    if (sent == NULL) {
        return false;
    }
    if (done->disposition == ETWAS_CONSUME_RETURNED) {
        /* It is handed back with all others, the newest first. */
        consumer_store_given(sent, done->delivered_bytes);
        return true;
    }
    *link = sent->older;
    served->sent_bytes -= sent->entry.buffer->bytes;
    if (done->disposition == ETWAS_CONSUME_DELIVERED) {
        etwas_consumer_release(served->consumer, &sent->entry);
    } else {
        etwas_consumer_refuse(served->consumer, &sent->entry, done->delivered_records);
    }
    free(sent);
    return true;
}

/*
 * The other process has left or died, or it has sent an invalid message, which also ends the
 * connection.
 */
static void consumer_disconnect(struct host_consumer *served)
{
    (void)shutdown(served->connection, SHUT_RDWR);
    (void)pthread_mutex_lock(&served->lock);
    while (served->newest != NULL) {
        struct sent *sent = served->newest;

        served->newest = sent->older;
        consumer_take_back(served, sent);
    }
    served->is_gone = true;
    (void)pthread_cond_signal(&served->changed);
    (void)pthread_mutex_unlock(&served->lock);
    etwas_consumer_stop(served->consumer);
}

static enum etwas_service_answer consumer_receive(int connection, uint64_t context)
{
    struct host_consumer *served = (struct host_consumer *)(uintptr_t)context;
    struct etwas_consume_done done;
    struct etwas_message message;
    uint32_t code = etwas_message_receive(connection, &message, &done, sizeof done, 0);
    bool is_sound = false;

    if (code == ERROR_TIMEOUT) {
        return ETWAS_SERVICE_KEEP;
    }
    if (code == ERROR_SUCCESS && message.descriptor >= 0) {
        (void)close(message.descriptor);
    }
    if (code == ERROR_SUCCESS && message.op == ETWAS_MESSAGE_CONSUME &&
        message.bytes == sizeof done && done.kind == ETWAS_CONSUME_DONE &&
        done.disposition <= ETWAS_CONSUME_RETURNED) {
        (void)pthread_mutex_lock(&served->lock);
        is_sound = consumer_receive_done(served, &done);
        (void)pthread_cond_signal(&served->changed);
        (void)pthread_mutex_unlock(&served->lock);
    }
    if (!is_sound) {
        consumer_disconnect(served);
    }
    return is_sound ? ETWAS_SERVICE_KEEP : ETWAS_SERVICE_GIVE;
}

/* ---- sending: the consumer's thread ---------------------------------------------------------- */

/* Waits for room as long as the other process is connected. */
static void consumer_send_message(struct host_consumer *served, const void *body, uint32_t bytes)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONSUME, .bytes = bytes, .descriptor = -1};

    served->sends = served->sends && etwas_message_send(served->connection, &message, body,
                                                        UINT64_MAX) == ERROR_SUCCESS;
}

/* Sends the piece in as many messages as it needs. */
static void consumer_send_whole(struct host_consumer *served, struct etwas_consume_piece piece,
                                const uint8_t *content, uint32_t bytes)
{
    uint8_t body[ETWAS_MESSAGE_BYTES];

    piece.bytes = bytes;
    do {
        uint32_t left = bytes - piece.at;
        uint32_t taken = left < ETWAS_CONSUME_PIECE_BYTES ? left : ETWAS_CONSUME_PIECE_BYTES;

        memcpy(body, &piece, sizeof piece);
        if (taken != 0) {
            memcpy(body + sizeof piece, content + piece.at, taken);
        }
        consumer_send_message(served, body, (uint32_t)sizeof piece + taken);
        piece.at += taken;
    } while (served->sends && piece.at < bytes);
}

/* Sends the clock readings that the session has added since the last time. */
static void consumer_send_clocks(struct host_consumer *served)
{
    struct etwas_clock_history *history =
        etwas_consumer_clocks(served->consumer, &served->clocks_version);

    if (history != NULL) {
        consumer_send_whole(served, (struct etwas_consume_piece){.kind = ETWAS_CONSUME_CLOCKS},
                            (const uint8_t *)history,
                            (uint32_t)(offsetof(struct etwas_clock_history, readings) +
                                       history->count * sizeof history->readings[0]));
        free(history);
    }
}

/*
 * Keeps a buffer until it is acknowledged. Returns false if there is no memory or the other process
 * has gone; the buffer is handed back then.
 */
static bool consumer_keep_sent(struct host_consumer *served, struct etwas_consumer_entry *entry,
                               uint32_t number)
{
    struct sent *sent = malloc(sizeof *sent);
    bool is_kept;

    (void)pthread_mutex_lock(&served->lock);
    is_kept = sent != NULL && !served->is_gone;
    if (is_kept) {
        *sent = (struct sent){.older = served->newest,
                              .entry = *entry,
                              .number = number,
                              .delivered_bytes = ETWAS_ETL_BUFFER_HEADER_BYTES};
        served->newest = sent;
        served->sent_bytes += entry->buffer->bytes;
    }
    (void)pthread_mutex_unlock(&served->lock);
    if (!is_kept) {
        etwas_consumer_return(served->consumer, entry, 0, ETWAS_ETL_BUFFER_HEADER_BYTES);
        free(sent);
    }
    return is_kept;
}

static void consumer_send_buffer(struct host_consumer *served, struct etwas_consumer_entry *entry)
{
    struct etwas_consume_piece piece = {
        .kind = ETWAS_CONSUME_BUFFER, .notices = entry->notices, .number = served->next_number++};
    const uint32_t bytes = entry->buffer->bytes;
    uint8_t *content = malloc(bytes);

    /* A copy: once the buffer is kept, the other process may acknowledge it. */
    if (content != NULL) {
        memcpy(content, entry->buffer->content, bytes);
    }
    served->sends = consumer_keep_sent(served, entry, piece.number) && content != NULL;
    if (served->sends) {
        consumer_send_whole(served, piece, content, bytes);
    }
    free(content);
}

/* Waits until enough is acknowledged. Returns false if the other process has gone. */
static bool consumer_wait_for_room(struct host_consumer *served)
{
    bool is_there;

    (void)pthread_mutex_lock(&served->lock);
    while (!served->is_gone && served->sent_bytes > UNACKNOWLEDGED_LIMIT_BYTES) {
        (void)pthread_cond_wait(&served->changed, &served->lock);
    }
    is_there = !served->is_gone;
    (void)pthread_mutex_unlock(&served->lock);
    return is_there;
}

static void consumer_wait_until_gone(struct host_consumer *served)
{
    (void)pthread_mutex_lock(&served->lock);
    while (!served->is_gone) {
        (void)pthread_cond_wait(&served->changed, &served->lock);
    }
    (void)pthread_mutex_unlock(&served->lock);
}

static void consumer_send_all(struct host_consumer *served)
{
    enum etwas_consumer_result got = ETWAS_CONSUMER_RESULT_BOUND;
    struct etwas_consumer_entry entry;
    uint32_t bytes;
    const uint8_t *head = etwas_consumer_head(served->consumer, &bytes);

    consumer_send_whole(served, (struct etwas_consume_piece){.kind = ETWAS_CONSUME_HEAD}, head,
                        bytes);
    consumer_send_clocks(served);
    while (served->sends && got != ETWAS_CONSUMER_RESULT_ENDED &&
           got != ETWAS_CONSUMER_RESULT_STOPPED && consumer_wait_for_room(served)) {
        got = etwas_consumer_next(served->consumer, &entry);
        consumer_send_clocks(served);
        if (got == ETWAS_CONSUMER_RESULT_BUFFER) {
            consumer_send_buffer(served, &entry);
        } else if (got != ETWAS_CONSUMER_RESULT_STOPPED) {
            consumer_send_whole(
                served,
                (struct etwas_consume_piece){.kind = got == ETWAS_CONSUMER_RESULT_ENDED
                                                         ? ETWAS_CONSUME_END
                                                         : ETWAS_CONSUME_BOUND,
                                             .notices = entry.notices,
                                             .bound = entry.bound},
                NULL, 0);
        }
    }
}

/* ---- start and end of a consumer ------------------------------------------------------------- */

static void consumer_refuse(int connection, uint32_t code)
{
    const struct etwas_message answer = {
        .op = ETWAS_MESSAGE_CONSUME, .code = code, .descriptor = -1};

    (void)etwas_message_send(connection, &answer, NULL, 0);
}

static uint32_t consumer_connect(struct host_consumer *served)
{
    struct etwas_session_key key;
    uint32_t code = etwas_session_key_of(served->session, &key)
                        ? etwas_session_realtime_connect_key(key, &served->consumer)
                        : (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND;

    if (code == ERROR_SUCCESS) {
        code = etwas_service_watch(served->connection, true, consumer_receive,
                                   (uint64_t)(uintptr_t)served);
        if (code != ERROR_SUCCESS) {
            etwas_consumer_disconnect(served->consumer);
        }
    }
    return code;
}

/*
 * A consumer that closes its trace reads no more, and still acknowledges the buffers that it had.
 * Until then it keeps its place in the session, so that the buffers it hands back come before those
 * recorded later.
 */
static void *consumer_serve(void *argument)
{
    struct host_consumer *served = argument;
    uint32_t code = consumer_connect(served);

    if (code == ERROR_SUCCESS) {
        consumer_send_all(served);
    } else {
        consumer_refuse(served->connection, code);
    }
    consumer_count_sending(UINT32_MAX);
    if (code == ERROR_SUCCESS) {
        /* The other process receives the data already sent, and then the end. */
        if (etwas_descriptor_is_own(served->connection)) {
            (void)shutdown(served->connection, SHUT_WR);
        }
        consumer_wait_until_gone(served);
        (void)etwas_service_unwatch(served->connection, (uint64_t)(uintptr_t)served);
        etwas_consumer_disconnect(served->consumer);
    }
    etwas_descriptor_close(served->connection);
    consumer_unreserve(served->session);
    (void)pthread_mutex_destroy(&served->lock);
    (void)pthread_cond_destroy(&served->changed);
    free(served);
    return NULL;
}

bool etwas_host_consume(int connection, uint64_t session)
{
    struct host_consumer *served;

    if (!consumer_reserve(session)) {
        consumer_refuse(connection, ERROR_NO_SYSTEM_RESOURCES);
        return false;
    }
    served = malloc(sizeof *served);
    if (served == NULL) {
        consumer_unreserve(session);
        return false;
    }
    *served = (struct host_consumer){.connection = connection, .session = session, .sends = true};
    (void)pthread_mutex_init(&served->lock, NULL);
    (void)pthread_cond_init(&served->changed, NULL);
    consumer_count_sending(1);
    if (!etwas_service_spawn(consumer_serve, served, "etwas-consumer")) {
        consumer_count_sending(UINT32_MAX);
        consumer_unreserve(session);
        free(served);
        return false;
    }
    return true;
}

void etwas_host_consumers_wait(void)
{
    (void)pthread_mutex_lock(&lock);
    while (sending != 0) {
        (void)pthread_cond_wait(&fewer, &lock);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_host_consumers_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

/* The child sends nothing. */
void etwas_host_consumers_after_fork(bool is_child)
{
    if (is_child) {
        sending = 0;
        memset(threads, 0, sizeof threads);
        (void)pthread_cond_init(&fewer, NULL);
    }
    (void)pthread_mutex_unlock(&lock);
}
