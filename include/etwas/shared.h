/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions that span processes. Not of ETW, where the kernel does it.
 *
 * The processes of one user that take part find each other in the user's runtime folder: $ETWAS_RUNTIME_DIR, else
 * $XDG_RUNTIME_DIR/etwas, /run/user/UID/etwas or /dev/shm/etwas-UID; it is the user's alone (0700). A session that is
 * shared is hosted by the process that started it and ends with it; providers of all these processes log into its
 * buffers, as soon as it enables them, and controllers of all of them control it by its name.
 *
 * A process takes part when it registers its first provider, starts its first shared session, opens a trace of a session
 * that is none of its own, or calls etwas_share, if
 * ETWAS_SHARED in its environment is 1. Until then, and in all other processes, nothing of this is there: no thread, no file,
 * no socket. From then on it has one thread, asleep (`etwas-control`), and two files in the folder. A program that has another user's
 * rights (AT_SECURE) never takes part by itself: it asks no environment.
 */
#ifndef ETWAS_SHARED_H
#define ETWAS_SHARED_H

#include <etwas/types.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* Who may log into a session that etwas_start starts: etwas_session_options.sharing. */
#define ETWAS_SHARING_NONE 0u /* this process alone */
/*
 * Providers of all processes of this user that take part. Its buffers lie in a file without a name (as with
 * ETWAS_CRASH_SAFE_MEMFD) that each of them maps. ERROR_NOT_SUPPORTED: with retention classes, numbered messages, one
 * slot for all processors, private modes, or without restartable sequences.
 */
#define ETWAS_SHARING_USER 1u
/*
 * This process alone logs into it, but whoever asks all recorders of the user for a snapshot (etwas_snapshot_all, a trigger
 * that is passed on) gets one of this recorder, too. Shared recorders are asked anyway. Its name is not taken from others, and
 * nobody controls it from another process. ERROR_NOT_SUPPORTED: it is no recorder (EVENT_TRACE_BUFFERING_MODE).
 */
#define ETWAS_SHARING_SNAPSHOTS 2u

/*
 * This process takes part from here on, whatever ETWAS_SHARED says: sessions that enable its providers are attached to
 * before it returns, if their hosts answer within 50 ms; of the others events are counted (lost_unattached) until they do. A fork's child takes part only when it calls this, or
 * registers a provider. Thread-safe; not for signal handlers; takes some system calls and, the first time, makes a thread.
 * To be called before a sandbox forbids that.
 *
 * Errors: ERROR_PATH_NOT_FOUND or ERROR_ACCESS_DENIED, there is no such folder that is the user's alone;
 * ERROR_DISK_FULL; ERROR_NO_SYSTEM_RESOURCES, no more threads or files; ERROR_NOT_SUPPORTED, there is no /proc, or the
 * library was built without it.
 */
uint32_t etwas_share(void) ETWAS_API(etwas_share);

/*
 * What a provider calls itself (EventSetInformation with EventProviderSetTraits, which TraceLogging's do), of this process or any that takes
 * part: UTF-8, what fits into `room` bytes, terminated; empty: it is not known. Thread-safe; not for signal
 * handlers; reads files. Errors: ERROR_NOT_FOUND; ERROR_INVALID_PARAMETER for NULL or no room.
 */
uint32_t etwas_provider_name(const etwas_guid *provider, char *text, size_t room)
    ETWAS_API(etwas_provider_name);

/*
 * The other way round: the GUIDs of the providers that are registered, in this process or any that takes part, and call
 * themselves so; letters of ASCII without regard to case. Writes up to `room` of them into guids[] (NULL only with a room of
 * 0), each once, and how many that are into *count. Thread-safe; not for signal handlers; reads files.
 * Errors: ERROR_NOT_FOUND; ERROR_MORE_DATA, there are more; ERROR_INVALID_PARAMETER for NULL or an empty name.
 */
uint32_t etwas_provider_guids(const char *name, etwas_guid *guids, uint32_t room, uint32_t *count)
    ETWAS_API(etwas_provider_guids);

/*
 * The GUID that TraceLogging and EventSource make of a provider's name where the program says none: the same for a name
 * in any case. Of a provider that chose its GUID otherwise it is wrong. Thread-safe; not for signal handlers.
 * ERROR_INVALID_PARAMETER: NULL; the name is empty, no UTF-8, or longer than 1,024 units of UTF-16.
 */
uint32_t etwas_name_guid(const char *name, etwas_guid *guid) ETWAS_API(etwas_name_guid);

ETWAS_END_DECLS

#endif
