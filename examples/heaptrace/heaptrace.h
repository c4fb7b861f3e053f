/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parts of the preload library, from the program inwards:
 *
 *   calls.c    the ten allocation functions: call the real one, log the call
 *   leave.c    _exit and exec: finish the trace first
 *   session.c  the etwas session: early calls, start, log, fork, stop
 *   event.c    the class of the events, and their data
 *   stack.c    the program's call stack; frame_rule.c: how to find the caller's
 *              registers from call frame information
 *   image.c    the images that appear in stacks
 *   counts.c   how many calls there were
 *   wrap.c     the open and pthread_create of the etwas library inside this one
 *   real.c     the real functions, which ours call
 */
#ifndef ETWAS_HEAPTRACE_H
#define ETWAS_HEAPTRACE_H

#include <stdbool.h>
#include <stdint.h>

#define HEAPTRACE_EXPORT __attribute__((visibility("default")))

/* Class.Type of the events. README.md has the table. */
enum heaptrace_type {
    HEAPTRACE_FIRST_TYPE = 10,
    HEAPTRACE_MALLOC = HEAPTRACE_FIRST_TYPE,
    HEAPTRACE_CALLOC,
    HEAPTRACE_REALLOC,
    HEAPTRACE_REALLOCARRAY,
    HEAPTRACE_FREE,
    HEAPTRACE_POSIX_MEMALIGN,
    HEAPTRACE_ALIGNED_ALLOC,
    HEAPTRACE_MEMALIGN,
    HEAPTRACE_VALLOC,
    HEAPTRACE_PVALLOC,
    HEAPTRACE_IMAGE, /* not a call: the mapping of an image */
    HEAPTRACE_TYPES = HEAPTRACE_IMAGE - HEAPTRACE_FIRST_TYPE + 1
};

/* One call of the program, and the data of its event. */
struct heaptrace_call {
    uint64_t size;    /* bytes requested; UINT64_MAX if count times size overflows; free: 0 */
    uint64_t address; /* the result, 0 for NULL; free: what is freed */
    uint64_t third;   /* realloc and reallocarray: old address; with alignment: alignment */
    uint8_t type;     /* enum heaptrace_type; not part of the data */
};

enum {
    HEAPTRACE_SHORT_DATA_BYTES = 16, /* size and address */
    HEAPTRACE_LONG_DATA_BYTES = 24   /* and `third` */
};

/* A mapped program or library. */
struct heaptrace_image {
    uint64_t base;
    uint64_t bytes;
    const uint8_t *build_id; /* in the image itself */
    const char *path;
    uint8_t build_id_bytes; /* 0: it has none */
};

struct heaptrace_counters;

/* What the library keeps for a thread. Only the thread itself and its signal handlers use it. */
struct heaptrace_thread {
    unsigned int own;          /* above 0: allocations are the library's own and not logged */
    unsigned int in_allocator; /* above 0: a real function is running, perhaps under a lock */
    bool searching;            /* real.c: a search is under way */
    struct heaptrace_counters *counters;
    bool in_stack;      /* stack.c: the next two are in use */
    uint64_t stack_low; /* the range known to be readable */
    uint64_t stack_high;
};

/* Initial-exec: accessed without a call, and present before the program's first instruction. */
extern _Thread_local struct heaptrace_thread heaptrace_thread
    __attribute__((tls_model("initial-exec")));

/* Logs a call if a session runs or is still to start. Keeps errno. Async-signal-safe. */
void heaptrace_log(const struct heaptrace_call *call);

/* Logs an image, for a call that is being logged. Async-signal-safe. */
void heaptrace_log_image(const struct heaptrace_image *image);

/* Returns the path of the program that the process executes; empty if it is not known. */
const char *heaptrace_program_path(void);

/* Called after an image was unloaded: another one may take its addresses. */
void heaptrace_image_closed(void);

/*
 * Ends the session, because this process is about to end or to become another program. Does nothing
 * if there is none, in a child of vfork, or if this thread was interrupted inside an allocator
 * whose locks the end could need. Returns true if it has ended a session.
 */
bool heaptrace_session_end(void);

/* Starts another session, in a file of its own, after an exec has failed. */
void heaptrace_session_resume(void);

#endif
