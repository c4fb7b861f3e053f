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

/* Who counts, or has. Under `lock`. */
struct counting {
    struct counting *next;
    uint64_t session;
    int connection;
    int descriptor;
    uint32_t entry;
    uint64_t counted; /* what was read last */
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

/* It only grows. */
static void read_count(struct counting *counting)
{
    uint64_t counted;

    if (etwas_own_is(counting->descriptor) &&
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
    etwas_own_close(counting->descriptor);
    free(counting);
}

/* A file in memory is read at once, whoever has made it. */
static bool is_page(int descriptor)
{
    return fcntl(descriptor, F_GET_SEALS) >= 0;
}

void etwas_host_unattached_hear(uint64_t session, int connection, int descriptor, const void *bytes,
                                uint32_t note_bytes)
{
    struct etwas_unattached_note note;
    struct counting *counting = NULL;

    if (note_bytes == sizeof note && is_page(descriptor)) {
        memcpy(&note, bytes, sizeof note);
        counting = note.entry < ETWAS_GUEST_SESSIONS ? malloc(sizeof *counting) : NULL;
    }
    if (counting == NULL) {
        (void)close(descriptor);
        return;
    }
    etwas_host_unattached_end(session, connection); /* who says it twice */
    *counting = (struct counting){
        .session = session,
        .connection = connection,
        .descriptor = etwas_own_keep(descriptor),
        .entry = note.entry,
        .counted = note.counted,
    };
    (void)pthread_mutex_lock(&lock);
    counting->next = all;
    all = counting;
    (void)pthread_mutex_unlock(&lock);
}

static bool is_of(const struct counting *counting, uint64_t session, int connection)
{
    return counting->session == session && counting->connection == connection;
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

    (void)pthread_mutex_lock(&lock);
    while (*link != NULL) {
        if ((*link)->session == session && (connection < 0 || (*link)->connection == connection)) {
            read_count(*link);
            drop(link);
        } else {
            link = &(*link)->next;
        }
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
