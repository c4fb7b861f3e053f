/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parts of the preload library, from the program inwards:
 *
 *   calls.c    the ten allocation functions: call the real one, log the call
 *   leave.c    _exit and exec: finish the trace first
 *   session.c  the etwas session: early calls, start, log, fork, stop
 *   event.c    the class of the events, and what one carries
 *   stack.c    the program's call stack; frame_rule.c: what call frame information says of an
 *              address
 *   image.c    the images that stacks come to
 *   counts.c   how many calls there were
 *   wrap.c     what the etwas library inside this one asks of the system
 *   real.c     the functions behind ours
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
    HEAPTRACE_IMAGE, /* no call: where a stack's addresses lie */
    HEAPTRACE_TYPES = HEAPTRACE_IMAGE - HEAPTRACE_FIRST_TYPE + 1
};

/* One call of the program, and the data of its event. */
struct heaptrace_call {
    uint64_t size; /* bytes asked for; count times size, UINT64_MAX where that overflows; free: 0 */
    uint64_t address; /* the result, 0 for NULL; free: what is freed */
    uint64_t third;   /* realloc and reallocarray: old address; with alignment: alignment */
    uint8_t type;     /* enum heaptrace_type; not part of the data */
};

enum {
    HEAPTRACE_SHORT_DATA_BYTES = 16, /* size and address */
    HEAPTRACE_LONG_DATA_BYTES = 24   /* and the third */
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

/* What the library knows of a thread. Only the thread itself and its signal handlers look at it. */
struct heaptrace_thread {
    unsigned int own;          /* above 0: allocations are the library's own and not logged */
    unsigned int in_allocator; /* above 0: a real function is running, perhaps under a lock */
    bool searching;            /* real.c */
    struct heaptrace_counters *counters;
    bool in_stack;      /* stack.c: the next two are in use */
    uint64_t stack_low; /* what was found to be readable */
    uint64_t stack_high;
};

/* Initial-exec: found without a call, and there before the program's first instruction. */
extern _Thread_local struct heaptrace_thread heaptrace_thread
    __attribute__((tls_model("initial-exec")));

/* Logs a call, if a session runs or is still to come. Keeps errno. Async-signal-safe. */
void heaptrace_log(const struct heaptrace_call *call);

/* Logs an image, for a call that is being logged. Async-signal-safe. */
void heaptrace_log_image(const struct heaptrace_image *image);

/* What the process was executed from; empty where that is not known. */
const char *heaptrace_program_path(void);

/* An image has gone, and another one may come where it was. */
void heaptrace_image_closed(void);

/*
 * Ends the session, for this process is about to end or to become another program. Does nothing
 * where there is none, in a child of vfork, and where this thread was interrupted inside an
 * allocator whose locks ending the session could need. True when it has ended a session.
 */
bool heaptrace_session_end(void);

/*
 * Starts a further session, in a file of its own: what the program was to become could not be run.
 */
void heaptrace_session_resume(void);

#endif
