/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_CRASH_SAFE_H
#define ETWAS_CRASH_SAFE_H

/*
 * The places of the buffers of crash-safe sessions (etwas_session_options.crash_safe), and the
 * recovery of a log file from them when their process is gone. This header is a part of
 * <etwas/etwas.h>, which states what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * Says why the process's last start of a crash-safe session was refused for its folder or its
 * space, as a sentence. The text is empty if the start was not refused. `text` receives as much as
 * fits into `room` bytes, terminated. Returns the length of the whole text. Thread-safe; not
 * async-signal-safe.
 */
size_t etwas_crash_safe_refusal(char *text, size_t room) ETWAS_API(etwas_crash_safe_refusal);

/*
 * Reports the path of a crash-safe session's pool file, or of its memfd below /proc. `text`
 * receives as much as fits into `room` bytes, terminated. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_FOUND: the session is not crash-safe.
 */
uint32_t etwas_crash_safe_path(etwas_trace_handle session, char *text, size_t room)
    ETWAS_API(etwas_crash_safe_path);

/*
 * Lists the folders in which crash-safe sessions of this user put their pool files if their options
 * name none. A session takes the first that it can have. The folders of this process's environment
 * come first. Folders that only the environment of other processes names follow, if those processes
 * take part (shared.h). `index` counts from 0. A folder need not exist. `text` receives as much as
 * fits into `room` bytes, terminated. Thread-safe; not async-signal-safe.
 *
 * ERROR_NOT_FOUND: `index` is beyond the last folder.
 */
uint32_t etwas_crash_safe_folder(uint32_t index, char *text, size_t room)
    ETWAS_API(etwas_crash_safe_folder);

/*
 * The place of a crash-safe session's buffers, and its cost for writers.
 *
 * A file system on a disk continuously writes pages back. The next write to such a page is a page
 * fault of the writer, in which it may wait for the file system. Writers measure nothing. While
 * they log, the flusher thread makes some pages writable in their place, at most 160 a second, and
 * records how long that took. It dirties few pages, so the kernel does not throttle it. If the disk
 * is slower than the logging, writers wait longer than these values say.
 *
 * In a place in memory all members but the first three are 0. Byte counts are UINT64_MAX if the
 * kernel does not provide them (before Linux 6.5).
 */
typedef struct etwas_crash_safe_place {
    char file_system[32]; /* "tmpfs" (also a memfd), "ext4" (also 2 and 3), or "0x…" */
    bool in_memory;       /* no page is written back */
    uint64_t bytes;       /* size of the file */
    /* Bytes in pages that were written back: the next write to each such page is a page fault. */
    uint64_t clean_bytes;
    uint64_t writing_bytes; /* the part being written back now */
    /* Pages that the flusher has made writable since the session began. */
    uint64_t touches;
    /* The time that these took together, one system call each. */
    uint64_t touch_ns;
    uint64_t longest_touch_ns; /* the longest of these */
    uint64_t slow_touches;     /* touches that took a millisecond or more */
} etwas_crash_safe_place;

/* etwas_crash_safe_query_place with the size of the caller's struct. */
uint32_t etwas_crash_safe_query_place_sized(etwas_trace_handle session,
                                            etwas_crash_safe_place *place, size_t place_bytes)
    ETWAS_API(etwas_crash_safe_query_place_sized);

/*
 * Reports the place of a session's buffers. The call looks at the pages of the file, which takes
 * milliseconds for a large one. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: `place` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_FOUND: the session is not crash-safe.
 */
static inline uint32_t etwas_crash_safe_query_place(etwas_trace_handle session,
                                                    etwas_crash_safe_place *place)
{
    return etwas_crash_safe_query_place_sized(session, place, sizeof *place);
}

/*
 * The kind of a place. MEMFD, and MEMORY (a file in a memory file system), cost what memory costs.
 * DISK, a file in any other file system, costs a page fault for each page that was written back. On
 * a slow disk writers wait for it.
 */
#define ETWAS_PLACE_MEMFD 1
#define ETWAS_PLACE_MEMORY 2
#define ETWAS_PLACE_DISK 3

/* The data that a crash-safe session left, and the result of their recovery. */
typedef struct etwas_recovered {
    etwas_guid session;
    char session_name[1025]; /* UTF-8, truncated */
    char log_file[4096];     /* the log file it was writing; empty: none */
    uint32_t process_id;     /* in the PID namespace of the process that logged */
    uint32_t log_file_mode;
    /* The process continues: later events are not in the new file. It is false for a core file. */
    bool is_alive;
    /* The machine was restarted since, or it is another machine. */
    bool other_boot;
    uint64_t events;      /* in the new file, or that would be in it */
    uint64_t in_log_file; /* left out: the log file has them already */
    uint64_t overwritten; /* by newer ones, in buffering mode */
    uint64_t lost;        /* by the session, for any cause */
    /*
     * Committed, but not found: they follow a record that is damaged or that its writer did not
     * finish, or in missing buffers.
     */
    uint64_t unfinished;
    /* Descriptions that did not fit, or that are invalid. */
    uint64_t schemas_left_out;
    uint32_t buffers;         /* with events of the new file */
    uint32_t damaged_buffers; /* inconsistent from some point on */
    /* Buffers of a process that continues: they were reused while they were read. */
    uint32_t passed_buffers;
    /* Buffers with events that a core file, or a copy with holes, lacks. */
    uint32_t missing_buffers;
    /*
     * The session was accounting for some buffers: `overwritten` and `lost` may be wrong by the
     * events in these.
     */
    bool is_settling;
    /* Descriptions in the new file, which are events to a reader. */
    uint64_t schemas;
    /* ETWAS_PLACE_*: the place of the buffers during the session. 0: it is unknown. */
    uint32_t place;
    /* Its file system; see etwas_crash_safe_place for this and the following. */
    char file_system[32];
    uint64_t touches;          /* pages that the flusher made writable */
    uint64_t longest_touch_ns; /* the longest of these */
    uint64_t slow_touches;     /* those that took a millisecond or more */
    /*
     * The number of events that were logged to the session, by its own count. It is the sum of
     * `events`, `overwritten`, `lost`, `unfinished` and the events in its log files. It is as
     * inexact as these if the session was accounting for buffers (is_settling).
     */
    uint64_t attempted;
} etwas_recovered;

/* etwas_recover with the size of the caller's struct. */
uint32_t etwas_recover_sized(const char *source, uint32_t index, const char *output,
                             etwas_recovered *result, size_t result_bytes)
    ETWAS_API(etwas_recover_sized);

/*
 * Makes a log file, `output`, from what a crash-safe session has left. `source` is a pool file, a
 * file below /proc/PID/fd of a process of the same user, or an uncompressed core file. `index`
 * selects a session of a core file, from 0. The new file has mode 0600 and holds the events that
 * the session's log file lacks. If the process is dead and was not accounting for buffers, the file
 * states the attempted, lost and overwritten events of the whole session
 * (etwas_trace_information.ends). If `output` is NULL, the call only reports. The source is not
 * changed, and its writers are not delayed. Thread-safe; not async-signal-safe.
 *
 * ERROR_NOT_FOUND: `source` has fewer sessions, or that session had not begun.
 * ERROR_FILE_CORRUPT: `source` is neither a mapping nor a core file, or it is damaged.
 * ERROR_NOT_SUPPORTED: `source` has another version of the layout.
 * ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED: `source` cannot be opened, belongs to another user, or
 *   is a symbolic link.
 * ERROR_NO_SYSTEM_RESOURCES: no more files may be open.
 * ERROR_SHARING_VIOLATION: `output` is the source, or the session's log file.
 *
 * Other errors are those of creating and writing a log file. `is_alive` is also set if one of the
 * above is returned: it says whether a process has the mapping open.
 */
static inline uint32_t etwas_recover(const char *source, uint32_t index, const char *output,
                                     etwas_recovered *result)
{
    return etwas_recover_sized(source, index, output, result, sizeof *result);
}

ETWAS_END_DECLS

#endif
