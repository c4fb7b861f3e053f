/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session of this process, and processes that are its guests and log numbers into it; and what
 * its file has of these.
 */
#ifndef ETWAS_TESTS_SHARED_GUESTS_H
#define ETWAS_TESTS_SHARED_GUESTS_H

#include "session/fixture.h"
#include "shared/join.h"

enum {
    GUESTS = 8,        /* processes at a time */
    GUEST_LOGGERS = 3, /* threads of each that log in bursts; all but the first run no sequences */
    GUEST_HANDLER = GUEST_LOGGERS, /* what a handler logs that interrupts the first */
    GUEST_THREADS,
    GUEST_LIVES = 8192, /* processes in all */
};

struct etwas_session;

struct hosted {
    etwas_trace_handle session;
    int descriptor; /* of its mapping, opened anew */
};

/*
 * The setup and teardown of a group: the registry is in a folder of this program's own, and a guest
 * that stands still in the midst of a record, as on a busy machine, is waited for.
 */
#define GUEST_TIMEOUT_NS (UINT64_C(60) * 1000000000)
int hosts_setup(void **state);
int hosts_teardown(void **state);

/* Skips the test where sessions have no sequences, and so no guests. */
void host_or_skip(void);

/* `file` NULL: none. */
void host_start(struct hosted *hosted, const char *name, const char *file,
                const etwas_session_options *options);

/* Why a session with these options cannot be shared. */
uint32_t host_refusal(const etwas_session_options *options);

/* The role of its session, until etwas_lifecycle_release_role. */
struct etwas_session *host_take_role(const struct hosted *hosted);

/* A guest's slot for one more; and what has to be done once that process is dead. */
uint32_t host_take_slot(const struct hosted *hosted);
void host_reap(const struct hosted *hosted, uint32_t number);

/* The same, left to the flusher. */
void host_died(const struct hosted *hosted, uint32_t number);

/*
 * All guests are dead, and what they left is put right: each buffer of their slots is current, or
 * full and complete.
 */
void host_expect_none_leaked(const struct hosted *hosted);

/* Stops it. */
void host_stop(struct hosted *hosted, etwas_session_counts *counts);

/* ---- guests ---------------------------------------------------------------------------------- */

/* What a guest does before it can join: as a program that registers a provider. */
void guest_prepare(void);

/*
 * Joins at the first guest's entry; returns the handle to log with; 0: the session has ended. A
 * child calls it.
 */
etwas_trace_handle guest_join(int descriptor, uint32_t number, struct etwas_shared_guest *guest);

/*
 * The calling thread can run no sequences any more: its events go to the guest's own slot. A child
 * calls it.
 */
void guest_unregister(void);

/* What one thread of a guest tells, in memory that it shares with the host. */
struct guest_tally {
    uint64_t attempted; /* counted before the call */
    uint64_t recorded;  /* after it */
    uint64_t lost;
    uint64_t refused; /* the session did not run */
    uint64_t odd;     /* anything else */
    uint32_t process_id;
    uint32_t thread_id;
} __attribute__((aligned(64)));

struct guest_board {
    uint32_t quit;        /* after the burst */
    uint32_t has_handler; /* a timer interrupts the first thread of each guest */
    uint32_t dawdles;     /* a thread that runs no sequences does, between the steps of the
                           * shared protocol */
    uint32_t has_payload; /* behind the number are so many bytes as follows from it, and which */
    struct {
        struct guest_tally threads[GUEST_THREADS];
        uint32_t inside; /* threads in a burst */
    } lives[GUEST_LIVES];
};

struct guest_board *guest_board_new(void);
void guest_board_free(struct guest_board *board);

/*
 * Logs so many numbers: those of a thread of a life, in order. A lost one is tried again later.
 */
void guest_log(etwas_trace_handle session, struct guest_board *board, uint32_t life,
               uint32_t thread, uint64_t count);

/* The next number once, whatever becomes of it; returns what the call did. */
uint32_t guest_attempt(etwas_trace_handle session, struct guest_board *board, uint32_t life,
                       uint32_t thread);

/*
 * A guest process that joins and logs in bursts from its threads until it is killed, or told to
 * quit.
 */
int guest_process(const struct hosted *hosted, struct guest_board *board, uint32_t life,
                  uint32_t number);

struct guest_sum {
    uint64_t attempted;
    uint64_t recorded;
    uint64_t lost;
    uint64_t threads;
};

struct guest_sum guest_sum(const struct guest_board *board, uint32_t lives);

/*
 * The file has what each thread was told is recorded, in order and once, with its process and
 * thread; `slack`: of each thread perhaps one more, since it may have been killed before it was
 * told; `missing`: so many of them all may not be there. Returns how many events are there.
 */
uint64_t guest_expect_file(const char *path, const struct guest_board *board, uint32_t lives,
                           bool slack, uint64_t missing);

#endif
