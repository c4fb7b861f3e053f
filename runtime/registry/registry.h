/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The registry: the folder (shared/folder.h) in which the processes of one user find each other's
 * sessions. A process makes its files in its own folder, the first one available when it needs one.
 * It looks for files of other processes in all folders of the user that exist at that moment:
 * processes that began before a login, or with another environment, use another folder. If
 * ETWAS_RUNTIME_DIR names a folder, it is the only one.
 *
 *     n.HASH                      a name that is taken, and by which session      sessions.h
 *     s.GUID                      a session: its entry                            host_session.h
 *     s.GUID.NONCE.sock           where its host listens                          connection.h
 *     p.PID.START.NONCE.guids     a process that has joined: its providers        joined_process.h
 *     p.PID.START.NONCE           where it is notified                            notification.h
 *     t.NONCE                     a file on its way to one of these names         held_file.h
 *
 * A file is living while its process holds it (held_file.h), and a socket while the file that it
 * belongs to is living. A name with a nonce is never used for a second thing. So what is dead stays
 * dead, and any process that finds it removes it.
 *
 * All functions may be called from any thread, and none waits for another process without a
 * deadline. If no folder can be used, or there is no /proc, they return a code, and nothing is
 * shared.
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
    ETWAS_REGISTRY_FILE_BYTES = 96, /* room for a file's name in the folder, with its 0 */
    ETWAS_REGISTRY_FOLDERS = 16,    /* the most that a walk remembers as visited */
};

/*
 * Returns the descriptor of the process's own folder. The first call opens the folder, and makes it
 * if it is missing. Errors of etwas_shared_folder_open; the next call tries again. A folder that
 * has been removed is made again by the next call; its files are missing until their processes
 * write them again.
 */
uint32_t etwas_registry_open(int *folder);

/*
 * Does the same for removing something: a folder that has been removed is not made again. Returns
 * false if the folder cannot be opened.
 */
bool etwas_registry_open_existing(int *folder);

/* Returns the path of an open folder, for messages; empty: not known. */
void etwas_registry_path(int folder, char path[ETWAS_FOLDER_BYTES]);

/*
 * In a fork's child: closes the descriptor. The next call opens the folder again.
 * Async-signal-safe.
 */
void etwas_registry_forget(void);

/* ---- for the other files of this directory --------------------------------------------------- */

/* Returns a number that has not been used before. */
uint64_t etwas_registry_nonce(void);

/*
 * A walk over the user's folders, the process's own one first. A folder is skipped if it is
 * missing, or if another user owns it or can access it.
 */
struct etwas_registry_walk {
    int folder; /* its descriptor, owned by the walk; -1: the walk is at its end */
    /* why a folder was skipped: ERROR_NO_SYSTEM_RESOURCES, no more files may be open */
    uint32_t code;
    DIR *listed_folders; /* of shared/folder.h */
    uint32_t next;
    uint32_t visited_count;
    struct {
        uint64_t device;
        uint64_t inode;
    } visited[ETWAS_REGISTRY_FOLDERS];
};

/* Begins a walk at the process's own folder. On errors of etwas_registry_open nothing is open. */
uint32_t etwas_registry_walk(struct etwas_registry_walk *walk);

/* Goes to the next folder. Returns false if there is none; nothing is open then. */
bool etwas_registry_walk_on(struct etwas_registry_walk *walk);

/* Ends a walk that is not at its end. */
void etwas_registry_walk_end(struct etwas_registry_walk *walk);

/*
 * Walks to the folder that contains the name. The caller ends the walk in any case.
 * ERROR_NOT_FOUND: no folder has it; ERROR_NO_SYSTEM_RESOURCES: one could not be opened; errors of
 * etwas_registry_open.
 */
uint32_t etwas_registry_walk_to(const char *name, struct etwas_registry_walk *walk);

/*
 * Returns the address of a socket in a folder. It goes through /proc/self/fd, since a path may be
 * too long, and is valid while the folder is open. ERROR_NOT_SUPPORTED: there is no /proc.
 */
uint32_t etwas_registry_address(int folder, const char *name, struct sockaddr_un *address);

/*
 * Opens a non-blocking AF_UNIX socket, bound to a name in the process's own folder with mode 0600,
 * or to none if `name` is NULL. ERROR_NOT_SUPPORTED: the process may not open sockets, or there is
 * no /proc. ERROR_NO_SYSTEM_RESOURCES; errors of etwas_file_open_error for the name.
 */
uint32_t etwas_registry_socket(int type, const char *name, int *opened);

/*
 * Whether nothing has that name in the process's own folder. A folder that has been removed is made
 * again.
 */
bool etwas_registry_is_missing(const char *name);

/* Returns the Win32 code for an errno of send or connect. ERROR_NOT_FOUND: no process listens. */
uint32_t etwas_registry_socket_error(int error);

/*
 * Waits until a socket is ready for these events of poll. Returns false if the deadline
 * (CLOCK_MONOTONIC, ns) has passed.
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
