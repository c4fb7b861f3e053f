/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The interface of the clock laboratory: what its parts know about a source and the processors, and
 * what each part measures for a report.
 *
 *     sources       what can be read, and how                          one thread, any processor
 *     cost          what a reading costs, warm and cold                one thread, pinned
 *     steps         how finely it counts                               one thread, pinned
 *     monotonicity  whether it ever runs backwards or stands still     threads, not pinned
 *     pairs         how far apart the processors are                   threads, pinned
 *     drift         how fast it runs against the kernel's clocks       one thread, not pinned
 *     verdict       what all that means, in sentences
 *
 * examine.c runs the parts one after the other on a thread of its own, which has all signals
 * blocked, as threads started by it have. No two parts run at once. A part fills its fields of a
 * zeroed report, takes about the time it is given, and preserves the calling thread's affinity.
 */
#ifndef ETWAS_CLOCK_LAB_LAB_H
#define ETWAS_CLOCK_LAB_LAB_H

#include <etwas/clocks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sources --------------------------------------------------------------------------------- */

struct etwas_lab_source {
    const char *name;      /* as in the report */
    int64_t (*read)(void); /* NULL if it is not available */
    double tick_ns;        /* what a difference of 1 means; 0 if it is not available */
    bool available;        /* this machine and this kernel have it */
    bool follows_thread;   /* counts the calling thread's time */
};

/*
 * Returns the source of number ETWAS_CLOCK_SOURCE_*, which must be valid. The first call tries all
 * sources and calibrates the counter, which takes some tens of milliseconds. Any thread may call
 * it.
 */
const struct etwas_lab_source *etwas_lab_source(uint32_t source);

/*
 * Replaces `source` by `replacement`, which must stay valid; NULL restores the machine's. Must not
 * be called while an examination runs.
 */
void etwas_lab_source_replace(uint32_t source, const struct etwas_lab_source *replacement);

/*
 * Orders readings: no later reading of this thread is taken before the earlier ones are complete.
 * Readings of the counter may otherwise be reordered.
 */
static inline void etwas_lab_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
#error "etwas needs to know how this architecture keeps readings of its counter in order"
#endif
}

/*
 * Returns the nanoseconds of a tick of the counter, even if sessions may not use it; 0: it does not
 * count.
 */
double etwas_lab_counter_tick_ns(void);

/* Returns CLOCK_MONOTONIC in nanoseconds, by which the parts measure their own time. */
uint64_t etwas_lab_now_ns(void);

/* ---- processors ------------------------------------------------------------------------------ */

/* The processors the calling thread may use, by ascending system numbers. */
struct etwas_lab_cpus {
    uint32_t count; /* at least 1 */
    uint32_t *numbers;
};

/* Reads them. ERROR_NOT_ENOUGH_MEMORY; ERROR_NO_SYSTEM_RESOURCES if the system does not say. */
uint32_t etwas_lab_cpus_read(struct etwas_lab_cpus *cpus);
void etwas_lab_cpus_free(struct etwas_lab_cpus *cpus);

/* Pins the calling thread to this processor. Returns false if the system refuses. */
bool etwas_lab_pin(uint32_t processor);

/* Lets the calling thread run on any of these. Returns false if the system refuses. */
bool etwas_lab_unpin(const struct etwas_lab_cpus *cpus);

/* ---- the parts ------------------------------------------------------------------------------- */

/*
 * Each returns ERROR_SUCCESS, or the code for etwas_clock_examine to return. `report` is that of
 * `source`, which is available.
 */

/* Fills warm_ns, warm, loop_ns, timer_step_ns, back_to_back_ns. */
uint32_t etwas_lab_cost_warm(uint32_t source, uint64_t budget_ns,
                             etwas_clock_source_report *report);

/*
 * Fills cold_ns, from at least some readings, however long they take. `walk` is memory that is read
 * to fill the caches, and the pages that have to be evicted besides. etwas_lab_cache_walk_begin
 * returns false if there is no memory.
 */
enum {
    ETWAS_LAB_COLD_READINGS = 5, /* at least */
    ETWAS_LAB_CACHE_WALK_PAGES = 16,
};
struct etwas_lab_cache_walk {
    uint8_t *memory;
    size_t bytes;
    uint32_t data_pages; /* pages of the vDSO's data, which its code reads */
    uintptr_t data[ETWAS_LAB_CACHE_WALK_PAGES];
};
bool etwas_lab_cache_walk_begin(struct etwas_lab_cache_walk *walk);
void etwas_lab_cache_walk_end(struct etwas_lab_cache_walk *walk);
void etwas_lab_cost_cold(uint32_t source, const struct etwas_lab_cache_walk *walk,
                         uint64_t budget_ns, etwas_clock_source_report *report);

/*
 * Fills resolution_ns, unit_ns, pairs, equal_pairs, steps, and the counts of unordered readings;
 * adds to the counts of ordered ones.
 */
uint32_t etwas_lab_steps(uint32_t source, uint64_t budget_ns, etwas_clock_source_report *report);

/*
 * Returns the step that is used to judge a clock: the smallest seen, or the real one if the clock
 * adds meaningless ticks in between. 0: not known.
 */
static inline double etwas_lab_step_ns(const etwas_clock_source_report *report)
{
    return report->resolution_ns > report->unit_ns ? report->resolution_ns : report->unit_ns;
}

/*
 * Fills readings, backward_steps, largest_backward_ns, stalls, longest_stall_ns of all available
 * sources among `sources`; stalls once their resolution_ns and unit_ns are in the report passed to
 * `run`. `run` may be called any number of times, and `end` once, which frees the object; `begin`
 * returns NULL if there is no memory.
 */
struct etwas_lab_monotonicity;
struct etwas_lab_monotonicity *etwas_lab_monotonicity_begin(uint32_t sources,
                                                            const struct etwas_lab_cpus *cpus);
uint32_t etwas_lab_monotonicity_run(struct etwas_lab_monotonicity *monotonicity, uint64_t budget_ns,
                                    const etwas_clock_report *report);
void etwas_lab_monotonicity_end(struct etwas_lab_monotonicity *monotonicity,
                                etwas_clock_report *report);

/* Returns the number of pairs among `count` processors. */
static inline uint64_t etwas_lab_pair_count(uint32_t count)
{
    return count < 2 ? 0 : (uint64_t)count * (count - 1) / 2;
}

/*
 * Fills offset_count, offsets_left_out and offsets, which etwas_clock_report_free frees. Must not
 * be called for sources that follow a thread. `cpus` are the processors to compare, with the
 * caller's limit applied.
 */
uint32_t etwas_lab_pairs(uint32_t source, const struct etwas_lab_cpus *cpus, uint64_t budget_ns,
                         etwas_clock_source_report *report);

/*
 * Fills against_raw, against_realtime of all available sources among `sources` (bit n: source n),
 * and conversions. A sample is taken every 10 to 50 ms, less often while a longer part runs, from
 * `begin` to `end`, which frees the object; `begin` returns NULL if there is no memory.
 */
struct etwas_lab_drift;
struct etwas_lab_drift *etwas_lab_drift_begin(uint32_t sources);
void etwas_lab_drift_sample(struct etwas_lab_drift *drift);
void etwas_lab_drift_end(struct etwas_lab_drift *drift, etwas_clock_report *report);

/*
 * Fills what the findings add to trust, and recommended_clock, recommendation, verdict. Called
 * last, when everything else is filled.
 */
void etwas_lab_conclude(etwas_clock_report *report);

/* Does the same for a report whose `trust` is filled. */
void etwas_lab_write_verdict(etwas_clock_report *report);

#endif
