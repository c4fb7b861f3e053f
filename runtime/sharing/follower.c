/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/follower.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/lifecycle.h"
#include "control/prepare.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/sessions.h"
#include "session/file_name.h"
#include "sharing/acting.h"
#include "sharing/look.h"
#include "sharing/service.h"
#include "sharing/template.h"

enum {
    PAUSE_NS = 500000,
    LOOKS_AT_ENTRY = 20,
};

/*
 * Started and enabled by looks, of which there is one at a time; controlled and stopped by the thread that looks, and what
 * that leaves to another one.
 */
struct follower {
    bool is_used;   /* under the lock */
    bool is_ending; /* likewise */
    bool is_cut;    /* likewise: the connection is at its end */
    etwas_guid session;
    uint64_t socket; /* with that the template: another one under this GUID has another socket */
    uint64_t handle; /* 0: it was not started */
    uint64_t tried;  /* by the entry of this number */
    int connection;  /* to the host, whose death ends it; -1: the host has ended it, and lives */
    struct etwas_acting acting;
    /* How often it has done what the template counts. */
    uint32_t flush_timer;
    uint32_t flushes;
    uint32_t new_files;
    uint32_t next_files;
    uint32_t snapshots;
};

static struct follower followers[ETWAS_FOLLOWERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the table: with the lock held ----------------------------------------------------------- */

static bool is_of(const struct follower *follower, const struct etwas_registry_entry *entry)
{
    return follower->is_used && follower->socket == entry->socket &&
           memcmp(&follower->session, &entry->session, sizeof entry->session) == 0;
}

/* NULL: there is none. */
static struct follower *find(const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        if (is_of(&followers[index], entry)) {
            return &followers[index];
        }
    }
    return NULL;
}

/* NULL: there is no room. */
static struct follower *add(const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        if (!followers[index].is_used) {
            followers[index] = (struct follower){.is_used = true,
                                                 .session = entry->session,
                                                 .socket = entry->socket,
                                                 .connection = -1};
            return &followers[index];
        }
    }
    return NULL;
}

/* There is room, or another name is free. Whether anybody waits for that. */
static bool try_again(void)
{
    bool any = false;

    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        if (followers[index].is_used && followers[index].handle == 0) {
            followers[index].tried = 0;
            any = true;
        }
    }
    return any;
}

bool etwas_follower_is_known(const struct etwas_registry_entry *entry)
{
    bool is_known;

    (void)pthread_mutex_lock(&lock);
    is_known = find(entry) != NULL;
    (void)pthread_mutex_unlock(&lock);
    return is_known;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* In the control thread. The host says nothing by itself: this is its end. */
static enum etwas_service_answer hear_end(int connection, uint64_t socket)
{
    (void)connection;
    (void)pthread_mutex_lock(&lock);
    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        followers[index].is_cut = followers[index].is_cut || followers[index].socket == socket;
    }
    (void)pthread_mutex_unlock(&lock);
    etwas_look_soon(NULL);
    return ETWAS_SERVICE_GIVE;
}

/* Of a host that is dead, or does not listen, there is none. */
static void watch_host(struct follower *follower, const struct etwas_registry_entry *entry,
                       uint64_t deadline_ns)
{
    struct etwas_peer peer;
    int connection;

    if (etwas_registry_connect(entry, deadline_ns, &connection, &peer) == ERROR_SUCCESS) {
        connection = etwas_own_keep(connection);
        if (etwas_service_watch(connection, true, hear_end, entry->socket) == ERROR_SUCCESS) {
            follower->connection = connection;
        } else {
            etwas_own_close(connection);
        }
    }
}

static void leave_host(struct follower *follower)
{
    if (follower->connection >= 0) {
        (void)etwas_service_unwatch(follower->connection, follower->socket);
        etwas_own_close(follower->connection);
        follower->connection = -1;
    }
}

/* What there is from the beginning is not done once more. */
static void start(struct follower *follower, const struct etwas_registry_entry *entry,
                  uint64_t deadline_ns)
{
    const struct etwas_registry_template *private = entry->private;
    struct etwas_configuration *configuration = malloc(sizeof *configuration);
    uint32_t code =
        configuration == NULL ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY : etwas_prepare_to_serve();

    watch_host(follower, entry, deadline_ns);
    if (follower->connection < 0) {
        free(configuration);
        return;
    }
    follower->tried = entry->number;
    if (code == ERROR_SUCCESS) {
        code = etwas_template_configure(entry, configuration);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_lifecycle_start(configuration, NULL, NULL, &follower->handle);
    }
    free(configuration);
    if (code != ERROR_SUCCESS) {
        follower->handle = 0;
        leave_host(follower);
        return;
    }
    follower->acting = (struct etwas_acting){.session = follower->handle};
    follower->flush_timer = private->flush_timer;
    follower->flushes = private->flushes;
    follower->new_files = private->new_files;
    follower->next_files = private->next_files;
    follower->snapshots = private->snapshots;
}

void etwas_follower_act(const struct etwas_registry_entry *entry, bool registers,
                        uint64_t deadline_ns)
{
    struct follower *follower;
    bool is_new;

    (void)pthread_mutex_lock(&lock);
    follower = find(entry);
    if (follower == NULL) {
        follower = add(entry);
    } else if (follower->is_ending) {
        follower = NULL;
    }
    is_new = follower != NULL && follower->handle == 0 && follower->tried != entry->number;
    (void)pthread_mutex_unlock(&lock);
    if (is_new) {
        start(follower, entry, deadline_ns);
    }
    if (follower != NULL && follower->handle != 0 && follower->acting.number != entry->number) {
        if (follower->connection < 0) {
            watch_host(follower, entry, deadline_ns);
        }
        etwas_acting_do(&follower->acting, entry, registers);
    }
}

/* ---- its files: in the thread that looks ------------------------------------------------------- */

static void update(struct follower *follower, struct etwas_session_key key,
                   const struct etwas_registry_template *private)
{
    struct etwas_update wanted = {0};

    if (follower->flush_timer == private->flush_timer &&
        follower->new_files == private->new_files) {
        return;
    }
    wanted.flush_timer = private->flush_timer;
    wanted.file_name = follower->new_files != private->new_files ? private->file_name : NULL;
    (void)etwas_lifecycle_update(key, &wanted);
    follower->flush_timer = private->flush_timer;
    follower->new_files = private->new_files;
}

static void snapshot(struct etwas_session_key key, const struct etwas_registry_entry *entry)
{
    const struct etwas_registry_template *private = entry->private;
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    const etwas_wchar *given =
        private->snapshot_name[0] != 0 ? private->snapshot_name : private->file_name;

    if (etwas_file_name_make(given, entry->log_file_mode, 1, (uint32_t)getpid(), made) ==
        ERROR_SUCCESS) {
        (void)etwas_lifecycle_snapshot(key, made);
    }
}

/* A look may see several changes at once: each is done once. */
void etwas_follower_write(const struct etwas_registry_entry *entry)
{
    const struct etwas_registry_template *private = entry->private;
    struct etwas_session_key key;
    struct follower *follower;

    (void)pthread_mutex_lock(&lock);
    follower = find(entry);
    if (follower != NULL && follower->is_ending) {
        follower = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    if (follower == NULL || !etwas_session_key_of(follower->handle, &key)) {
        return;
    }
    update(follower, key, private);
    if (follower->flushes != private->flushes) {
        (void)etwas_lifecycle_flush(key);
        follower->flushes = private->flushes;
    }
    if (follower->next_files != private->next_files) {
        (void)etwas_lifecycle_next_file(key);
        follower->next_files = private->next_files;
    }
    if (follower->snapshots != private->snapshots) {
        snapshot(key, entry);
        follower->snapshots = private->snapshots;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Of one whose connection is not cut, which alone says that its host is dead: that may hold its entry for a moment then.
 * By the entry: the folder may not show one that is just being replaced. What cannot be read says nothing.
 */
static bool is_over(const etwas_guid *session, uint64_t socket)
{
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_read(session, &entry);
    bool is_another;

    if (code != ERROR_SUCCESS) {
        return code == ERROR_NOT_FOUND;
    }
    is_another = entry->socket != socket || entry->state != ETWAS_REGISTRY_OPEN;
    free(entry);
    return is_another;
}

/* Whether the host of one that is cut is dead, whose entry may be there a moment longer than its connection. */
static bool is_dead(const struct follower *follower)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool is_gone = is_over(&follower->session, follower->socket);

    for (uint32_t look = 1; !is_gone && look < LOOKS_AT_ENTRY; look++) {
        (void)nanosleep(&pause, NULL);
        is_gone = is_over(&follower->session, follower->socket);
    }
    return is_gone;
}

/* A host that may open no files, say, has cut it off. It goes on by the entry, and is connected again when that changes. */
static void keep_without_host(struct follower *follower)
{
    leave_host(follower);
    (void)pthread_mutex_lock(&lock);
    follower->is_cut = false;
    (void)pthread_mutex_unlock(&lock);
}

uint32_t etwas_followers_over(uint8_t over[ETWAS_FOLLOWERS])
{
    uint32_t found = 0;

    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        struct follower *follower = &followers[index];
        bool may_be;
        bool is_cut;

        (void)pthread_mutex_lock(&lock);
        may_be = follower->is_used && !follower->is_ending;
        is_cut = follower->is_cut;
        (void)pthread_mutex_unlock(&lock);
        if (may_be && is_cut && !is_dead(follower)) {
            keep_without_host(follower);
        } else if (may_be && (is_cut || is_over(&follower->session, follower->socket))) {
            (void)pthread_mutex_lock(&lock);
            follower->is_ending = true;
            (void)pthread_mutex_unlock(&lock);
            over[found++] = (uint8_t)index;
        }
    }
    return found;
}

void etwas_follower_stop(uint32_t index)
{
    struct follower *follower = &followers[index];
    struct etwas_session_key key;
    bool look_again;

    if (etwas_session_key_of(follower->handle, &key)) {
        (void)etwas_lifecycle_stop(key, NULL, NULL);
    }
    leave_host(follower);
    etwas_acting_end(&follower->acting);
    (void)pthread_mutex_lock(&lock);
    *follower = (struct follower){0};
    look_again = try_again();
    (void)pthread_mutex_unlock(&lock);
    if (look_again) {
        etwas_look_soon(NULL);
    }
}

bool etwas_followers_are_ending(void)
{
    bool any = false;

    (void)pthread_mutex_lock(&lock);
    for (uint32_t index = 0; index < ETWAS_FOLLOWERS; index++) {
        any = any || followers[index].is_ending;
    }
    (void)pthread_mutex_unlock(&lock);
    return any;
}

void etwas_followers_await_end(uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    while (etwas_followers_are_ending() && etwas_monotonic_ns() < deadline_ns) {
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_followers_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

/* Connections are closed by the service, whose they are until they are cut. */
void etwas_followers_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_FOLLOWERS; index++) {
        if (followers[index].is_cut && followers[index].connection >= 0) {
            etwas_own_close(followers[index].connection);
        }
        etwas_acting_end(&followers[index].acting);
        followers[index] = (struct follower){0};
    }
    (void)pthread_mutex_unlock(&lock);
}
