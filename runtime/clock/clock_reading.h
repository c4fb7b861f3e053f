/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Clock readings: the three clocks at one moment, with error bounds.
 *
 * The performance counter is read before and after the two others:
 *
 *     q0  cycle counter  q1  system time  q2
 *
 * When the cycle counter was read, the performance counter was between q0 and q1, however long the
 * thread was preempted in between. So qpc_ns is their middle, and half of q1 − q0 is the bound. The
 * system time belongs to a moment between q1 and q2. No rate has to be known for this. The attempt
 * with the narrowest bounds is returned.
 *
 *     q0 = 1000, q1 = 1040, q2 = 1090: qpc_ns = 1020, the counter's bound 20 ns; the system time
 *        was read 45 ± 25 ns later. If it was 777,780 ns, it was 777,735 ± 25 at qpc_ns: FILETIME
 *        7,777 with a bound of 25 + 35 ns. A session with that clock would have stamped 7,777, cut
 *        off from something less than 100 ns later, and at most 70 ns after qpc_ns.
 */
#ifndef ETWAS_CLOCK_CLOCK_READING_H
#define ETWAS_CLOCK_CLOCK_READING_H

#include <stdint.h>

struct etwas_clock_reading {
    int64_t tsc;
    int64_t qpc_ns;
    int64_t filetime;     /* the system time at qpc_ns, rounded */
    int64_t system_stamp; /* the stamp of a session with that clock at this moment, truncated */
    /*
     * How long the machine has been suspended since it booted (CLOCK_BOOTTIME − CLOCK_MONOTONIC):
     * the same in each reading of the process until it is suspended again.
     */
    int64_t suspended_ns;
    uint32_t tsc_error_ns;      /* QPC was within this of qpc_ns when the counter was `tsc` */
    uint32_t filetime_error_ns; /* the system time was within this of `filetime` at qpc_ns */
    uint32_t stamp_error_ns;    /* QPC was within this of qpc_ns when it was `system_stamp` */
};

/* Reads all clocks. Takes some microseconds. Async-signal-safe. */
struct etwas_clock_reading etwas_clock_read_together(void);

/* Returns the stamp of clock `kind` in a reading. */
int64_t etwas_clock_reading_stamp(const struct etwas_clock_reading *reading, uint32_t kind);

/* Returns the system time that belongs to that stamp. */
int64_t etwas_clock_reading_filetime(const struct etwas_clock_reading *reading, uint32_t kind);

/*
 * Return how close qpc_ns and that system time are to the moment when clock `kind` showed its
 * stamp.
 */
uint32_t etwas_clock_reading_qpc_error_ns(const struct etwas_clock_reading *reading, uint32_t kind);
uint32_t etwas_clock_reading_filetime_error_ns(const struct etwas_clock_reading *reading,
                                               uint32_t kind);

/* Added to the time suspended, in ns, so that tests can suspend the machine. Stored atomically. */
extern uint64_t etwas_clock_suspended_step_ns;

/*
 * A session's clock readings in memory: the first one, all of the newest, and fewer of the older
 * ones the older they are.
 *
 * The memory is bounded: when it is full, every second reading of its older half is dropped. After
 * hours at one reading a second the last two minutes are complete, the two before have every second
 * reading, and so on.
 *
 * Only the thread with the session's role calls these functions, which are not thread-safe, except
 * etwas_clock_history_copy, which may be called at any time.
 */

enum {
    ETWAS_CLOCK_HISTORY_READINGS = 256
};

/* Interval between two readings of a running session. Tests set another before it starts. */
#define ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS UINT64_C(1000000000)
extern uint64_t etwas_clock_snapshot_interval_ns;

struct etwas_clock_history {
    uint32_t count; /* 0: the session has not started */
    uint32_t thins_begun;
    uint32_t thins_ended;
    struct etwas_clock_reading readings[ETWAS_CLOCK_HISTORY_READINGS]; /* the oldest first */
};

void etwas_clock_history_begin(struct etwas_clock_history *history,
                               const struct etwas_clock_reading *started);
void etwas_clock_history_add(struct etwas_clock_history *history,
                             const struct etwas_clock_reading *reading);

/*
 * Copies the history without the session's role, even while the owner changes it or was stopped
 * during a change. While older readings are being dropped, which is rare, the copy has only the
 * first reading. Async-signal-safe.
 */
void etwas_clock_history_copy(struct etwas_clock_history *copy,
                              const struct etwas_clock_history *history);

#endif
