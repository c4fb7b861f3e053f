/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The control thread: one in each process that has joined the registry, asleep in poll until
 * another process sends something. Work that takes time is left to another thread, so two processes
 * with requests to each other never deadlock. If no more files may be open it waits for a request,
 * for at most 20 ms (host_connections.c); otherwise it waits for no process.
 *
 * Any thread may call these functions; no lock of the library is held while a handler runs. In a
 * program that has closed descriptors that are not its own, the thread receives nothing any more.
 */
#ifndef ETWAS_SHARING_SERVICE_H
#define ETWAS_SHARING_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/guid_list.h"
#include "registry/notification.h"

/* A handler's result: what happens to its descriptor. */
enum etwas_service_answer {
    ETWAS_SERVICE_KEEP,
    ETWAS_SERVICE_CLOSE, /* closed, and no longer watched */
    ETWAS_SERVICE_GIVE,  /* no longer watched; the handler has given it another owner */
};

typedef enum etwas_service_answer (*etwas_service_handler)(int descriptor, uint64_t context);

/*
 * Joins the registry and starts the thread, once in a process and once in a fork's child. The
 * thread calls `receive` for each notification, and `files_missing` when files of this process may
 * have been removed from the folder. Errors of etwas_registry_join; ERROR_NO_SYSTEM_RESOURCES:
 * there is no thread, the process may open no more files than a session needs, or it ends.
 */
uint32_t etwas_service_begin(void (*receive)(const struct etwas_notification *notification),
                             void (*files_missing)(void));

/* Whether the process has joined. */
bool etwas_service_runs(void);

/*
 * Returns the name of the process's own socket, to which acknowledgements are sent
 * (notification.h). Valid once it has joined.
 */
const char *etwas_service_name(void);

/*
 * Calls the handler when the descriptor can be read or is at its end. `is_owned`: the service
 * closes it, also in a fork's child. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_service_watch(int descriptor, bool is_owned, etwas_service_handler handler,
                             uint64_t context);

/*
 * Stops watching a descriptor, which is the caller's then. Waits for its handler, so a handler must
 * not call this for itself. Returns false if it was no longer watched. If the service owned it, its
 * number may be reused by another descriptor, so `context` says which one is meant.
 */
bool etwas_service_unwatch(int descriptor, uint64_t context);

/*
 * Waits until everything that had arrived has been handled, or until the deadline (CLOCK_MONOTONIC,
 * ns). It must not be called in a handler.
 */
void etwas_service_wait_idle(uint64_t deadline_ns);

/* Runs `work` in a detached thread. Returns false if no thread could be started. */
bool etwas_service_spawn(void *(*work)(void *argument), void *argument, const char *name);

/*
 * Makes the control thread start a thread that calls `work`, if the process has joined. Earlier
 * calls for the same work that are still pending are merged with it. Async-signal-safe.
 */
void etwas_service_defer_call(void (*work)(void));

/*
 * The first restores the removed files of this process, and returns whether its providers have to
 * be published again. The second watches the sockets that have replaced others (host.h).
 */
bool etwas_service_restore(void);
void etwas_service_refresh(void);

/*
 * Publishes these as the process's providers. One thread at a time calls it. Returns false if the
 * control thread does not run, or the list could not be written; the old one stays then.
 */
bool etwas_service_publish(const struct etwas_registry_guid_list *list);

/* Leaves the registry at the end of the process. */
void etwas_service_end(void);

/*
 * Called around a fork: nothing is watched during it. The child has no thread, and has to join
 * anew.
 */
void etwas_service_before_fork(void);
void etwas_service_after_fork(bool is_child);

#endif
