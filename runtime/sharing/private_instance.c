/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/private_instance.h"

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
#include "sharing/apply.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"

enum {
    PAUSE_NS = 500000,
    ENTRY_CHECKS = 20,
};

/*
 * A reconcile pass starts and enables it; one pass runs at a time. Its thread, or the thread that
 * does its deferred work, controls and stops it.
 */
struct instance {
    bool is_used;   /* guarded by the lock */
    bool is_ending; /* likewise */
    bool is_cut;    /* guarded by the lock; the connection is at its end */
    etwas_guid session;
    /* with the session it names the template: another template of this GUID has another socket */
    uint64_t socket;
    uint64_t handle; /* 0: it was not started */
    uint64_t tried;  /* number of the entry by which starting it was tried last */
    /* to the host, whose death ends the instance; -1: the host has closed it, and lives */
    int connection;
    struct etwas_applied applied;
    /* The template's operations that it has carried out, as the template counts them. */
    uint32_t flush_timer;
    uint32_t flushes;
    uint32_t new_files;
    uint32_t next_files;
    uint32_t snapshots;
};

static struct instance instances[ETWAS_PRIVATE_INSTANCES];
static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the table: with the lock held ----------------------------------------------------------- */

static bool instance_is_of(const struct instance *instance,
                           const struct etwas_registry_entry *entry)
{
    return instance->is_used && instance->socket == entry->socket &&
           memcmp(&instance->session, &entry->session, sizeof entry->session) == 0;
}

/* Returns the entry's instance; NULL: there is none. */
static struct instance *instance_find(const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        if (instance_is_of(&instances[index], entry)) {
            return &instances[index];
        }
    }
    return NULL;
}

/* Makes an instance; NULL: the table is full. */
static struct instance *instance_add(const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        if (!instances[index].is_used) {
            instances[index] = (struct instance){.is_used = true,
                                                 .session = entry->session,
                                                 .socket = entry->socket,
                                                 .connection = -1};
            return &instances[index];
        }
    }
    return NULL;
}

/*
 * Lets failed starts be tried again, since there is room or a name is free. Returns whether there
 * are any.
 */
static bool instances_retry(void)
{
    bool any = false;

    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        if (instances[index].is_used && instances[index].handle == 0) {
            instances[index].tried = 0;
            any = true;
        }
    }
    return any;
}

bool etwas_private_instance_exists(const struct etwas_registry_entry *entry)
{
    bool is_known;

    (void)pthread_mutex_lock(&instances_lock);
    is_known = instance_find(entry) != NULL;
    (void)pthread_mutex_unlock(&instances_lock);
    return is_known;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Handler of the control thread. A host sends nothing on this connection: this is its end. */
static enum etwas_service_answer instance_receive_end(int connection, uint64_t socket)
{
    (void)connection;
    (void)pthread_mutex_lock(&instances_lock);
    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        instances[index].is_cut = instances[index].is_cut || instances[index].socket == socket;
    }
    (void)pthread_mutex_unlock(&instances_lock);
    etwas_reconcile_soon(NULL);
    return ETWAS_SERVICE_GIVE;
}

/* Connects to the host, if it lives and listens. */
static void instance_watch_host(struct instance *instance, const struct etwas_registry_entry *entry,
                                uint64_t deadline_ns)
{
    struct etwas_peer peer;
    int connection;

    if (etwas_registry_connect(entry, deadline_ns, &connection, &peer) == ERROR_SUCCESS) {
        connection = etwas_descriptor_protect(connection);
        if (etwas_service_watch(connection, true, instance_receive_end, entry->socket) ==
            ERROR_SUCCESS) {
            instance->connection = connection;
        } else {
            etwas_descriptor_close(connection);
        }
    }
}

static void instance_leave_host(struct instance *instance)
{
    if (instance->connection >= 0) {
        (void)etwas_service_unwatch(instance->connection, instance->socket);
        etwas_descriptor_close(instance->connection);
        instance->connection = -1;
    }
}

/* Requests that the template has counted before the start are not carried out again. */
static void instance_start(struct instance *instance, const struct etwas_registry_entry *entry,
                           uint64_t deadline_ns)
{
    const struct etwas_registry_template *private = entry->private;
    struct etwas_configuration *configuration = malloc(sizeof *configuration);
    uint32_t code =
        configuration == NULL ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY : etwas_prepare_to_serve();

    instance_watch_host(instance, entry, deadline_ns);
    if (instance->connection < 0) {
        free(configuration);
        return;
    }
    instance->tried = entry->number;
    if (code == ERROR_SUCCESS) {
        code = etwas_private_template_configure(entry, configuration);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_lifecycle_start(configuration, NULL, NULL, &instance->handle);
    }
    free(configuration);
    if (code != ERROR_SUCCESS) {
        instance->handle = 0;
        instance_leave_host(instance);
        return;
    }
    instance->applied = (struct etwas_applied){.session = instance->handle};
    instance->flush_timer = private->flush_timer;
    instance->flushes = private->flushes;
    instance->new_files = private->new_files;
    instance->next_files = private->next_files;
    instance->snapshots = private->snapshots;
}

void etwas_private_instance_apply(const struct etwas_registry_entry *entry, bool registers,
                                  uint64_t deadline_ns)
{
    struct instance *instance;
    bool is_new;

    (void)pthread_mutex_lock(&instances_lock);
    instance = instance_find(entry);
    if (instance == NULL) {
        instance = instance_add(entry);
    } else if (instance->is_ending) {
        instance = NULL;
    }
    is_new = instance != NULL && instance->handle == 0 && instance->tried != entry->number;
    (void)pthread_mutex_unlock(&instances_lock);
    if (is_new) {
        instance_start(instance, entry, deadline_ns);
    }
    if (instance != NULL && instance->handle != 0 && instance->applied.number != entry->number) {
        if (instance->connection < 0) {
            instance_watch_host(instance, entry, deadline_ns);
        }
        etwas_apply_entry(&instance->applied, entry, registers);
    }
}

/* ---- files: in the thread of the pass -------------------------------------------------------- */

static void instance_update(struct instance *instance, struct etwas_session_key key,
                            const struct etwas_registry_template *private)
{
    struct etwas_update wanted = {0};

    if (instance->flush_timer == private->flush_timer &&
        instance->new_files == private->new_files) {
        return;
    }
    wanted.flush_timer = private->flush_timer;
    wanted.file_name = instance->new_files != private->new_files ? private->file_name : NULL;
    (void)etwas_lifecycle_update(key, &wanted);
    instance->flush_timer = private->flush_timer;
    instance->new_files = private->new_files;
}

static void instance_snapshot(struct etwas_session_key key,
                              const struct etwas_registry_entry *entry)
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

/* A pass may read several changes at once; each kind is carried out once. */
void etwas_private_instance_write(const struct etwas_registry_entry *entry)
{
    const struct etwas_registry_template *private = entry->private;
    struct etwas_session_key key;
    struct instance *instance;

    (void)pthread_mutex_lock(&instances_lock);
    instance = instance_find(entry);
    if (instance != NULL && instance->is_ending) {
        instance = NULL;
    }
    (void)pthread_mutex_unlock(&instances_lock);
    if (instance == NULL || !etwas_session_key_of(instance->handle, &key)) {
        return;
    }
    instance_update(instance, key, private);
    if (instance->flushes != private->flushes) {
        (void)etwas_lifecycle_flush(key);
        instance->flushes = private->flushes;
    }
    if (instance->next_files != private->next_files) {
        (void)etwas_lifecycle_next_file(key);
        instance->next_files = private->next_files;
    }
    if (instance->snapshots != private->snapshots) {
        instance_snapshot(key, entry);
        instance->snapshots = private->snapshots;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Whether the template has gone. Called for an instance whose connection is not cut, since a dying
 * host may hold its entry for a moment. Reads the entry itself: the folder may not show one that is
 * just being replaced. An entry that cannot be read proves nothing.
 */
static bool instance_template_is_gone(const etwas_guid *session, uint64_t socket)
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

/* Whether the host whose connection has ended has died; its entry may stay a moment longer. */
static bool instance_host_is_dead(const struct instance *instance)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool is_gone = instance_template_is_gone(&instance->session, instance->socket);

    for (uint32_t attempt = 1; !is_gone && attempt < ENTRY_CHECKS; attempt++) {
        (void)nanosleep(&pause, NULL);
        is_gone = instance_template_is_gone(&instance->session, instance->socket);
    }
    return is_gone;
}

/*
 * Keeps an instance whose host has closed the connection and lives, as a host without free
 * descriptors does. The instance goes on by the entry, and connects again when that changes.
 */
static void instance_keep_without_host(struct instance *instance)
{
    instance_leave_host(instance);
    (void)pthread_mutex_lock(&instances_lock);
    instance->is_cut = false;
    (void)pthread_mutex_unlock(&instances_lock);
}

uint32_t etwas_private_instances_expired(uint8_t expired[ETWAS_PRIVATE_INSTANCES])
{
    uint32_t found = 0;

    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        struct instance *instance = &instances[index];
        bool may_be;
        bool is_cut;

        (void)pthread_mutex_lock(&instances_lock);
        may_be = instance->is_used && !instance->is_ending;
        is_cut = instance->is_cut;
        (void)pthread_mutex_unlock(&instances_lock);
        if (may_be && is_cut && !instance_host_is_dead(instance)) {
            instance_keep_without_host(instance);
        } else if (may_be &&
                   (is_cut || instance_template_is_gone(&instance->session, instance->socket))) {
            (void)pthread_mutex_lock(&instances_lock);
            instance->is_ending = true;
            (void)pthread_mutex_unlock(&instances_lock);
            expired[found++] = (uint8_t)index;
        }
    }
    return found;
}

void etwas_private_instance_stop(uint32_t index)
{
    struct instance *instance = &instances[index];
    struct etwas_session_key key;
    bool needs_retry;

    if (etwas_session_key_of(instance->handle, &key)) {
        (void)etwas_lifecycle_stop(key, NULL, NULL);
    }
    instance_leave_host(instance);
    etwas_apply_forget(&instance->applied);
    (void)pthread_mutex_lock(&instances_lock);
    *instance = (struct instance){0};
    needs_retry = instances_retry();
    (void)pthread_mutex_unlock(&instances_lock);
    if (needs_retry) {
        etwas_reconcile_soon(NULL);
    }
}

bool etwas_private_instances_are_stopping(void)
{
    bool any = false;

    (void)pthread_mutex_lock(&instances_lock);
    for (uint32_t index = 0; index < ETWAS_PRIVATE_INSTANCES; index++) {
        any = any || instances[index].is_ending;
    }
    (void)pthread_mutex_unlock(&instances_lock);
    return any;
}

void etwas_private_instances_await_stop(uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    while (etwas_private_instances_are_stopping() && etwas_monotonic_ns() < deadline_ns) {
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_private_instances_before_fork(void)
{
    (void)pthread_mutex_lock(&instances_lock);
}

/* The service closes the connections that it owns: those whose is_cut is not set. */
void etwas_private_instances_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_PRIVATE_INSTANCES; index++) {
        if (instances[index].is_cut && instances[index].connection >= 0) {
            etwas_descriptor_close(instances[index].connection);
        }
        etwas_apply_forget(&instances[index].applied);
        instances[index] = (struct instance){0};
    }
    (void)pthread_mutex_unlock(&instances_lock);
}
