/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The registry: the folder (shared/folder.h) in which the processes of one user find each other's
 * sessions. A process makes its files in its own folder, the first that it could have when it
 * needed one. It looks for files of others in all of the user's folders that are there at that
 * moment, since processes that began before a login, or with another environment
 * (shared/folder.h), have another one. Where ETWAS_RUNTIME_DIR names a folder it is the
 * only one.
 *
 *     n.HASH                      a name that is taken, and by which session      sessions.h
 *     s.GUID                      a session: its entry                            host_session.h
 *     s.GUID.NONCE.sock           where its host listens                          connection.h
 *     p.PID.START.NONCE.guids     a process that has joined: its providers        joined_process.h
 *     p.PID.START.NONCE           where it is notified                            notification.h
 *     t.NONCE                     a file on its way to one of these names         held_file.h
 *
 * A file is living while its process holds it (held_file.h), and a socket while the file is that it
 * belongs to. A name with a nonce is never used for a second thing. So what is dead stays dead, and
 * any process that finds it removes it.
 *
 * All functions may be called from any thread, and none waits for another process without a
 * deadline. Where a folder cannot be had, or a system has no /proc, they return a code, and nothing
 * is shared.
 */
#ifndef ETWAS_REGISTRY_REGISTRY_H
#define ETWAS_REGISTRY_REGISTRY_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shared/folder.h"

enum {
    ETWAS_REGISTRY_FILE_BYTES = 96, /* of a file's name in the folder, its 0 included */
    ETWAS_REGISTRY_FOLDERS = 16,    /* as many are recognized in a walk */
};

/*
 * The descriptor of the process's own folder. The first call opens the folder, and makes it if it
 * is missing. Errors of etwas_shared_folder_open; the next call tries again. A folder that has been
 * removed is made again by the next call; its files are missing until their processes write them
 * again.
 */
uint32_t etwas_registry_open(int *folder);

/*
 * The same for removing something: a folder that has been removed is not made again. False: it
 * cannot be had.
 */
bool etwas_registry_open_existing(int *folder);

/* The path of an open folder, for messages; empty: the system does not say. */
void etwas_registry_path(int folder, char path[ETWAS_FOLDER_BYTES]);

/*
 * In a fork's child: closes the descriptor. The next call opens the folder again.
 * Async-signal-safe.
 */
void etwas_registry_forget(void);

/* ---- for the files beside this one ----------------------------------------------------------- */

/* A number that has not been used before. */
uint64_t etwas_registry_nonce(void);

/*
 * A walk over the user's folders, the own one first. A folder that is not the user's alone, or not
 * there, is passed over.
 */
struct etwas_registry_walk {
    int folder; /* its descriptor, owned by the walk; -1: the walk is at its end */
    /* why a folder was passed over: ERROR_NO_SYSTEM_RESOURCES, no more files may be open */
    uint32_t code;
    DIR *listed_folders; /* of shared/folder.h */
    uint32_t next;
    uint32_t visited_count;
    struct {
        uint64_t device;
        uint64_t inode;
    } visited[ETWAS_REGISTRY_FOLDERS];
};

/* Begins a walk at the own folder. Errors of etwas_registry_open: nothing is open then. */
uint32_t etwas_registry_walk(struct etwas_registry_walk *walk);

/* Goes on to the next folder. False: there is none, and nothing is open. */
bool etwas_registry_walk_on(struct etwas_registry_walk *walk);

/* Ends a walk that is not at its end. */
void etwas_registry_walk_end(struct etwas_registry_walk *walk);

/*
 * Walks to the folder that has the name. The caller ends the walk in each case. ERROR_NOT_FOUND:
 * none has it; ERROR_NO_SYSTEM_RESOURCES: one could not be opened; errors of etwas_registry_open.
 */
uint32_t etwas_registry_walk_to(const char *name, struct etwas_registry_walk *walk);

/*
 * The address of a socket in a folder, by way of /proc/self/fd, since a path may be too long. It is
 * valid while the folder is open. ERROR_NOT_SUPPORTED: there is no /proc.
 */
uint32_t etwas_registry_address(int folder, const char *name, struct sockaddr_un *address);

/*
 * Opens a socket of AF_UNIX that does not block, bound to a name in the own folder, with mode 0600,
 * or (`name` is NULL) to none. ERROR_NOT_SUPPORTED: this process may have none, or there is no
 * /proc. ERROR_NO_SYSTEM_RESOURCES; errors of etwas_file_open_error for the name.
 */
uint32_t etwas_registry_socket(int type, const char *name, int *opened);

/*
 * Whether nothing has that name in the own folder, which is made again where it has been removed.
 */
bool etwas_registry_is_missing(const char *name);

/* The Win32 code for an errno of sending or connecting. ERROR_NOT_FOUND: nobody listens there. */
uint32_t etwas_registry_socket_error(int error);

/*
 * Waits until a socket is ready for these events of poll. False: the deadline (CLOCK_MONOTONIC, ns)
 * has passed.
 */
bool etwas_registry_wait(int socket, short events, uint64_t deadline_ns);

/*
 * Visits each name in each folder, until `visit` returns false. Names that come or go meanwhile may
 * be left out. Errors of etwas_registry_open; ERROR_NO_SYSTEM_RESOURCES: no more files may be open,
 * and some were left out.
 */
uint32_t etwas_registry_each(bool (*visit)(int folder, const char *name, void *context),
                             void *context);

#endif
