/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Test points: named points after the observable steps of shared publish and switch, and of flush,
 * where a test can hold a thread or count passes; and invariants, checked where their data change.
 * They exist in the library that the tests link (ETWAS_TESTPOINTS) and cost nothing, not even a
 * branch, in every other build.
 *
 * A source that names ETWAS_TESTPOINTS or a test point, or includes a header that does, is compiled
 * a second time for that library. To keep these few, headers make no declaration depend on it.
 */
#ifndef ETWAS_PLATFORM_TESTPOINT_H
#define ETWAS_PLATFORM_TESTPOINT_H

#include <stdbool.h>

enum etwas_testpoint {
    ETWAS_POINT_RESERVE_LOADED,    /* the slot word is read, nothing reserved */
    ETWAS_POINT_STAMPED,           /* the stamp is announced, nothing reserved */
    ETWAS_POINT_RESERVED,          /* the record's bytes are reserved, nothing written */
    ETWAS_POINT_WRITTEN,           /* the record is written, its marker not */
    ETWAS_POINT_MARKED,            /* the marker is stored, the commit not counted */
    ETWAS_POINT_SWITCH_ENTERED,    /* on the slow path, nothing claimed */
    ETWAS_POINT_SWITCH_FOUND_FREE, /* a free buffer's bit is taken, the buffer is not claimed */
    ETWAS_POINT_SWITCH_TOOK_FREE,  /* a free buffer is claimed, and still counted as free */
    ETWAS_POINT_SWITCH_GREW,       /* one more buffer is counted as allocated, without an owner */
    ETWAS_POINT_SWITCH_FOUND_NONE, /* no buffer is available, the event is not counted lost */
    ETWAS_POINT_SWITCH_CLAIMED,    /* a buffer is claimed, not installed */
    ETWAS_POINT_SWITCH_NAMED,      /* the claimed buffer has its ticket, it is not installed */
    ETWAS_POINT_SWITCH_INSTALLED,  /* the new buffer is current, the old one not retired */
    ETWAS_POINT_FREE_COUNTED,      /* the flusher has read which buffers are free */
    ETWAS_POINT_WAKING,            /* sleeping threads are about to be woken */
    ETWAS_POINT_COLLECT_LOOKED,    /* a flush has read how full a current buffer is */
    ETWAS_POINT_SNAPSHOT_PINNED,   /* the snapshot holds one buffer */
    ETWAS_POINT_SNAPSHOT_COPIES,   /* the snapshot is about to copy a current buffer */
    ETWAS_POINT_CLOCK_READ,        /* a reading of the clocks has read one, and not the next */
    ETWAS_POINT_FILTER_FOUND,      /* a writer has found a filter, and not read it */
    ETWAS_POINT_ENABLE_ASKED,      /* requests are queued for callbacks, and none has run */
    ETWAS_POINT_SYSTEM_DRAINS,     /* the kernel's rings are about to be read */
    ETWAS_POINT_SYSTEM_QUIESCES,   /* the same, while the machine is scanned */
    /* a session of the own process has listed the threads to watch, and does not watch them yet */
    ETWAS_POINT_THREADS_LISTED,
    ETWAS_POINT_REGISTRY_CREATED,    /* a file is made, and not locked */
    ETWAS_POINT_REGISTRY_FOUND_FREE, /* a place is free for a file, which does not have it */
    ETWAS_POINT_REGISTRY_FOUND_DEAD, /* a file is dead, and no process has claimed its removal */
    ETWAS_POINT_REGISTRY_REMOVES,    /* a process has claimed the removal, and not removed it */
    ETWAS_POINT_COUNT
};

typedef void (*etwas_testpoint_hook)(enum etwas_testpoint point);

/* Sets a function that is called at every test point; NULL: none. */
void etwas_testpoint_set(etwas_testpoint_hook hook);
void etwas_testpoint_reached(enum etwas_testpoint point);

/* Set by a test that breaks invariants on purpose: they are not checked then. */
extern bool etwas_invariants_are_broken;

_Noreturn void etwas_invariant_broken(const char *condition, const char *file, int line);

#ifdef ETWAS_TESTPOINTS

#define ETWAS_TESTPOINT(point) etwas_testpoint_reached(point)

/* Ends the process where an invariant is broken. */
#define ETWAS_INVARIANT(condition)                                                                 \
    (etwas_invariants_are_broken || (condition)                                                    \
         ? (void)0                                                                                 \
         : etwas_invariant_broken(#condition, __FILE__, __LINE__))

/*
 * The thread holds a lock under which it must touch no file: waiting for a disk, or for another
 * process, would delay every controller. The tests' system calls check this
 * (tests/support/file_calls.c).
 */
extern __thread bool etwas_files_are_forbidden;
#define ETWAS_FILES_FORBIDDEN(forbidden) ((void)(etwas_files_are_forbidden = (forbidden)))

#else

#define ETWAS_FILES_FORBIDDEN(forbidden) ((void)0)

#define ETWAS_INVARIANT(condition) ((void)0)

#define ETWAS_TESTPOINT(point) ((void)0)

#endif

#endif
