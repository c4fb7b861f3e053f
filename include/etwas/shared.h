/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions that span processes. Not of ETW, where the kernel does it.
 *
 * The processes of one user that take part find each other in the user's runtime folders: $ETWAS_RUNTIME_DIR, else
 * $XDG_RUNTIME_DIR/etwas, /run/user/UID/etwas and /dev/shm/etwas-UID; they are the user's alone (0700). A process makes its files
 * in the first that it can have when it begins to take part. It looks for others in all of them, also in those that only the
 * environment of other processes names; with ETWAS_RUNTIME_DIR in that one alone. A session that is
 * shared is hosted by the process that started it and ends with it; providers of all these processes log into its
 * buffers, as soon as it enables them, and controllers of all of them control it by its name.
 *
 * A process takes part by itself from the moment when it registers its first provider, starts its first session by StartTrace, asks
 * for a session or a provider that is none of its own, or opens a trace of one. From then on it has one thread, asleep
 * (`etwas-control`), and two files in the folder, of which one is a socket; until then nothing of this is there. It is so unless
 *
 *     ETWAS_SHARED in its environment is 0,
 *     it has called etwas_share_nothing,
 *     it has another user's rights (AT_SECURE): what lies in that user's folder, and the environment, are not to be believed,
 *     the library was built with -DETWAS_SHARING=OFF.
 *
 * Then none of it comes to be, and its sessions are its own. So are they, and nothing fails, where there is no folder that
 * is the user's alone, no memory that processes can share, or no more threads or files: etwas_sharing_state says why.
 * etwas_start starts sessions of this process alone unless it is asked for another.
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
 * nobody controls it from another process. The process takes part from then on. ERROR_NOT_SUPPORTED: it is no recorder
 * (EVENT_TRACE_BUFFERING_MODE). Errors of etwas_share.
 */
#define ETWAS_SHARING_SNAPSHOTS 2u

/*
 * Why no other process logs into a session: etwas_session_counts.unshared. Of those that were to be shared others still find all
 * but the last, and control them.
 */
#define ETWAS_UNSHARED_NOT 0u   /* they do, as soon as it enables their providers */
#define ETWAS_UNSHARED_ASKED 1u /* it was started as one of its process alone */
#define ETWAS_UNSHARED_MODE                                                                        \
    2u /* a mode of StartTrace that one process alone can have: numbered messages, one slot for all
                                       processors, EVENT_TRACE_FILE_MODE_APPEND */
#define ETWAS_UNSHARED_SEQUENCES                                                                   \
    3u /* the process can run no restartable sequences, or there are too many processors */
#define ETWAS_UNSHARED_DISK                                                                        \
    4u /* its buffers lie in a folder that is not in memory (EVENT_TRACE_ADDTO_TRIAGE_DUMP): that
                                       disk would hold up every process that logs */
#define ETWAS_UNSHARED_MEMORY 5u /* there is no memory for them that processes can share */
#define ETWAS_UNSHARED_HIDDEN 6u /* its process cannot be found: etwas_sharing_state says why */

/*
 * Why a process cannot log into a session that enables its providers (etwas_session_counts.unattached_code): the host
 * has no place, or no descriptor, for one more process, or this one may open no more files (ERROR_NO_SYSTEM_RESOURCES), no memory
 * (ERROR_NOT_ENOUGH_MEMORY); a time namespace in which the session's clock, QPC, shows something else
 * (ERROR_INVALID_FUNCTION); releases of the library, or processors, that differ too much (ERROR_NOT_SUPPORTED); buffers that are
 * another user's, or cannot be written to (ERROR_ACCESS_DENIED), or that cannot be what they say (ERROR_INVALID_DATA). It
 * tries again with each change that it is told of.
 */

/*
 * This process takes part from here on, whatever ETWAS_SHARED and etwas_share_nothing say: sessions that enable its providers are attached to
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
 * This process, and its forks' children, do not take part by themselves from here on. To be called before the first provider is
 * registered and the first session started; then no thread, file or socket is made. etwas_share and ETWAS_SHARING_USER still do
 * what they say. Thread-safe and async-signal-safe.
 *
 * Errors: ERROR_ALREADY_INITIALIZED, it takes part already, and goes on; its forks' children do not.
 */
uint32_t etwas_share_nothing(void) ETWAS_API(etwas_share_nothing);

/*
 * Whether this process takes part. ERROR_SUCCESS: it does, no session of its had to do without, and its providers log into every
 * session that enables them. ERROR_NOT_FOUND: nothing was
 * tried yet. ERROR_CANCELLED: it does not by itself. Else why it was refused last: errors of etwas_share, ERROR_DISK_FULL or
 * ERROR_NOT_ENOUGH_MEMORY (for the buffers of a session; etwas_crash_safe_refusal says it in a sentence); ERROR_NOT_SUPPORTED too where
 * a session's mode, its buffers' place or this system keeps it from being shared (etwas_session_counts.unshared says which); or why this
 * process cannot log into a session of another (see above). Thread-safe; not for signal handlers.
 */
uint32_t etwas_sharing_state(void) ETWAS_API(etwas_sharing_state);

/*
 * In which runtime folder others find a session, of this process or any that takes part; or, with NULL for the session, a
 * process by its id, as records have it (0: this one). Processes make their files in the first folder that they can have when they
 * begin to take part, so those that began before a login may have another one than those behind it. What fits into `room`
 * bytes, UTF-8, terminated. Thread-safe; not for signal handlers; reads files. Errors: ERROR_NOT_FOUND; ERROR_MORE_DATA,
 * processes of that id, in different PID namespaces, are in different folders; ERROR_INVALID_PARAMETER for NULL or no
 * room; ERROR_NO_SYSTEM_RESOURCES, no more files may be open; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_sharing_folder(const etwas_guid *session, uint32_t process_id, char *text,
                              size_t room) ETWAS_API(etwas_sharing_folder);

/*
 * What a provider calls itself (EventSetInformation with EventProviderSetTraits, which TraceLogging's do), of this process or any that takes
 * part: UTF-8, what fits into `room` bytes, terminated; empty: it is not known. Thread-safe; not for signal
 * handlers; reads files. Errors: ERROR_NOT_FOUND; ERROR_INVALID_PARAMETER for NULL or no room; where nobody is found who has
 * it, ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others: what a process says of its providers cannot be read, as it is
 * damaged or of another release.
 */
uint32_t etwas_provider_name(const etwas_guid *provider, char *text, size_t room)
    ETWAS_API(etwas_provider_name);

/*
 * The other way round: the GUIDs of the providers that are registered, in this process or any that takes part, and call
 * themselves so; letters of ASCII without regard to case. Writes up to `room` of them into guids[] (NULL only with a room of
 * 0), each once, and how many that are into *count. Thread-safe; not for signal handlers; reads files.
 * Errors: ERROR_NOT_FOUND; ERROR_MORE_DATA, there are more; ERROR_INVALID_PARAMETER for NULL or an empty name; with
 * *count set, 0 too, ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others: what a process says of its providers cannot be read, as
 * it is damaged or of another release.
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
