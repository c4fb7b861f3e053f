/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The control thread: one of a process that takes part in the registry, asleep until another process tells it
 * something. It waits for nobody: what takes its time it leaves to another thread, so that two processes that want
 * something of each other never wait for each other.
 *
 * Any thread may call this; no lock of the library is held while a handler runs. A program that closes descriptors
 * that are not its own is heard no more.
 */
#ifndef ETWAS_SHARING_SERVICE_H
#define ETWAS_SHARING_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/guid_list.h"
#include "registry/notification.h"

/* What becomes of a descriptor that had something to say. */
enum etwas_service_answer {
    ETWAS_SERVICE_KEEP,
    ETWAS_SERVICE_CLOSE, /* it is closed, and watched no more */
    ETWAS_SERVICE_GIVE,  /* it is watched no more: somebody else has it */
};

typedef enum etwas_service_answer (*etwas_service_handler)(int descriptor, uint64_t context);

/*
 * Takes part from here on, and has the thread; once of a process, and of a fork's child. `hear` is called for what this
 * process is told, `miss` when its files in the folder may have gone. Errors of etwas_registry_join; ERROR_NO_SYSTEM_RESOURCES: no thread, no more files
 * than a session of the process needs, or the process ends.
 */
uint32_t etwas_service_begin(void (*receive)(const struct etwas_notification *notification),
                             void (*files_missing)(void));

/* Whether it does. */
bool etwas_service_runs(void);

/* The process's own socket, for who answers (notification.h). Once it takes part. */
const char *etwas_service_name(void);

/*
 * Calls the handler when the descriptor has something to say, or is at its end. `is_owned`: it is the service's to close,
 * and a fork's child closes it. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_service_watch(int descriptor, bool is_owned, etwas_service_handler handler,
                             uint64_t context);

/*
 * Watches it no more; it is the caller's now. Waits for its handler, which must not call this. False: it is not watched
 * any more, and if it was the service's somebody else's descriptor may have its number; so the context says which is meant.
 */
bool etwas_service_unwatch(int descriptor, uint64_t context);

/* Until all that had been said has been heard, or the deadline (CLOCK_MONOTONIC, ns). Not for a handler. */
void etwas_service_wait_idle(uint64_t deadline_ns);

/* Runs `work` in a thread that nobody waits for. False: there can be none. */
bool etwas_service_spawn(void *(*work)(void *argument), void *argument, const char *name);

/*
 * Has the control thread start a thread that calls this, if the process takes part. What is asked for before that began is
 * one call. Async-signal-safe.
 */
void etwas_service_defer_call(void (*work)(void));

/*
 * Makes anew what somebody has removed of this process's files, and listens to what has taken the place of others (host.h). True:
 * its providers are to be shown again.
 */
bool etwas_service_restore(void);
void etwas_service_refresh(void);

/* Shows these as the process's providers; what cannot be shown stays as it was. One thread at a time. */
void etwas_service_publish(const struct etwas_registry_guid_list *list);

/* Takes part no more: the process ends. */
void etwas_service_end(void);

/* A fork: nothing is watched meanwhile. In the child nothing runs, and it has to begin anew. */
void etwas_service_before_fork(void);
void etwas_service_after_fork(bool is_child);

#endif
