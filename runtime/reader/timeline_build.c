/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes a timeline of the clock snapshots of a file.
 *
 * The writer of the file, which may be hostile, chose the clock snapshots. The most of them that
 * agree with each other are used: the longest run in which every clock increases. One clock
 * snapshot that lies costs itself, not those around it.
 */
#include "reader/timeline.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 256
};

/*
 * Differences of readings within this range fit in 63 bits, and products of two differences in 127.
 */
#define LARGEST_READING (INT64_C(1) << 62)

/* A rate over less than this is less exact than a calibration. */
#define SHORTEST_SPAN_NS INT64_C(20000000)
#define WANTED_SPAN_NS INT64_C(1000000000)

/* ---- the list -------------------------------------------------------------------------------- */

static int timeline_compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/*
 * Orders by stamps; of equal ones the largest qpc_ns comes first, so an increasing run has only one
 * of them.
 */
static int timeline_compare_by_raw(const void *left, const void *right)
{
    const struct etwas_clock_snapshot *a = left;
    const struct etwas_clock_snapshot *b = right;
    int order = timeline_compare_numbers(a->raw, b->raw);

    return order != 0 ? order : timeline_compare_numbers(b->qpc_ns, a->qpc_ns);
}

static int timeline_compare_by_qpc(const void *left, const void *right)
{
    const struct etwas_clock_snapshot *a = left;
    const struct etwas_clock_snapshot *b = right;
    int order = timeline_compare_numbers(a->qpc_ns, b->qpc_ns);

    return order != 0 ? order : timeline_compare_numbers(b->raw, a->raw);
}

/* Drops every second clock snapshot in the order of time, the first and the last excepted. */
static void snapshot_list_thin(struct etwas_clock_snapshot_list *list)
{
    size_t kept = 0;

    qsort(list->snapshots, list->count, sizeof *list->snapshots, timeline_compare_by_qpc);
    for (size_t i = 0; i < list->count; i++) {
        if (i % 2 == 0 || i == list->count - 1) {
            list->snapshots[kept++] = list->snapshots[i];
        }
    }
    list->count = kept;
    list->stride *= 2;
}

static bool snapshot_list_grow(struct etwas_clock_snapshot_list *list)
{
    size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : list->capacity * 2;
    struct etwas_clock_snapshot *snapshots;

    if (capacity > ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT) {
        capacity = ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT;
    }
    snapshots = realloc(list->snapshots, capacity * sizeof *snapshots);
    if (snapshots == NULL) {
        return false;
    }
    list->snapshots = snapshots;
    list->capacity = capacity;
    return true;
}

bool etwas_clock_snapshot_list_add(struct etwas_clock_snapshot_list *list,
                                   const struct etwas_clock_snapshot *snapshot)
{
    if (list->stride == 0) {
        list->stride = 1;
    }
    if (list->found++ % list->stride != 0) {
        return true;
    }
    if (list->count == ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT) {
        snapshot_list_thin(list);
    }
    if (list->count == list->capacity && !snapshot_list_grow(list)) {
        return false;
    }
    list->snapshots[list->count++] = *snapshot;
    return true;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool timeline_is_in_range(int64_t reading)
{
    return reading > -LARGEST_READING && reading < LARGEST_READING;
}

static bool snapshot_is_usable(const struct etwas_clock_snapshot *snapshot)
{
    return timeline_is_in_range(snapshot->raw) && timeline_is_in_range(snapshot->qpc_ns) &&
           timeline_is_in_range(snapshot->filetime) && timeline_is_in_range(snapshot->suspended_ns);
}

static size_t timeline_copy_usable(struct etwas_clock_snapshot *out,
                                   const struct etwas_clock_snapshot_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (snapshot_is_usable(&list->snapshots[i])) {
            out[count++] = list->snapshots[i];
        }
    }
    return count;
}

/*
 * Drops repeated entries of a sorted array: a writer that was killed may leave a clock snapshot
 * twice.
 */
static size_t timeline_drop_equal(struct etwas_clock_snapshot *snapshots, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || memcmp(&snapshots[kept - 1], &snapshots[i], sizeof *snapshots) != 0) {
            snapshots[kept++] = snapshots[i];
        }
    }
    return kept;
}

/* Returns the reading of the clock by which the clock snapshots are not sorted. */
static int64_t snapshot_other_clock(const struct etwas_clock_snapshot *snapshot, bool sorted_by_raw)
{
    return sorted_by_raw ? snapshot->qpc_ns : snapshot->raw;
}

/*
 * Moves the longest run in which the other clock increases to the front, and returns its length.
 * ends[n] is the clock snapshot with which a run of n + 1 can end earliest, and before[i] the one
 * before clock snapshot i in its run.
 */
static size_t timeline_keep_longest_run(struct etwas_clock_snapshot *snapshots, size_t count,
                                        bool sorted_by_raw, uint32_t *ends, uint32_t *before)
{
    size_t rows = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t value = snapshot_other_clock(&snapshots[i], sorted_by_raw);
        size_t low = 0;
        size_t high = rows;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (snapshot_other_clock(&snapshots[ends[middle]], sorted_by_raw) < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        before[i] = low > 0 ? ends[low - 1] : 0;
        ends[low] = (uint32_t)i;
        if (low == rows) {
            rows++;
        }
    }
    if (rows == 0) {
        return 0;
    }
    for (size_t n = rows, i = ends[rows - 1]; n > 0; n--, i = before[i]) {
        ends[n - 1] = (uint32_t)i;
    }
    for (size_t n = 0; n < rows; n++) {
        snapshots[n] = snapshots[ends[n]];
    }
    return rows;
}

static struct etwas_clock_snapshot *timeline_new_snapshots(size_t count)
{
    return malloc((count + 1) * sizeof(struct etwas_clock_snapshot));
}

/*
 * Finds how far apart the moments are that one stamp of system time may mean. The wall clock may
 * have been set back, also by less than passes from one clock snapshot to the next.
 */
static void timeline_find_spread(struct etwas_timeline *timeline)
{
    const struct etwas_clock_snapshot *all = timeline->all;
    bool is_back = timeline->all_count > timeline->count;
    etwas_etl_wide least = 0;
    etwas_etl_wide most = 0;

    for (size_t i = 1; i < timeline->all_count; i++) {
        etwas_etl_wide moved = etwas_timeline_moved_ns(&all[0], &all[i]);

        is_back = is_back || (etwas_timeline_is_step(&all[i - 1], &all[i]) &&
                              etwas_timeline_moved_ns(&all[i - 1], &all[i]) < 0);
        least = moved < least ? moved : least;
        most = moved > most ? moved : most;
    }
    if (is_back) {
        timeline->spread_ns =
            most - least > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)(most - least);
    }
}

static bool timeline_choose_snapshots(struct etwas_timeline *timeline,
                                      const struct etwas_clock_snapshot_list *list)
{
    bool system = timeline->base.clock_type == ETWAS_ETL_CLOCK_SYSTEM;
    uint32_t *work = malloc((list->count + 1) * 2 * sizeof *work);
    struct etwas_clock_snapshot *snapshots = timeline_new_snapshots(list->count);
    size_t count;
    size_t equal;

    timeline->snapshots = snapshots;
    if (work == NULL || snapshots == NULL) {
        free(work);
        return false;
    }
    count = timeline_copy_usable(snapshots, list);
    qsort(snapshots, count, sizeof *snapshots,
          system ? timeline_compare_by_qpc : timeline_compare_by_raw);
    equal = count - timeline_drop_equal(snapshots, count);
    count -= equal;
    if (system) {
        timeline->all = timeline_new_snapshots(count);
        if (timeline->all == NULL) {
            free(work);
            return false;
        }
        memcpy(timeline->all, snapshots, count * sizeof *snapshots);
        timeline->all_count = count;
    }
    timeline->count =
        timeline_keep_longest_run(snapshots, count, !system, work, work + list->count + 1);
    free(work);
    if (system) {
        timeline_find_spread(timeline);
    } else {
        timeline->all = snapshots;
        timeline->all_count = timeline->count;
    }
    timeline->found = list->found - equal;
    timeline->unusable = list->count - equal - timeline->all_count;
    return true;
}

/* ---- rates at the ends ----------------------------------------------------------------------- */

static struct etwas_timeline_rate timeline_rate_between(const struct etwas_timeline *timeline,
                                                        const struct etwas_clock_snapshot *from,
                                                        const struct etwas_clock_snapshot *to)
{
    int64_t span_ns = to->qpc_ns - from->qpc_ns;
    uint64_t errors_ns = (uint64_t)from->qpc_error_ns + to->qpc_error_ns;

    if (span_ns < SHORTEST_SPAN_NS) {
        struct etwas_timeline_rate rate = timeline->base.rate;

        if (timeline->base.clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
            rate.error_ppb = ETWAS_TIMELINE_SLEW_PPB;
        }
        return rate;
    }
    return (struct etwas_timeline_rate){
        .ticks = (uint64_t)(to->raw - from->raw),
        .nanoseconds = (uint64_t)span_ns,
        .error_ppb = (uint64_t)((etwas_etl_wide)errors_ns * 1000000000 / span_ns) + 1 +
                     ETWAS_TIMELINE_WANDER_PPB,
    };
}

static void timeline_find_rates(struct etwas_timeline *timeline)
{
    const struct etwas_clock_snapshot *snapshots = timeline->snapshots;
    size_t last = timeline->count - 1;
    size_t near_first = 0;
    size_t near_last = last;

    while (near_first < last &&
           snapshots[near_first].qpc_ns - snapshots[0].qpc_ns < WANTED_SPAN_NS) {
        near_first++;
    }
    while (near_last > 0 && snapshots[last].qpc_ns - snapshots[near_last].qpc_ns < WANTED_SPAN_NS) {
        near_last--;
    }
    timeline->before = timeline_rate_between(timeline, &snapshots[0], &snapshots[near_first]);
    timeline->after = timeline_rate_between(timeline, &snapshots[near_last], &snapshots[last]);
}

/* ---- the timeline ---------------------------------------------------------------------------- */

struct etwas_timeline *etwas_timeline_new(const struct etwas_timeline_base *base,
                                          const struct etwas_clock_snapshot_list *list)
{
    struct etwas_timeline *timeline = calloc(1, sizeof *timeline);
    const struct etwas_clock_snapshot_list none = {0};

    if (timeline == NULL) {
        return NULL;
    }
    timeline->base = *base;
    if (base->clock_type < ETWAS_ETL_CLOCK_PERFORMANCE ||
        base->clock_type > ETWAS_ETL_CLOCK_CYCLES) {
        list = &none;
    }
    if (!timeline_choose_snapshots(timeline, list)) {
        etwas_timeline_free(timeline);
        return NULL;
    }
    if (timeline->count > 0) {
        timeline_find_rates(timeline);
    }
    timeline->start_qpc_ns =
        etwas_timeline_convert(timeline, base->first_raw, ETWAS_CLOCK_QPC).value;
    return timeline;
}

void etwas_timeline_free(struct etwas_timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    if (timeline->all != timeline->snapshots) {
        free(timeline->all);
    }
    free(timeline->snapshots);
    free(timeline);
}

bool etwas_timeline_has_rate(const struct etwas_timeline *timeline)
{
    return timeline->base.clock_type == ETWAS_ETL_CLOCK_CYCLES && timeline->count > 1 &&
           timeline->snapshots[timeline->count - 1].qpc_ns - timeline->snapshots[0].qpc_ns >=
               SHORTEST_SPAN_NS;
}
