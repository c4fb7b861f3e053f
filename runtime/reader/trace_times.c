/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The public functions about the clocks of a trace: a stamp by another clock, what passed between
 * two stamps, and how the clocks ran.
 */
#include "clock/student_t.h"
#include "platform/cancel.h"
#include "platform/sized_struct.h"
#include "reader/clock_snapshots.h"
#include "reader/event_time.h"
#include "reader/live.h"
#include "reader/trace.h"
#include "reader/trace_table.h"

#include <string.h>

/* Shorter ones may be delays of the kernel. */
#define SHORTEST_SUSPEND_NS 1000000

/* ---- one stamp ------------------------------------------------------------------------------- */

/*
 * Scans the whole file when a time is first requested before ProcessTrace. No other thread can use
 * the trace meanwhile, as during ProcessTrace; a thread that requests a time then gets what is
 * known. While etwas_trace_process_buffers runs, the timeline has the clock snapshots that `stamps`
 * need, but not all.
 */
static uint32_t trace_times_complete_timeline(etwas_trace_handle handle, bool stamps)
{
    struct etwas_trace *trace;
    struct etwas_timeline *timeline;
    uint32_t code = ERROR_SUCCESS;
    bool known;
    ETWAS_UNCANCELLED_SCOPE; /* reading is a cancellation point */

    etwas_trace_table_lock();
    trace = etwas_trace_table_find(handle);
    known = trace == NULL || trace->session_name != NULL || trace->timeline_complete ||
            (stamps && trace->clock_search.is_used);
    etwas_trace_table_unlock();
    if (known) {
        return ERROR_SUCCESS;
    }
    code = etwas_trace_table_acquire(&handle, 1, &trace);
    if (code != ERROR_SUCCESS) {
        return code == ERROR_BUSY ? ERROR_SUCCESS : code;
    }
    timeline = etwas_clock_snapshots_read_timeline(trace, true);
    if (timeline != NULL) {
        etwas_clock_snapshots_set_timeline(trace, timeline, true);
    } else {
        code = ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_trace_table_release(&handle, 1);
    return code;
}

/*
 * Returns the trace with all its clock snapshots, or those that `stamps` need, and the table
 * locked. NULL: the table is not locked, and *code is the reason.
 */
static const struct etwas_trace *trace_times_lock_trace(etwas_trace_handle handle, bool stamps,
                                                        uint32_t *code)
{
    struct etwas_trace *trace;

    *code = trace_times_complete_timeline(handle, stamps);
    if (*code != ERROR_SUCCESS) {
        return NULL;
    }
    etwas_trace_table_lock();
    trace = etwas_trace_table_find(handle);
    if (trace == NULL) {
        *code = ERROR_INVALID_HANDLE;
    } else if (trace->session_name != NULL) {
        etwas_live_update_clocks(trace);
    }
    if (trace != NULL && trace->timeline == NULL) {
        *code = trace->session_name != NULL && trace->consumer == NULL
                    ? ERROR_WMI_INSTANCE_NOT_FOUND
                    : ERROR_NOT_ENOUGH_MEMORY;
    }
    if (*code != ERROR_SUCCESS) {
        etwas_trace_table_unlock();
        return NULL;
    }
    return trace;
}

/* Returns the time as ProcessTrace delivers it. */
static int64_t trace_times_unix_ns(const struct etwas_trace *trace, int64_t raw)
{
    struct etwas_event_time time = etwas_event_time_by(&trace->log.clock, trace->timeline);

    return etwas_etl_saturate(etwas_event_time_ns(&time, raw));
}

uint32_t etwas_trace_convert_time(etwas_trace_handle handle, int64_t raw, uint32_t clock,
                                  etwas_clock_time *time)
{
    const struct etwas_trace *trace;
    bool is_own = clock == ETWAS_CLOCK_PROCESS_TRACE;
    uint32_t code;

    if (time == NULL || (clock != ETWAS_CLOCK_QPC && clock != ETWAS_CLOCK_SYSTEM_TIME && !is_own)) {
        return ERROR_INVALID_PARAMETER;
    }
    trace = trace_times_lock_trace(handle, true, &code);
    if (trace != NULL) {
        *time = etwas_timeline_convert(trace->timeline, raw, is_own ? ETWAS_CLOCK_QPC : clock);
        time->value = is_own ? trace_times_unix_ns(trace, raw) : time->value;
        etwas_trace_table_unlock();
    }
    return code;
}

uint32_t etwas_trace_convert_interval(etwas_trace_handle handle, int64_t from_raw, int64_t to_raw,
                                      etwas_clock_time *interval)
{
    const struct etwas_trace *trace;
    uint32_t code;

    if (interval == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    trace = trace_times_lock_trace(handle, true, &code);
    if (trace != NULL) {
        *interval = etwas_timeline_interval(trace->timeline, from_raw, to_raw);
        etwas_trace_table_unlock();
    }
    return code;
}

/* ---- drift ----------------------------------------------------------------------------------- */

/* A line through points (seconds, ns ahead) whose errors are at most error_ns. */
struct line {
    size_t points;
    double x;
    double y;
    double xx;
    double xy;
    double yy;
    double first_x;
    double last_x;
    double error_ns;
};

static void drift_add_point(struct line *line, double x, double y, double error_ns)
{
    /* Welford's sums: differences from the mean so far. */
    double dx = x - line->x;
    double dy = y - line->y;

    if (line->points == 0) {
        line->first_x = x;
    }
    line->last_x = x;
    line->points++;
    line->x += dx / (double)line->points;
    line->y += dy / (double)line->points;
    line->xx += dx * (x - line->x);
    line->xy += dx * (y - line->y);
    line->yy += dy * (y - line->y);
    line->error_ns = error_ns > line->error_ns ? error_ns : line->error_ns;
}

/* Computes the drift. The interval is at least what the readings' own errors leave open. */
static etwas_clock_drift drift_of_line(const struct line *line)
{
    double seconds = line->last_x - line->first_x;
    etwas_clock_drift drift = {.points = (uint32_t)line->points, .seconds = seconds};
    double slope;
    double width;

    if (line->points < 2 || !(line->xx > 0)) {
        return drift;
    }
    slope = line->xy / line->xx;
    width = 2 * line->error_ns / seconds;
    if (line->points > 2) {
        uint32_t degrees = (uint32_t)line->points - 2;
        double rest = line->yy - slope * line->xy;
        double wide = etwas_student_interval(rest > 0 ? rest / degrees / line->xx : 0, degrees);

        width = wide > width ? wide : width;
    }
    drift.known = true;
    drift.ppm = slope / 1e3;
    drift.interval_ppm = width / 1e3;
    return drift;
}

static double trace_times_seconds_after_first(const struct etwas_timeline *timeline, size_t i)
{
    return (double)(timeline->all[i].qpc_ns - timeline->all[0].qpc_ns) / 1e9;
}

/*
 * Computes the drift of system time. Steps and suspends are not drift: they are removed, with the
 * intervals in which they were.
 */
static etwas_clock_drift drift_of_system_time(const struct etwas_timeline *timeline)
{
    struct line line = {0};
    etwas_etl_wide ahead_ns = 0;
    double seconds = 0;

    for (size_t i = 0; i < timeline->all_count; i++) {
        const struct etwas_clock_snapshot *snapshot = &timeline->all[i];

        if (i > 0 && !etwas_timeline_is_step(snapshot - 1, snapshot)) {
            ahead_ns += etwas_timeline_moved_ns(snapshot - 1, snapshot);
            seconds += (double)(snapshot->qpc_ns - snapshot[-1].qpc_ns) / 1e9;
        }
        drift_add_point(&line, seconds, (double)ahead_ns,
                        (double)snapshot->filetime_error_ns + snapshot->qpc_error_ns);
    }
    return drift_of_line(&line);
}

/* Computes how fast the cycle counter ran against one that makes `hz` ticks a second. */
static etwas_clock_drift drift_of_cycle_counter(const struct etwas_timeline *timeline, uint64_t hz)
{
    struct line line = {0};

    if (timeline->base.clock_type != ETWAS_ETL_CLOCK_CYCLES || hz == 0) {
        return (etwas_clock_drift){0};
    }
    for (size_t i = 0; i < timeline->all_count; i++) {
        const struct etwas_clock_snapshot *snapshot = &timeline->all[i];
        etwas_etl_wide ticks = (etwas_etl_wide)snapshot->raw - timeline->all[0].raw;
        etwas_etl_wide counted_ns = ticks * 1000000000 / (etwas_etl_wide)hz;
        etwas_etl_wide passed_ns = (etwas_etl_wide)snapshot->qpc_ns - timeline->all[0].qpc_ns;

        drift_add_point(&line, trace_times_seconds_after_first(timeline, i),
                        (double)(counted_ns - passed_ns), snapshot->qpc_error_ns);
    }
    return drift_of_line(&line);
}

/* ---- steps and suspends ---------------------------------------------------------------------- */

static void trace_times_add_step(etwas_trace_clock *clock, const etwas_clock_step *step)
{
    if (clock->steps < ETWAS_TRACE_CLOCK_STEPS) {
        clock->step[clock->steps] = *step;
    }
    if (clock->steps == 0 ||
        etwas_etl_magnitude(step->step_ns) > etwas_etl_magnitude(clock->largest_step.step_ns)) {
        clock->largest_step = *step;
    }
    clock->steps++;
    clock->steps_ns = etwas_etl_saturate((etwas_etl_wide)clock->steps_ns + step->step_ns);
}

/* While the machine is suspended the wall clock goes on and the performance counter does not. */
static void trace_times_find_steps(const struct etwas_timeline *timeline, etwas_trace_clock *clock)
{
    for (size_t i = 1; i < timeline->all_count; i++) {
        const struct etwas_clock_snapshot *from = &timeline->all[i - 1];
        struct etwas_clock_snapshot to = timeline->all[i];
        int64_t suspended_ns = to.suspended_ns - from->suspended_ns;
        etwas_clock_step step;

        if (suspended_ns >= SHORTEST_SUSPEND_NS) {
            clock->suspends++;
            clock->suspended_ns += (uint64_t)suspended_ns;
            to.filetime -= suspended_ns / 100;
        }
        if (etwas_timeline_is_step(from, &to)) {
            step = (etwas_clock_step){from->filetime, timeline->all[i].filetime,
                                      etwas_etl_saturate(etwas_timeline_moved_ns(from, &to))};
            trace_times_add_step(clock, &step);
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void trace_times_describe_trust(const struct etwas_etl_clock_trust *trust,
                                       etwas_trace_clock *clock)
{
    _Static_assert(sizeof clock->clocksource > sizeof trust->clocksource, "it has room");
    _Static_assert(sizeof clock->hypervisor == sizeof trust->hypervisor, "the same text");
    clock->noted = trust->version != 0;
    clock->examined = trust->reasons != 0 || trust->frequency_hz != 0;
    clock->measured =
        trust->frequency_hz != 0 || (trust->reasons & ETWAS_CLOCK_REASON_NO_COUNTER) != 0;
    clock->requested_clock = trust->requested_clock;
    clock->verdict = trust->verdict;
    clock->reasons = trust->reasons;
    clock->stated_by = trust->stated_by;
    clock->frequency_hz = trust->frequency_hz;
    clock->stated_hz = trust->stated_hz;
    clock->frequency_error_ppb = trust->frequency_error_ppb;
    memcpy(clock->clocksource, trust->clocksource, sizeof trust->clocksource);
    memcpy(clock->hypervisor, trust->hypervisor, sizeof clock->hypervisor);
}

/*
 * Returns the counter's rate as the session knew it when it began. The calibration of a file that
 * ended may have been measured over the same time as the clock snapshots; compared with that, there
 * would be no drift.
 */
static uint64_t trace_times_calibrated_hz(const struct etwas_file_header *log)
{
    return log->trust.frequency_hz != 0 ? log->trust.frequency_hz : log->clock_frequency_hz;
}

static void trace_times_describe_clock(const struct etwas_trace *trace, etwas_trace_clock *clock)
{
    const struct etwas_timeline *timeline = trace->timeline;

    *clock = (etwas_trace_clock){
        .clock = trace->log.fields.clock_type,
        .clock_snapshots = timeline->found,
        .clock_snapshots_unusable = timeline->unusable,
        .qpc_error_ns = etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_QPC),
        .system_error_ns = etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_SYSTEM_TIME),
        .system_against_qpc = drift_of_system_time(timeline),
        .tsc_against_calibrated =
            drift_of_cycle_counter(timeline, trace_times_calibrated_hz(&trace->log)),
        .tsc_against_stated = drift_of_cycle_counter(timeline, trace->log.trust.stated_hz),
    };
    if (timeline->all_count > 0) {
        clock->seconds = trace_times_seconds_after_first(timeline, timeline->all_count - 1);
    }
    trace_times_describe_trust(&trace->log.trust, clock);
    trace_times_find_steps(timeline, clock);
}

uint32_t etwas_trace_query_clock_sized(etwas_trace_handle handle, etwas_trace_clock *clock,
                                       size_t clock_bytes)
{
    const struct etwas_trace *trace;
    etwas_trace_clock known;
    uint32_t code;

    if (clock == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    trace = trace_times_lock_trace(handle, false, &code);
    if (trace != NULL) {
        trace_times_describe_clock(trace, &known);
        etwas_sized_write(clock, clock_bytes, &known, sizeof known);
        etwas_trace_table_unlock();
    }
    return code;
}
