/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_CRASH_SAFE_H
#define ETWAS_CRASH_SAFE_H

/*
 * Where crash-safe sessions (etwas_session_options.crash_safe) have their buffers, and how a log file is made of
 * them when their process is gone: a part of <etwas/etwas.h>, which says what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * Why the process's last start of a crash-safe session was refused for its folder or its space: a sentence, empty
 * if it was not. Copies what fits into `room` bytes, terminated; returns the whole length. Thread-safe; not for signal
 * handlers.
 */
size_t etwas_crash_safe_refusal(char *text, size_t room) ETWAS_API(etwas_crash_safe_refusal);

/*
 * Where the buffers of a crash-safe session are: the path of its pool file, or of its memfd below /proc. Copies what fits
 * into `room` bytes, terminated. ERROR_INVALID_HANDLE: it does not run. ERROR_NOT_FOUND: it is not crash-safe.
 * Thread-safe; not for signal handlers.
 */
uint32_t etwas_crash_safe_path(etwas_trace_handle session, char *text, size_t room)
    ETWAS_API(etwas_crash_safe_path);

/*
 * The folders in which crash-safe sessions of this user put their pool files, unless they name one; a session takes
 * the first that it can have. Behind those of this process's own environment come those that only the environment of
 * other processes names, if these have taken part (shared.h). `index` counts them from 0; they need not be there. Copies what fits into `room` bytes,
 * terminated. ERROR_NOT_FOUND: there are not so many. Thread-safe; not for signal handlers.
 */
uint32_t etwas_crash_safe_folder(uint32_t index, char *text, size_t room)
    ETWAS_API(etwas_crash_safe_folder);

/*
 * Where the buffers of a crash-safe session lie, and what that costs its writers.
 *
 * A file system on a disk writes pages back, all the time. The next write to such a page is a page fault of the writer,
 * in which it may wait for the file system. Writers measure nothing. But while they log, the flusher thread
 * makes some pages writable in their place, at most 160 a second, and notes how long that took. It dirties few pages, so
 * that the kernel does not make it wait for its own: where the disk is slower than what is logged, writers wait
 * longer than it says.
 *
 * Of a place in memory all but the first three are 0. Bytes are UINT64_MAX where the kernel does not say (before Linux 6.5).
 */
typedef struct etwas_crash_safe_place {
    char file_system[32]; /* "tmpfs" (a memfd too), "ext4" (2 and 3 too); or its number, "0x…" */
    bool in_memory;       /* nothing is written back */
    uint64_t bytes;       /* of the file */
    uint64_t clean_bytes; /* written back: the next write to each page there is a page fault */
    uint64_t writing_bytes;    /* of these, being written back now */
    uint64_t touches;          /* pages the flusher has made writable since the session began */
    uint64_t touch_ns;         /* how long these took together, a system call each */
    uint64_t longest_touch_ns; /* the longest of them */
    uint64_t slow_touches;     /* those that took a millisecond or more */
} etwas_crash_safe_place;

/* etwas_crash_safe_query_place, told how large the caller knows the struct. */
uint32_t etwas_crash_safe_query_place_sized(etwas_trace_handle session,
                                            etwas_crash_safe_place *place, size_t place_bytes)
    ETWAS_API(etwas_crash_safe_query_place_sized);

/*
 * Looks at the pages of the file: milliseconds for a large one. ERROR_INVALID_PARAMETER for NULL;
 * ERROR_INVALID_HANDLE: it does not run. ERROR_NOT_FOUND: it is not crash-safe. Thread-safe; not for signal handlers.
 */
static inline uint32_t etwas_crash_safe_query_place(etwas_trace_handle session,
                                                    etwas_crash_safe_place *place)
{
    return etwas_crash_safe_query_place_sized(session, place, sizeof *place);
}

/*
 * What the place of a session's buffers costs its writers. MEMFD and MEMORY, a file in a memory file system: what memory
 * costs. DISK, a file in any other: a page fault for each page that was written back, and on a slow disk they wait for it.
 */
#define ETWAS_PLACE_MEMFD 1
#define ETWAS_PLACE_MEMORY 2
#define ETWAS_PLACE_DISK 3

/* What a crash-safe session had left, and what became of it. */
typedef struct etwas_recovered {
    etwas_guid session;
    char session_name[1025]; /* UTF-8, cut */
    char log_file[4096];     /* that it was writing; empty: none */
    uint32_t process_id;     /* in the namespace of the process that logged */
    uint32_t log_file_mode;
    bool is_alive;   /* the process goes on: what comes later is not in it. Of a core file: false */
    bool other_boot; /* the machine was started anew, or is another one */
    uint64_t events; /* in the new file; without one those that would be */
    uint64_t in_log_file; /* that are left out: they are in the log file already */
    uint64_t overwritten; /* by newer ones, in buffering mode */
    uint64_t lost;        /* by the session, for whatever cause */
    uint64_t unfinished;  /* committed, and not found: they stand behind a record whose writer did
                                  not finish it, or that is damaged, or in buffers that are missing */
    uint64_t schemas_left_out; /* descriptions there was no room for, or that cannot be ones */
    uint32_t buffers;          /* with events of the new file */
    uint32_t damaged_buffers;  /* that cannot be what they say, from some place on */
    uint32_t passed_buffers; /* of a process that goes on: they were reused while they were read */
    uint32_t
        missing_buffers; /* with events, that a core file, or a copy with holes, does not have */
    bool is_settling;    /* it was booking what became of some buffers: `overwritten` and `lost` may
                                  be wrong by their events */
    uint64_t schemas;    /* descriptions in the new file, which are events to a reader */
    uint32_t place; /* ETWAS_PLACE_*: where the buffers lay while it logged; 0: it is not said */
    char file_system[32];      /* and on what; see etwas_crash_safe_place for this and the rest */
    uint64_t touches;          /* pages that the flusher made writable */
    uint64_t longest_touch_ns; /* of these */
    uint64_t slow_touches;     /* of these: took a millisecond or more */
    /* What the session was asked to record, by its own count: what its log files have of it, `events`, `overwritten`,
     * `lost` and `unfinished` are together so much. Wrong by as much as these, if it was booking. */
    uint64_t attempted;
} etwas_recovered;

/* etwas_recover, told how large the caller knows the struct. */
uint32_t etwas_recover_sized(const char *source, uint32_t index, const char *output,
                             etwas_recovered *result, size_t result_bytes)
    ETWAS_API(etwas_recover_sized);

/*
 * Makes a log file, `output`, of what a crash-safe session has left: of a pool file, a file below
 * /proc/PID/fd of a process of the same user, or a core file (not compressed), of whose sessions `index` counts, from 0.
 * It is a file of its own, 0600, which has what the session's log file does not have; it says what the whole session attempted,
 * has lost and overwritten (etwas_trace_information.ends), if the process is dead and was not booking.
 * NULL for `output` only looks.
 * The source is not changed, and nobody who writes to it is held up. Not for signal handlers; thread-safe.
 *
 * ERROR_NOT_FOUND: there are not so many sessions in it, or that one had not begun. ERROR_FILE_CORRUPT: it is neither
 * a mapping nor a core, or damaged. ERROR_NOT_SUPPORTED: of another version of the layout.
 * ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED: the source cannot be opened, is another user's or a symbolic link.
 * ERROR_NO_SYSTEM_RESOURCES: no more files may be open.
 * ERROR_SHARING_VIOLATION: `output` is the source, or the session's log file. Whether somebody has the mapping open,
 * `is_alive` says also where one of these is returned.
 * And those of creating and writing a log file.
 */
static inline uint32_t etwas_recover(const char *source, uint32_t index, const char *output,
                                     etwas_recovered *result)
{
    return etwas_recover_sized(source, index, output, result, sizeof *result);
}

ETWAS_END_DECLS

#endif
