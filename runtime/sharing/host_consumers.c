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

#include "buffer/walk.h"
#include "etl/layout.h"
#include "platform/own_descriptor.h"
#include "realtime/consume.h"
#include "realtime/session_realtime.h"
#include "sharing/service.h"

/* More than any consumer holds (reader/live.h): one that says of nothing what became of it gets no more. */
#define UNHEARD_LIMIT_BYTES (UINT64_C(64) << 20)

/* A buffer that the other side has, or will read. */
struct sent {
    struct sent *older;
    struct etwas_consumer_entry entry;
    uint32_t number;
    bool is_returned; /* so many are given, and the others for the next consumer */
    uint32_t given_records;
    uint32_t given_bytes;
};

/* One in another process. Its thread frees it, when the control thread watches the connection no more. */
struct far_consumer {
    int connection;
    uint64_t session;
    struct etwas_consumer *consumer;
    uint32_t next_number; /* the thread's, as the two that follow */
    uint64_t clocks_seen;
    bool sends; /* the other side has not refused anything */

    pthread_mutex_t lock; /* before that of the session's delivery */
    pthread_cond_t changed;
    struct sent *newest; /* under the lock, as what follows */
    uint64_t sent_bytes;
    bool is_gone; /* the other side is: what it had is taken back */
};

/* How many have still something to send, for who ends the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static uint32_t sending;

/* By the session's entry: how many threads there are. Of one that is over some may be left, and count. Under `lock`. */
static uint32_t threads[ETWAS_SESSION_ENTRIES];

static bool take_place(uint64_t session)
{
    uint32_t *of_session = &threads[etwas_handle_index(session) - 1];
    bool is_free;

    (void)pthread_mutex_lock(&lock);
    is_free = *of_session < ETWAS_HOST_CONSUMERS;
    *of_session += is_free;
    (void)pthread_mutex_unlock(&lock);
    return is_free;
}

static void give_place(uint64_t session)
{
    (void)pthread_mutex_lock(&lock);
    threads[etwas_handle_index(session) - 1]--;
    (void)pthread_mutex_unlock(&lock);
}

static void count_sending(uint32_t change)
{
    (void)pthread_mutex_lock(&lock);
    sending += change;
    (void)pthread_cond_broadcast(&fewer);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- what became of buffers: in the control thread -------------------------------------------- */

/* Where the records behind so many bytes begin is believed if one begins there: then so many are before it. */
static void note_given(struct sent *sent, uint32_t given_bytes)
{
    const struct etwas_realtime_buffer *buffer = sent->entry.buffer;
    uint32_t at = ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint32_t records = 0;

    while (at < given_bytes && at < buffer->bytes) {
        const uint8_t *record = buffer->content + at;
        uint32_t units = etwas_walk_units(record, etwas_walk_marker(record));

        if (units == 0) {
            return;
        }
        at += units * ETWAS_UNIT_BYTES;
        records++;
    }
    if (at == given_bytes && at <= buffer->bytes) {
        sent->given_records = records;
        sent->given_bytes = at;
    }
}

static void take_back(struct far_consumer *far, struct sent *sent)
{
    if (sent->given_bytes < sent->entry.buffer->bytes) {
        etwas_consumer_return(far->consumer, &sent->entry, sent->given_records, sent->given_bytes);
    } else {
        etwas_consumer_release(far->consumer, &sent->entry);
    }
    free(sent);
}

/* Under the lock. False: it has no such buffer. */
static bool hear_done(struct far_consumer *far, const struct etwas_consume_done *done)
{
    struct sent **link = &far->newest;
    struct sent *sent;

    while (*link != NULL && (*link)->number != done->number) {
        link = &(*link)->older;
    }
    sent = *link;
    if (sent == NULL) {
        return false;
    }
    if (done->outcome == ETWAS_CONSUME_RETURNED) {
        /* It is handed back when all are: the newest first. */
        note_given(sent, done->given_bytes);
        return true;
    }
    *link = sent->older;
    far->sent_bytes -= sent->entry.buffer->bytes;
    if (done->outcome == ETWAS_CONSUME_GIVEN) {
        etwas_consumer_release(far->consumer, &sent->entry);
    } else {
        etwas_consumer_refuse(far->consumer, &sent->entry, done->given_records);
    }
    free(sent);
    return true;
}

/* The other side has left, was killed, or says what makes no sense: that ends it, too. */
static void lose(struct far_consumer *far)
{
    (void)shutdown(far->connection, SHUT_RDWR);
    (void)pthread_mutex_lock(&far->lock);
    while (far->newest != NULL) {
        struct sent *sent = far->newest;

        far->newest = sent->older;
        take_back(far, sent);
    }
    far->is_gone = true;
    (void)pthread_cond_signal(&far->changed);
    (void)pthread_mutex_unlock(&far->lock);
    etwas_consumer_stop(far->consumer);
}

static enum etwas_service_answer hear(int connection, uint64_t context)
{
    struct far_consumer *far = (struct far_consumer *)(uintptr_t)context;
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
        done.outcome <= ETWAS_CONSUME_RETURNED) {
        (void)pthread_mutex_lock(&far->lock);
        is_sound = hear_done(far, &done);
        (void)pthread_cond_signal(&far->changed);
        (void)pthread_mutex_unlock(&far->lock);
    }
    if (!is_sound) {
        lose(far);
    }
    return is_sound ? ETWAS_SERVICE_KEEP : ETWAS_SERVICE_GIVE;
}

/* ---- sending: the consumer's thread ----------------------------------------------------------- */

/* Waits for room as long as the other side is there. */
static void send_message(struct far_consumer *far, const void *body, uint32_t bytes)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONSUME, .bytes = bytes, .descriptor = -1};

    far->sends = far->sends &&
                 etwas_message_send(far->connection, &message, body, UINT64_MAX) == ERROR_SUCCESS;
}

/* In so many messages as it takes. */
static void send_whole(struct far_consumer *far, struct etwas_consume_piece piece,
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
        send_message(far, body, (uint32_t)sizeof piece + taken);
        piece.at += taken;
    } while (far->sends && piece.at < bytes);
}

/* What the session has read of its clocks since the last time. */
static void send_clocks(struct far_consumer *far)
{
    struct etwas_clock_history *history = etwas_consumer_clocks(far->consumer, &far->clocks_seen);

    if (history != NULL) {
        send_whole(far, (struct etwas_consume_piece){.kind = ETWAS_CONSUME_CLOCKS},
                   (const uint8_t *)history,
                   (uint32_t)(offsetof(struct etwas_clock_history, readings) +
                              history->count * sizeof history->readings[0]));
        free(history);
    }
}

/* Until it is heard of, it is kept. False: without memory, or with nobody there, it is handed back. */
static bool keep(struct far_consumer *far, struct etwas_consumer_entry *entry, uint32_t number)
{
    struct sent *sent = malloc(sizeof *sent);
    bool is_kept;

    (void)pthread_mutex_lock(&far->lock);
    is_kept = sent != NULL && !far->is_gone;
    if (is_kept) {
        *sent = (struct sent){.older = far->newest,
                              .entry = *entry,
                              .number = number,
                              .given_bytes = ETWAS_ETL_BUFFER_HEADER_BYTES};
        far->newest = sent;
        far->sent_bytes += entry->buffer->bytes;
    }
    (void)pthread_mutex_unlock(&far->lock);
    if (!is_kept) {
        etwas_consumer_return(far->consumer, entry, 0, ETWAS_ETL_BUFFER_HEADER_BYTES);
        free(sent);
    }
    return is_kept;
}

static void send_buffer(struct far_consumer *far, struct etwas_consumer_entry *entry)
{
    struct etwas_consume_piece piece = {
        .kind = ETWAS_CONSUME_BUFFER, .notices = entry->notices, .number = far->next_number++};
    const uint32_t bytes = entry->buffer->bytes;
    uint8_t *content = malloc(bytes);

    /* A copy: once it is kept, the other side may have it let go. */
    if (content != NULL) {
        memcpy(content, entry->buffer->content, bytes);
    }
    far->sends = keep(far, entry, piece.number) && content != NULL;
    if (far->sends) {
        send_whole(far, piece, content, bytes);
    }
    free(content);
}

/* The other side says in time what becomes of buffers. False: it is gone. */
static bool wait_for_room(struct far_consumer *far)
{
    bool is_there;

    (void)pthread_mutex_lock(&far->lock);
    while (!far->is_gone && far->sent_bytes > UNHEARD_LIMIT_BYTES) {
        (void)pthread_cond_wait(&far->changed, &far->lock);
    }
    is_there = !far->is_gone;
    (void)pthread_mutex_unlock(&far->lock);
    return is_there;
}

static void wait_until_gone(struct far_consumer *far)
{
    (void)pthread_mutex_lock(&far->lock);
    while (!far->is_gone) {
        (void)pthread_cond_wait(&far->changed, &far->lock);
    }
    (void)pthread_mutex_unlock(&far->lock);
}

static void send_all(struct far_consumer *far)
{
    enum etwas_consumer_got got = ETWAS_GOT_BOUND;
    struct etwas_consumer_entry entry;
    uint32_t bytes;
    const uint8_t *head = etwas_consumer_head(far->consumer, &bytes);

    send_whole(far, (struct etwas_consume_piece){.kind = ETWAS_CONSUME_HEAD}, head, bytes);
    send_clocks(far);
    while (far->sends && got != ETWAS_GOT_END && got != ETWAS_GOT_STOP && wait_for_room(far)) {
        got = etwas_consumer_next(far->consumer, &entry);
        send_clocks(far);
        if (got == ETWAS_GOT_BUFFER) {
            send_buffer(far, &entry);
        } else if (got != ETWAS_GOT_STOP) {
            send_whole(far,
                       (struct etwas_consume_piece){
                           .kind = got == ETWAS_GOT_END ? ETWAS_CONSUME_END : ETWAS_CONSUME_BOUND,
                           .notices = entry.notices,
                           .bound = entry.bound},
                       NULL, 0);
        }
    }
}

/* ---- its life --------------------------------------------------------------------------------- */

static void refuse(int connection, uint32_t code)
{
    const struct etwas_message answer = {
        .op = ETWAS_MESSAGE_CONSUME, .code = code, .descriptor = -1};

    (void)etwas_message_send(connection, &answer, NULL, 0);
}

static uint32_t join(struct far_consumer *far)
{
    struct etwas_session_key key;
    uint32_t code = etwas_session_key_of(far->session, &key)
                        ? etwas_session_realtime_connect_key(key, &far->consumer)
                        : (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND;

    if (code == ERROR_SUCCESS) {
        code = etwas_service_watch(far->connection, true, hear, (uint64_t)(uintptr_t)far);
        if (code != ERROR_SUCCESS) {
            etwas_consumer_disconnect(far->consumer);
        }
    }
    return code;
}

/*
 * Who closes its trace reads no more, and says still what became of what it had: until then its place in the session is
 * kept, so that what it hands back comes before what was recorded later.
 */
static void *serve(void *argument)
{
    struct far_consumer *far = argument;
    uint32_t code = join(far);

    if (code == ERROR_SUCCESS) {
        send_all(far);
    } else {
        refuse(far->connection, code);
    }
    count_sending(UINT32_MAX);
    if (code == ERROR_SUCCESS) {
        /* The other side gets what was sent, and then sees that this is all. */
        if (etwas_own_is(far->connection)) {
            (void)shutdown(far->connection, SHUT_WR);
        }
        wait_until_gone(far);
        (void)etwas_service_unwatch(far->connection, (uint64_t)(uintptr_t)far);
        etwas_consumer_disconnect(far->consumer);
    }
    etwas_own_close(far->connection);
    give_place(far->session);
    (void)pthread_mutex_destroy(&far->lock);
    (void)pthread_cond_destroy(&far->changed);
    free(far);
    return NULL;
}

bool etwas_host_consume(int connection, uint64_t session)
{
    struct far_consumer *far;

    if (!take_place(session)) {
        refuse(connection, ERROR_NO_SYSTEM_RESOURCES);
        return false;
    }
    far = malloc(sizeof *far);
    if (far == NULL) {
        give_place(session);
        return false;
    }
    *far = (struct far_consumer){.connection = connection, .session = session, .sends = true};
    (void)pthread_mutex_init(&far->lock, NULL);
    (void)pthread_cond_init(&far->changed, NULL);
    count_sending(1);
    if (!etwas_service_spawn(serve, far, "etwas-consumer")) {
        count_sending(UINT32_MAX);
        give_place(session);
        free(far);
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

/* ---- fork ------------------------------------------------------------------------------------- */

void etwas_host_consumers_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

/* In a child nobody sends. */
void etwas_host_consumers_after_fork(bool is_child)
{
    if (is_child) {
        sending = 0;
        memset(threads, 0, sizeof threads);
        (void)pthread_cond_init(&fewer, NULL);
    }
    (void)pthread_mutex_unlock(&lock);
}
