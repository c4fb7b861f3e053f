/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions that span processes. In ETW the kernel provides this; these functions are not ETW's.
 *
 * The processes of one user that take part in sharing find each other in the user's runtime
 * folders. These are $ETWAS_RUNTIME_DIR, else $XDG_RUNTIME_DIR/etwas, /run/user/UID/etwas and
 * /dev/shm/etwas-UID, with mode 0700. A process makes its files in the first folder that it can
 * have when it begins to take part. It looks for other processes in all of these folders, and in
 * folders that only the environment of other processes names. If ETWAS_RUNTIME_DIR is set, it uses
 * that folder alone.
 *
 * A shared session is hosted by the process that started it, and ends with that process. Providers
 * of all processes that take part log into its buffers as soon as the session enables them.
 * Controllers in all of them control it by its name.
 *
 * A process takes part by itself as soon as it registers its first provider, starts its first
 * session by StartTrace, requests a session or a provider that is not its own, or opens a trace of
 * one. From then on it has one sleeping thread (`etwas-control`) and two files in the folder, one
 * of which is a socket. Before that it has neither. A process does not take part by itself if
 *
 *     ETWAS_SHARED in its environment is 0,
 *     it has called etwas_share_nothing,
 *     it runs with another user's rights (AT_SECURE), because that user's folder and the
 *     environment are not trusted, or
 *     the library was built with -DETWAS_SHARING=OFF.
 *
 * Then no thread or file is made, and its sessions are its own. The same holds, without an error,
 * if no folder belongs to the user alone, no memory can be shared between processes, or there are
 * no more threads or files; etwas_sharing_state says why. etwas_start starts sessions of this
 * process alone unless its options say otherwise.
 */
#ifndef ETWAS_SHARED_H
#define ETWAS_SHARED_H

#include <etwas/types.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* The processes that may log into a session of etwas_start: etwas_session_options.sharing. */
#define ETWAS_SHARING_NONE 0u /* this process alone */
/*
 * Providers of all processes of this user that take part. The session's buffers lie in a file
 * without a name (as with ETWAS_CRASH_SAFE_MEMFD), which each process maps. The start returns
 * ERROR_NOT_SUPPORTED with retention classes, numbered messages, one slot for all processors or
 * private modes, and without restartable sequences.
 */
#define ETWAS_SHARING_USER 1u
/*
 * Only this process logs into the session. A request for snapshots of all recorders of the user
 * (etwas_snapshot_all, a propagated trigger) includes it. Shared recorders are included in any
 * case. The name of the session stays free for others, and no other process controls it. The
 * process takes part in sharing from then on. The start returns ERROR_NOT_SUPPORTED if the session
 * is not a recorder (EVENT_TRACE_BUFFERING_MODE), and the errors of etwas_share.
 */
#define ETWAS_SHARING_SNAPSHOTS 2u

/*
 * The reason why no other process logs into a session: etwas_session_counts.unshared. If the
 * session was to be shared, other processes can still find and control it, except for the last
 * reason.
 */
#define ETWAS_UNSHARED_NOT 0u   /* they do, as soon as it enables their providers */
#define ETWAS_UNSHARED_ASKED 1u /* it was started for its process alone */
/*
 * A mode of StartTrace restricts it to one process: numbered messages, one slot for all processors,
 * or EVENT_TRACE_FILE_MODE_APPEND.
 */
#define ETWAS_UNSHARED_MODE 2u
/* The process cannot run restartable sequences, or there are too many processors. */
#define ETWAS_UNSHARED_SEQUENCES 3u
/*
 * Its buffers lie in a folder that is not in memory (EVENT_TRACE_ADDTO_TRIAGE_DUMP). That disk
 * would delay every process that logs.
 */
#define ETWAS_UNSHARED_DISK 4u
#define ETWAS_UNSHARED_MEMORY 5u /* no memory for the buffers can be shared between processes */
#define ETWAS_UNSHARED_HIDDEN 6u /* its process cannot be found: etwas_sharing_state says why */

/*
 * The reason why a process cannot log into a session that enables its providers
 * (etwas_session_counts.unattached_code). The process tries again after each change that it is
 * notified of.
 *
 * ERROR_NO_SYSTEM_RESOURCES: the host has no place or no descriptor for one more process, or this
 *   process may open no more files.
 * ERROR_NOT_ENOUGH_MEMORY: there is no memory.
 * ERROR_INVALID_FUNCTION: the process is in a time namespace in which QPC, the session's clock,
 *   differs.
 * ERROR_NOT_SUPPORTED: the releases of the library, or the processors, differ too much.
 * ERROR_ACCESS_DENIED: the buffers belong to another user, or cannot be written to.
 * ERROR_INVALID_DATA: the buffers are inconsistent.
 */

/*
 * Makes this process take part in sharing from now on, regardless of ETWAS_SHARED and
 * etwas_share_nothing. Before it returns, the process is attached to the sessions that enable its
 * providers, if their hosts answer within 50 ms. For other sessions its events are counted
 * (lost_unattached) until they answer. A fork's child takes part only when it calls this function
 * or registers a provider. The call makes some system calls and, the first time, a thread. Call it
 * before a sandbox forbids that. Thread-safe; not async-signal-safe.
 *
 * ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED: no such folder belongs to the user alone.
 * ERROR_DISK_FULL: there is no space for the files.
 * ERROR_NO_SYSTEM_RESOURCES: there are no more threads or files.
 * ERROR_NOT_SUPPORTED: there is no /proc, or the library was built without sharing.
 */
uint32_t etwas_share(void) ETWAS_API(etwas_share);

/*
 * Keeps this process, and the children that it forks, from taking part by themselves from now on.
 * Call it before the first provider is registered and the first session is started: then no thread,
 * file or socket is made. etwas_share and ETWAS_SHARING_USER still work. Thread-safe and
 * async-signal-safe.
 *
 * ERROR_ALREADY_INITIALIZED: the process takes part already, and continues to. The children that it
 *   forks do not.
 */
uint32_t etwas_share_nothing(void) ETWAS_API(etwas_share_nothing);

/*
 * Returns whether this process takes part in sharing. Thread-safe; not async-signal-safe.
 *
 * ERROR_SUCCESS: it takes part, none of its sessions failed to be shared, and its providers log
 *   into every session that enables them.
 * ERROR_NOT_FOUND: nothing has been tried yet.
 * ERROR_CANCELLED: it does not take part by itself.
 * ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY: the last refusal was for the buffers of a session;
 *   etwas_crash_safe_refusal gives a sentence.
 * ERROR_NOT_SUPPORTED: a session's mode, the place of its buffers or this system prevents sharing
 *   (etwas_session_counts.unshared says which).
 *
 * Any other value is the code of the last refusal: an error of etwas_share, or the reason why this
 * process cannot log into a session of another process (see above).
 */
uint32_t etwas_sharing_state(void) ETWAS_API(etwas_sharing_state);

/*
 * Finds the runtime folder of a session, of this process or of any that takes part. If `session` is
 * NULL, it finds the folder of a process by its id, as records have it (0: this process). A process
 * makes its files in the first folder that it can have when it begins to take part. Therefore a
 * process that began before a login may have another folder than later ones. `text` receives as
 * much of the path as fits into `room` bytes, in UTF-8 and terminated. The function reads files.
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_NOT_FOUND: there is no such session or process.
 * ERROR_MORE_DATA: processes with that id, in different PID namespaces, are in different folders.
 * ERROR_INVALID_PARAMETER: `text` is NULL or `room` is 0.
 * ERROR_NO_SYSTEM_RESOURCES: no more files may be open.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_sharing_folder(const etwas_guid *session, uint32_t process_id, char *text,
                              size_t room) ETWAS_API(etwas_sharing_folder);

/*
 * Finds the name that a provider gave itself (EventSetInformation with EventProviderSetTraits,
 * which TraceLogging's providers call), or that a description of one of its classes has
 * (etwas_describe_class). The provider is one of this process or of any that takes part. If none
 * states a name, it is the one with which a shared session enables this GUID
 * (ETWAS_FILTER_TYPE_PROVIDER_NAME), which may be a pattern. `text` receives as much of the name as
 * fits into `room` bytes, in UTF-8 and terminated; it is empty if the name is unknown. The function
 * reads files. Thread-safe; not async-signal-safe.
 *
 * ERROR_NOT_FOUND: no such provider is registered.
 * ERROR_INVALID_PARAMETER: a pointer is NULL or `room` is 0.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others: no provider was found, and the data of a
 *   process about its providers cannot be read, because they are damaged or of another release.
 */
uint32_t etwas_provider_name(const etwas_guid *provider, char *text, size_t room)
    ETWAS_API(etwas_provider_name);

/*
 * Finds the GUIDs of the registered providers with a name, in this process and in those that take
 * part. The name may be a pattern (ETWAS_FILTER_TYPE_PROVIDER_NAME). ASCII letters compare without
 * regard to case. `guids` receives up to `room` of them, each once; it may be NULL only if `room`
 * is 0. *count receives their number. The function reads files.
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_NOT_FOUND: there is none.
 * ERROR_MORE_DATA: there are more than `room`.
 * ERROR_INVALID_PARAMETER: a pointer is NULL, or the name is empty.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others, with *count set, which may be 0: the data of
 *   a process about its providers cannot be read, because they are damaged or of another release.
 */
uint32_t etwas_provider_guids(const char *name, etwas_guid *guids, uint32_t room, uint32_t *count)
    ETWAS_API(etwas_provider_guids);

ETWAS_END_DECLS

#endif
