/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_SCHEDULE_H
#define ETWAS_TOOLS_KERNEL_SCHEDULE_H

/*
 * The times of threads and processors, from the kernel's context switches: running, ready and
 * waiting time for each thread, busy and idle time for each processor.
 *
 * On a processor, the thread that gives way must be the one that was switched to before. Otherwise
 * a switch is missing. The time since the previous switch is then unknown for the processor and for
 * the two threads, and so is the ready time of a ready thread. If the trace states that events of
 * the processor were lost, the time from its last event before the loss to its first one after it
 * is unknown. The thread that was switched to ran until the former. The thread that gives way next
 * has run since the latter.
 *
 * A thread that waited during a gap, on any processor, may have been woken and have run, so that
 * part of its time is unknown. Its waiting is counted if it ended before the gap was found, at the
 * processor's next event. Before its first switch a processor ran the thread that gives way there,
 * since the trace began. After its last switch it runs the thread that was switched to, until the
 * trace ends. If the trace lacks events from its beginning, or to its end, that time is unknown.
 *
 * A thread is ready if it was preempted. It is also ready if it was woken and the trace has the
 * events for that (ReadyThread); without them it still waits. A thread that existed before the
 * trace waited until it was first seen.
 *
 * A session that records its own process alone has one side of each switch: the thread of the
 * process that starts or stops running. The other side is 0. So the other work of a processor is
 * unknown, although it counts as idle here. Only the end event of a thread shows that it ends.
 * Nothing is known of a thread without a switch.
 *
 * Memory is bounded: beyond ETWAS_SCHEDULE_THREADS threads, only the sum of running times is known.
 */

#include "kernel/kernel.h"
#include "math/hash_index.h"

#include <stddef.h>

enum {
    ETWAS_SCHEDULE_PROCESSORS = 65536, /* all values of a record's processor index */
    ETWAS_SCHEDULE_THREADS = 1 << 20,
};

enum etwas_schedule_state {
    ETWAS_SCHEDULE_UNKNOWN,
    ETWAS_SCHEDULE_RUNNING,
    ETWAS_SCHEDULE_READY,
    ETWAS_SCHEDULE_WAITING,
    ETWAS_SCHEDULE_ENDED,
    ETWAS_SCHEDULE_STATES
};

struct etwas_schedule_thread {
    uint32_t thread;
    uint32_t process;
    bool has_process;
    bool ends; /* its end was recorded: at its next switch it is gone, and the id may be reused */
    bool ran_at_begin;
    bool ran_at_end;
    uint16_t processor; /* where it runs, or ran last */
    enum etwas_schedule_state state;
    int64_t since_ns;
    int64_t last_ns;                    /* when it was last known to exist */
    uint32_t life;                      /* which of several processes with its id (processes.h) */
    uint64_t gap_ns;                    /* the schedule's gap_ns at since_ns */
    uint64_t ns[ETWAS_SCHEDULE_STATES]; /* times in each state, up to since_ns */
    uint64_t switches;                  /* times that it was switched to */
    uint64_t preemptions;               /* times that it was preempted */
};

struct etwas_schedule_processor {
    bool seen;
    uint32_t running; /* 0: idle */
    int64_t since_ns;
    uint64_t busy_ns;
    uint64_t idle_ns;
    uint64_t unknown_ns;
    uint64_t switches;
    uint64_t gaps;      /* number of places where a switch is missing */
    int64_t gap_end_ns; /* end of the last gap or loss */
};

struct etwas_schedule;

/*
 * Called for each interval that a thread was in a state. `event` ended the interval; NULL if the
 * end of the trace did. Intervals of one thread come in order. If one event ends two, the thread
 * that gave way comes before the one that was switched to.
 */
typedef void etwas_schedule_interval(void *context, const struct etwas_schedule_thread *thread,
                                     enum etwas_schedule_state state, int64_t from_ns,
                                     int64_t to_ns, const struct etwas_kernel_event *event);

/* Called for a time in which a processor's activity is not known. */
typedef void etwas_schedule_unknown(void *context, uint32_t processor, int64_t from_ns,
                                    int64_t to_ns);

struct etwas_schedule {
    etwas_schedule_interval *interval; /* NULL: not called */
    etwas_schedule_unknown *unknown;   /* likewise */
    void *context;
    const struct etwas_kernel_event *event; /* the current event */
    bool begins_late;                       /* events at the trace's beginning are missing */
    bool ends_early;                        /* events at its end are missing */
    bool began;
    bool has_ready_events;
    bool is_own; /* the trace records `own_process` alone */
    uint32_t own_process;
    bool out_of_memory;
    int64_t begin_ns; /* times of the first and last event */
    int64_t end_ns;
    int64_t gap_end_ns;                          /* end of the last gap on any processor */
    uint64_t gap_ns;                             /* all gaps so far */
    struct etwas_schedule_processor *processors; /* ETWAS_SCHEDULE_PROCESSORS of them */
    struct etwas_schedule_thread *threads;
    uint32_t thread_count;
    size_t thread_capacity;
    struct etwas_hash_index places; /* index of the last thread of each id */
    uint64_t other_running_ns;      /* for threads beyond the limit */
    uint64_t other_switches;
};

/* Returns false without memory. */
bool etwas_schedule_open(struct etwas_schedule *schedule);

/* Sets the time to that of an event of any kind. Times must not decrease. */
void etwas_schedule_time(struct etwas_schedule *schedule, int64_t time_ns);

/* Adds an event at the time set last. */
void etwas_schedule_add_record(struct etwas_schedule *schedule,
                               const struct etwas_kernel_event *event);

/* Ends the trace: current states are counted up to its last event. */
void etwas_schedule_finish(struct etwas_schedule *schedule);

/*
 * Notes that a process executes another program: its thread counts as another one from now on.
 * `processor` is where it ran, or UINT32_MAX.
 */
void etwas_schedule_exec(struct etwas_schedule *schedule, uint32_t thread, uint32_t processor);

/*
 * Notes that a thread logs an event, so it is running; a new one has been since the trace began.
 * Returns NULL if there are too many threads.
 */
struct etwas_schedule_thread *etwas_schedule_runs(struct etwas_schedule *schedule, uint32_t thread);

/*
 * Finds how long a thread was in each state up to a time, which must be at or after its last
 * switch.
 */
void etwas_schedule_account(const struct etwas_schedule *schedule,
                            const struct etwas_schedule_thread *thread, int64_t time_ns,
                            uint64_t ns[ETWAS_SCHEDULE_STATES]);

/*
 * Returns how much of the time since a thread's last switch it may have been in another state than
 * its own.
 */
uint64_t etwas_schedule_doubtful_ns(const struct etwas_schedule *schedule,
                                    const struct etwas_schedule_thread *thread, int64_t time_ns);

/* Returns the thread that has the id now; NULL if none is known. */
struct etwas_schedule_thread *etwas_schedule_find(const struct etwas_schedule *schedule,
                                                  uint32_t thread);

void etwas_schedule_close(struct etwas_schedule *schedule);

#endif
