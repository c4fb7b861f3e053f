/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_unattached.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer/unattached.h"
#include "registry/connection.h"
#include "sharing/host_guests.h"

enum {
    PAGE_BYTES = ETWAS_UNATTACHED_WORDS * sizeof(uint64_t),
    TURNED_AWAY = -1, /* in the place of a connection */
};

/* A process that counts events, has counted them, or cannot. Guarded by `lock`. */
struct counting {
    struct counting *next;
    uint64_t session;
    int connection;        /* TURNED_AWAY: it has none, and no page */
    uint32_t process_id;   /* set for a process that was turned away */
    uint32_t refusal;      /* why it cannot log into the session; 0: it awaits an answer, or logs */
    bool is_in_total;      /* its refusal is in the session's total */
    uint64_t *page;        /* NULL: it has no counts */
    uint64_t *word;        /* in the page */
    uint64_t counted;      /* the value read last */
    uint64_t acknowledged; /* number of the entry that it has acknowledged */
};

static struct counting *counting_processes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Adds lost events to the session's account, unless the session has ended. */
static void unattached_add_lost(uint64_t session, uint64_t events)
{
    struct etwas_held_session held;

    if (events != 0 && etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        ck_pr_add_64(&held.session->totals.lost_unattached, events);
        etwas_session_release(&held);
    }
}

/*
 * Stores in the session's account how many processes cannot log into it, and why. Adds the new ones
 * to the total. Called with the lock held.
 */
static void unattached_count_refused(uint64_t session, uint32_t newest)
{
    struct etwas_held_session held;
    uint32_t count = 0;
    uint32_t added = 0;

    for (struct counting *one = counting_processes; one != NULL; one = one->next) {
        if (one->session == session) {
            bool cannot_log = one->refusal != 0;

            count += cannot_log;
            added += cannot_log && !one->is_in_total;
            one->is_in_total = cannot_log;
        }
    }
    if (etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        ck_pr_store_32(&held.session->totals.unattached_processes, count);
        ck_pr_add_32(&held.session->totals.unattached_total, added);
        if (newest != 0) {
            ck_pr_store_32(&held.session->totals.unattached_code, newest);
        }
        etwas_session_release(&held);
    }
}

/*
 * Adds the events counted since the last reading. A count grows until it is closed; counts closed
 * before have been added already.
 */
static void unattached_add_counted(struct counting *counting, uint64_t counted)
{
    if ((counted & ETWAS_UNATTACHED_CLOSED) == 0 && counted > counting->counted) {
        unattached_add_lost(counting->session, counted - counting->counted);
        counting->counted = counted;
    }
}

static void unattached_read_count(struct counting *counting)
{
    if (counting->page != NULL) {
        unattached_add_counted(counting, ck_pr_load_64(counting->word));
    }
}

/*
 * Adds the count for the last time, and closes it: the process's calls return ERROR_INVALID_HANDLE
 * from here on.
 */
static void unattached_close_count(struct counting *counting)
{
    if (counting->page != NULL) {
        unattached_add_counted(counting, ck_pr_fas_64(counting->word, ETWAS_UNATTACHED_CLOSED));
    }
}

static void unattached_drop(struct counting **link)
{
    struct counting *counting = *link;

    *link = counting->next;
    if (counting->page != NULL) {
        (void)munmap(counting->page, PAGE_BYTES);
    }
    free(counting);
}

/*
 * Maps a page of counts. It must be a file in memory that cannot be truncated while it is mapped,
 * whichever process made it. Returns NULL if it is no such file.
 */
static uint64_t *unattached_map_page(int descriptor)
{
    const int seals = fcntl(descriptor, F_GET_SEALS);
    struct stat facts;
    void *page;

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &facts) != 0 ||
        facts.st_size < (off_t)PAGE_BYTES) {
        return NULL;
    }
    page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return page != MAP_FAILED ? page : NULL;
}

static bool unattached_is_of(const struct counting *counting, uint64_t session, int connection)
{
    return counting->session == session && counting->connection == connection;
}

/* Returns the process of a connection; NULL: it has sent no report. Called with the lock held. */
static struct counting *unattached_find(uint64_t session, int connection)
{
    struct counting *counting = counting_processes;

    while (counting != NULL && !unattached_is_of(counting, session, connection)) {
        counting = counting->next;
    }
    return counting;
}

/*
 * Stores the page of the first report that has one. Closes the descriptor. Called with the lock
 * held.
 */
static void unattached_store_page(struct counting *counting,
                                  const struct etwas_unattached_report *report, int descriptor)
{
    if (descriptor < 0) {
        return;
    }
    if (counting->page == NULL) {
        counting->page = unattached_map_page(descriptor);
        counting->word = counting->page != NULL ? counting->page + report->word : NULL;
    }
    (void)close(descriptor);
}

/* Adds a process. Returns NULL if there is no memory. Called with the lock held. */
static struct counting *unattached_add(uint64_t session, int connection)
{
    struct counting *counting = malloc(sizeof *counting);

    if (counting != NULL) {
        *counting = (struct counting){
            .next = counting_processes, .session = session, .connection = connection};
        counting_processes = counting;
    }
    return counting;
}

/*
 * Ends the counts of a connection; -1: all counts. Called with the lock held. Returns whether a
 * process among them could not log into the session.
 */
static bool unattached_end_held(uint64_t session, int connection)
{
    struct counting **link = &counting_processes;
    bool has_refused = false;

    while (*link != NULL) {
        if ((*link)->session == session && (connection < 0 || (*link)->connection == connection)) {
            has_refused = has_refused || (*link)->refusal != 0;
            unattached_close_count(*link);
            unattached_drop(link);
        } else {
            link = &(*link)->next;
        }
    }
    return has_refused;
}

static void unattached_end(uint64_t session, int connection)
{
    (void)pthread_mutex_lock(&lock);
    if (unattached_end_held(session, connection)) {
        unattached_count_refused(session, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- processes that are turned away ---------------------------------------------------------- */

/* Returns whether the process has ended, as far as this process can see. */
static bool unattached_has_ended(const struct counting *counting)
{
    return kill((pid_t)counting->process_id, 0) != 0 && errno == ESRCH;
}

/* Drops a process that was turned away; 0: all that have ended. Called with the lock held. */
static bool unattached_drop_turned_away(uint64_t session, uint32_t process_id)
{
    struct counting **link = &counting_processes;
    bool has_dropped = false;

    while (*link != NULL) {
        if ((*link)->session == session && (*link)->connection == TURNED_AWAY &&
            (process_id != 0 ? (*link)->process_id == process_id : unattached_has_ended(*link))) {
            unattached_drop(link);
            has_dropped = true;
        } else {
            link = &(*link)->next;
        }
    }
    return has_dropped;
}

/*
 * Drops the process of a connection, if it was turned away before. Called with the lock held.
 * Returns whether it was.
 */
static bool unattached_drop_earlier(uint64_t session, int connection)
{
    struct etwas_peer peer;

    return etwas_registry_peer_of(connection, &peer) == ERROR_SUCCESS && peer.process_id != 0 &&
           unattached_drop_turned_away(session, peer.process_id);
}

bool etwas_host_unattached_receive(uint64_t session, int connection, int descriptor,
                                   const void *bytes, uint32_t report_bytes)
{
    struct etwas_unattached_report report = {.word = ETWAS_UNATTACHED_WORDS};
    struct counting *counting = NULL;

    if (report_bytes == sizeof report) {
        memcpy(&report, bytes, sizeof report);
    }
    (void)pthread_mutex_lock(&lock);
    if (report.word < ETWAS_UNATTACHED_WORDS) {
        counting = unattached_find(session, connection);
        counting = counting != NULL ? counting : unattached_add(session, connection);
    }
    if (counting == NULL) {
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
    } else {
        unattached_store_page(counting, &report, descriptor);
        counting->refusal = (uint32_t)report.refusal;
        if (counting->refusal != 0 && unattached_drop_earlier(session, connection)) {
            counting->is_in_total = true;
        }
        unattached_count_refused(session, counting->refusal);
    }
    (void)pthread_mutex_unlock(&lock);
    return counting != NULL && report.refusal != 0;
}

/*
 * Receives the messages that were sent. The connection takes no more from here on: a count that the
 * host does not receive does not exist. Returns whether a guest has sent them.
 */
static bool unattached_receive_rest(uint64_t session, int connection)
{
    struct etwas_unattached_report report;
    struct etwas_message message;
    bool is_guest = false;
    uint32_t code;

    (void)shutdown(connection, SHUT_RD);
    do {
        code = etwas_message_receive(connection, &message, &report, sizeof report, 0);
        if (code == ERROR_SUCCESS && message.op == ETWAS_MESSAGE_ACKNOWLEDGE) {
            (void)etwas_host_unattached_receive(session, connection, message.descriptor, &report,
                                                message.bytes);
        } else if (message.descriptor >= 0) {
            (void)close(message.descriptor);
        }
        is_guest = is_guest || (code == ERROR_SUCCESS && (message.op == ETWAS_MESSAGE_ATTACH ||
                                                          message.op == ETWAS_MESSAGE_ACKNOWLEDGE));
    } while (code == ERROR_SUCCESS || code == ERROR_INVALID_DATA || code == ERROR_NOT_SUPPORTED ||
             code == ERROR_MORE_DATA);
    return is_guest;
}

void etwas_host_unattached_turn_away(uint64_t session, int connection, uint32_t process_id,
                                     uint32_t code)
{
    struct counting *counting = NULL;
    bool could_not_before;

    if (!unattached_receive_rest(session, connection)) {
        return;
    }
    (void)pthread_mutex_lock(&lock);
    could_not_before = unattached_end_held(session, connection);
    if (process_id != 0) { /* otherwise it is in a PID namespace that this process does not see */
        could_not_before = unattached_drop_turned_away(session, process_id) || could_not_before;
        counting = unattached_add(session, TURNED_AWAY);
    }
    if (counting != NULL) {
        counting->process_id = process_id;
        counting->refusal = code;
        counting->is_in_total = could_not_before;
    }
    unattached_count_refused(session, code);
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_unattached_refresh(uint64_t session)
{
    (void)pthread_mutex_lock(&lock);
    if (unattached_drop_turned_away(session, 0)) {
        unattached_count_refused(session, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- processes that are connected ------------------------------------------------------------ */

void etwas_host_unattached_attached(uint64_t session, int connection)
{
    struct counting *counting;

    (void)pthread_mutex_lock(&lock);
    counting = unattached_find(session, connection);
    if (counting != NULL && counting->refusal != 0) {
        counting->refusal = 0;
        unattached_count_refused(session, 0);
    }
    if (unattached_drop_earlier(session, connection)) {
        unattached_count_refused(session, 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_unattached_acknowledge(uint64_t session, int connection, uint64_t number)
{
    struct counting *counting;

    (void)pthread_mutex_lock(&lock);
    counting = unattached_find(session, connection);
    if (counting != NULL) {
        counting->acknowledged = number;
    }
    (void)pthread_mutex_unlock(&lock);
}

bool etwas_host_unattached_have_acknowledged(uint64_t session, uint64_t number)
{
    bool all_have = true;

    (void)pthread_mutex_lock(&lock);
    for (const struct counting *counting = counting_processes; counting != NULL;
         counting = counting->next) {
        all_have =
            all_have && (counting->session != session || counting->refusal == 0 ||
                         counting->connection == TURNED_AWAY || counting->acknowledged >= number);
    }
    (void)pthread_mutex_unlock(&lock);
    return all_have;
}

void etwas_host_unattached_read(uint64_t session, int connection)
{
    (void)pthread_mutex_lock(&lock);
    for (struct counting *counting = counting_processes; counting != NULL;
         counting = counting->next) {
        if (unattached_is_of(counting, session, connection)) {
            unattached_read_count(counting);
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_unattached_end(uint64_t session, int connection)
{
    unattached_end(session, connection);
}

void etwas_host_unattached_end_all(uint64_t session)
{
    unattached_end(session, -1);
}

void etwas_host_unattached_forget(void)
{
    while (counting_processes != NULL) {
        unattached_drop(&counting_processes);
    }
    (void)pthread_mutex_init(&lock, NULL);
}
