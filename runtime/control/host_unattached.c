/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/host_unattached.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/host_guests.h"
#include "platform/file.h"
#include "platform/own_descriptor.h"

/* A process that counts, or has counted, or cannot. Under `lock`. */
struct counting {
    struct counting *next;
    uint64_t session;
    int connection;
    int descriptor; /* -1: it cannot count */
    uint32_t entry;
    uint32_t refusal; /* why it cannot log into the session; 0: it awaits an answer, or logs */
    uint64_t counted; /* what was read last */
    uint64_t seen;    /* the number of the entry that it acts by */
};

static struct counting *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of a session that has ended nobody counts any more. */
static void add(uint64_t session, uint64_t events)
{
    struct etwas_held_session held;

    if (events != 0 && etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        ck_pr_add_64(&held.session->lost_unattached, events);
        etwas_session_let_go(&held);
    }
}

/* Tells the session's account which processes cannot log into it. With the lock held. */
static void sum_up(uint64_t session, uint32_t newest)
{
    struct etwas_held_session held;
    uint32_t count = 0;

    for (const struct counting *one = all; one != NULL; one = one->next) {
        count += one->session == session && one->refusal != 0;
    }
    if (etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        ck_pr_store_32(&held.session->unattached_processes, count);
        if (newest != 0) {
            ck_pr_store_32(&held.session->unattached_code, newest);
        }
        etwas_session_let_go(&held);
    }
}

/* It only grows. */
static void read_count(struct counting *counting)
{
    uint64_t counted;

    if (counting->descriptor >= 0 && etwas_own_is(counting->descriptor) &&
        etwas_file_read(counting->descriptor, &counted, sizeof counted,
                        counting->entry * sizeof counted) == sizeof counted &&
        counted > counting->counted) {
        add(counting->session, counted - counting->counted);
        counting->counted = counted;
    }
}

static void drop(struct counting **link)
{
    struct counting *counting = *link;

    *link = counting->next;
    if (counting->descriptor >= 0) {
        etwas_own_close(counting->descriptor);
    }
    free(counting);
}

/* A file in memory is read at once, whoever has made it. */
static bool is_page(int descriptor)
{
    return fcntl(descriptor, F_GET_SEALS) >= 0;
}

static bool is_of(const struct counting *counting, uint64_t session, int connection)
{
    return counting->session == session && counting->connection == connection;
}

/* With the lock held. NULL: it has said nothing. */
static struct counting *find(uint64_t session, int connection)
{
    struct counting *counting = all;

    while (counting != NULL && !is_of(counting, session, connection)) {
        counting = counting->next;
    }
    return counting;
}

/* What it counts is known from the first note that has a page. With the lock held; the descriptor is used up. */
static void take_page(struct counting *counting, const struct etwas_unattached_note *note,
                      int descriptor)
{
    if (counting->descriptor >= 0 || !is_page(descriptor)) {
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return;
    }
    counting->descriptor = etwas_own_keep(descriptor);
    counting->entry = note->entry;
    counting->counted = note->counted;
}

/* With the lock held. NULL: there is no memory. */
static struct counting *add_counting(uint64_t session, int connection)
{
    struct counting *counting = malloc(sizeof *counting);

    if (counting != NULL) {
        *counting = (struct counting){
            .next = all, .session = session, .connection = connection, .descriptor = -1};
        all = counting;
    }
    return counting;
}

bool etwas_host_unattached_hear(uint64_t session, int connection, int descriptor, const void *bytes,
                                uint32_t note_bytes)
{
    struct etwas_unattached_note note = {.entry = ETWAS_GUEST_SESSIONS};
    struct counting *counting = NULL;

    if (note_bytes == sizeof note) {
        memcpy(&note, bytes, sizeof note);
    }
    (void)pthread_mutex_lock(&lock);
    if (note.entry < ETWAS_GUEST_SESSIONS) {
        counting = find(session, connection);
        counting = counting != NULL ? counting : add_counting(session, connection);
    }
    if (counting == NULL) {
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
    } else {
        take_page(counting, &note, descriptor);
        counting->refusal = note.refusal;
        sum_up(session, note.refusal);
    }
    (void)pthread_mutex_unlock(&lock);
    return counting != NULL && note.refusal != 0;
}

void etwas_host_unattached_attached(uint64_t session, int connection)
{
    struct counting *counting;

    (void)pthread_mutex_lock(&lock);
    counting = find(session, connection);
    if (counting != NULL && counting->refusal != 0) {
        counting->refusal = 0;
        sum_up(session, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_unattached_seen(uint64_t session, int connection, uint64_t number)
{
    struct counting *counting;

    (void)pthread_mutex_lock(&lock);
    counting = find(session, connection);
    if (counting != NULL) {
        counting->seen = number;
    }
    (void)pthread_mutex_unlock(&lock);
}

bool etwas_host_unattached_have_seen(uint64_t session, uint64_t number)
{
    bool all_have = true;

    (void)pthread_mutex_lock(&lock);
    for (const struct counting *counting = all; counting != NULL; counting = counting->next) {
        all_have = all_have && (counting->session != session || counting->refusal == 0 ||
                                counting->seen >= number);
    }
    (void)pthread_mutex_unlock(&lock);
    return all_have;
}

void etwas_host_unattached_read(uint64_t session, int connection)
{
    (void)pthread_mutex_lock(&lock);
    for (struct counting *counting = all; counting != NULL; counting = counting->next) {
        if (is_of(counting, session, connection)) {
            read_count(counting);
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

/* `connection` -1: of all. */
static void end(uint64_t session, int connection)
{
    struct counting **link = &all;
    bool has_refused = false;

    (void)pthread_mutex_lock(&lock);
    while (*link != NULL) {
        if ((*link)->session == session && (connection < 0 || (*link)->connection == connection)) {
            has_refused = has_refused || (*link)->refusal != 0;
            read_count(*link);
            drop(link);
        } else {
            link = &(*link)->next;
        }
    }
    if (has_refused) {
        sum_up(session, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_unattached_end(uint64_t session, int connection)
{
    end(session, connection);
}

void etwas_host_unattached_end_all(uint64_t session)
{
    end(session, -1);
}

void etwas_host_unattached_forget(void)
{
    while (all != NULL) {
        drop(&all);
    }
    (void)pthread_mutex_init(&lock, NULL);
}
