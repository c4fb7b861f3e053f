/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/coverage.h"

#include "event/event.h"
#include "event/names.h"
#include "trace/input.h"
#include "trace/window.h"

#include <etwas/evntrace.h>
#include <math.h>
#include <stdlib.h>

/* ---- records --------------------------------------------------------------------------------- */

/* Layout of the event Window: docs/reference/file-format.md. */
enum {
    WINDOW_VERSION = 1,
    COVERED_FROM_AT = 40,
    COVERED_TO_AT = 48,
    WINDOW_BYTES = 64,
};

enum {
    NS_PER_FILETIME = 100
};

/* Only etwas records in each file what it knows of the session's clocks. */
static bool is_of_etwas(const struct etwas_input *input)
{
    etwas_trace_clock clock;

    return etwas_trace_query_clock(input->trace, &clock) == ERROR_SUCCESS && clock.noted;
}

bool etwas_trace_coverage_is_of_addresses(const struct etwas_input *input,
                                          const EVENT_RECORD *record)
{
    return ((etwas_event_is_image(record) && is_of_etwas(input)) ||
            etwas_event_is_kernel_symbol(record)) &&
           !input->is_kernel;
}

bool etwas_trace_coverage_is_window(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return etwas_event_is_of_class(record, &etwas_names_own_class) &&
           (type == ETWAS_NAMES_WINDOW_TYPE || type == ETWAS_NAMES_MISSING_TYPE);
}

bool etwas_trace_coverage_is_event(const struct etwas_input *input, const EVENT_RECORD *record)
{
    return !etwas_event_is_header_class(record) &&
           !etwas_event_is_of_class(record, &etwas_names_metadata_class) &&
           !etwas_event_is_of_class(record, &etwas_names_own_class) &&
           !etwas_trace_coverage_is_of_addresses(input, record);
}

static void take_window(struct etwas_trace_coverage *coverage, const EVENT_RECORD *record)
{
    if (record->UserDataLength < WINDOW_BYTES || etwas_event_u32(record, 0) != WINDOW_VERSION) {
        return;
    }
    coverage->is_said = true;
    coverage->said_from_raw = (int64_t)etwas_event_u64(record, COVERED_FROM_AT);
    coverage->said_until_raw = (int64_t)etwas_event_u64(record, COVERED_TO_AT);
    coverage->is_none = coverage->said_until_raw <= coverage->said_from_raw;
}

void etwas_trace_coverage_add_record(struct etwas_input *input, const EVENT_RECORD *record)
{
    struct etwas_trace_coverage *coverage = &input->coverage;
    int64_t stamp = record->EventHeader.TimeStamp.QuadPart;

    if (etwas_trace_coverage_is_event(input, record)) {
        coverage->first_stamp =
            coverage->has_stamps && coverage->first_stamp < stamp ? coverage->first_stamp : stamp;
        coverage->last_stamp =
            coverage->has_stamps && coverage->last_stamp > stamp ? coverage->last_stamp : stamp;
        coverage->has_stamps = true;
    }
}

static void note_times(struct etwas_trace_coverage *coverage, int64_t first_ns, int64_t last_ns)
{
    if (!coverage->has_events || first_ns < coverage->first_ns) {
        coverage->first_ns = first_ns;
    }
    if (!coverage->has_events || last_ns > coverage->last_ns) {
        coverage->last_ns = last_ns;
    }
    coverage->has_events = true;
}

void etwas_trace_coverage_end(struct etwas_input *input)
{
    struct etwas_trace_coverage *coverage = &input->coverage;

    if (coverage->has_stamps) {
        note_times(coverage, etwas_input_shown_stamp_ns(input, coverage->first_stamp),
                   etwas_input_shown_stamp_ns(input, coverage->last_stamp));
    }
    coverage->has_stamps = false;
}

/* ---- reading ahead --------------------------------------------------------------------------- */

struct look {
    struct etwas_input inputs[ETWAS_INPUT_FILES]; /* only those that could be opened */
    struct etwas_trace_coverage *coverage[ETWAS_INPUT_FILES];
    uint32_t count;
    bool wants_last;
    bool stop;
};

static void on_record(EVENT_RECORD *record)
{
    struct etwas_input *input = record->UserContext;
    struct look *look = input->context;

    if (etwas_trace_coverage_is_window(record) &&
        record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_WINDOW_TYPE) {
        take_window(&input->coverage, record);
    }
    etwas_trace_coverage_add_record(input, record);
    /*
     * Events come in time order, so the first one determines the beginning. A file that states its
     * coverage must be read on: the coverage may begin long before its events.
     */
    look->stop =
        look->stop || (!look->wants_last && input->coverage.has_stamps && !input->coverage.is_said);
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    const struct etwas_input *input = logfile->Context;
    const struct look *look = input->context;

    return !look->stop;
}

static int64_t time_of(etwas_trace_handle trace, int64_t raw)
{
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(trace, raw, ETWAS_CLOCK_PROCESS_TRACE, &time);
    return time.value;
}

/*
 * Returns the last nanosecond of a time's FILETIME unit (100 ns), so that a time and its FILETIME
 * are on the same side of it. Limits it, since a damaged file may state any time.
 */
static int64_t end_of(int64_t time_ns)
{
    const int64_t last_ns = INT64_MAX / NS_PER_FILETIME * NS_PER_FILETIME - 1;
    int64_t begin_ns = time_ns / NS_PER_FILETIME * NS_PER_FILETIME;

    return begin_ns < last_ns ? begin_ns + NS_PER_FILETIME - 1 : last_ns;
}

/* Does not report errors: the code that reads the file later does. */
static void open_input(struct look *look, char *path, struct etwas_trace_coverage *coverage)
{
    struct etwas_input *input = &look->inputs[look->count];

    *input = (struct etwas_input){.path = path, .time = ETWAS_INPUT_NANOSECONDS, .context = look};
    input->logfile = (EVENT_TRACE_LOGFILEA){
        .LogFileName = path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
        .EventRecordCallback = on_record,
        .BufferCallback = on_buffer,
        .Context = input,
    };
    input->trace = OpenTraceA(&input->logfile);
    if (input->trace != INVALID_PROCESSTRACE_HANDLE) {
        look->coverage[look->count++] = coverage;
    }
}

void etwas_trace_coverage_read_files(struct etwas_trace_coverage *coverage, char *const *paths,
                                     uint32_t count, bool wants_last)
{
    struct look *look = calloc(1, sizeof *look);
    etwas_trace_handle traces[ETWAS_INPUT_FILES];

    if (look == NULL) {
        return; /* reading the files fails too: it takes more memory */
    }
    look->wants_last = wants_last;
    for (uint32_t i = 0; i < count; i++) {
        coverage[i] = (struct etwas_trace_coverage){0};
        open_input(look, paths[i], &coverage[i]);
    }
    for (uint32_t i = 0; i < look->count; i++) {
        traces[i] = look->inputs[i].trace;
    }
    if (look->count > 0) {
        etwas_filetime any = {0, 0};

        /* Only the first events are needed, which may be found by the file's index. */
        (void)etwas_process_traces(traces, look->count, wants_last ? NULL : &any, NULL);
    }
    for (uint32_t i = 0; i < look->count; i++) {
        struct etwas_trace_coverage *its = &look->inputs[i].coverage;

        etwas_trace_coverage_end(&look->inputs[i]);
        its->said_from_ns = end_of(time_of(traces[i], its->said_from_raw));
        its->said_until_ns = end_of(time_of(traces[i], its->said_until_raw));
        *look->coverage[i] = *its;
        CloseTrace(traces[i]);
    }
    free(look);
}

static etwas_trace_information information_of(const struct etwas_input *input)
{
    etwas_trace_information information;

    return etwas_trace_query(input->trace, &information) == ERROR_SUCCESS
               ? information
               : input->information; /* the trace is closed */
}

void etwas_trace_coverage_read_ahead(struct etwas_input *input, const struct etwas_window *window)
{
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;
    bool may_say = (header->LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 ||
                   (information_of(input).ends & ETWAS_TRACE_IS_RECOVERED) != 0;
    bool has_window = window != NULL && etwas_window_is_set(window);
    bool wants_last = has_window && header->EndTime.QuadPart == 0;
    char *path = (char *)(uintptr_t)input->path; /* OpenTrace only reads it */

    if (!input->is_session &&
        (may_say || wants_last || (has_window && etwas_trace_coverage_begins_late(input)))) {
        etwas_trace_coverage_read_files(&input->coverage, &path, 1, wants_last);
    }
}

/* ---- coverage -------------------------------------------------------------------------------- */

bool etwas_trace_coverage_begins_late(const struct etwas_input *input)
{
    etwas_trace_information information = information_of(input);

    return (input->logfile.LogfileHeader.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 ||
           information.part > 1 || information.overwritten_buffers > 0 ||
           ((information.ends & ETWAS_TRACE_IS_RECOVERED) != 0 &&
            information.overwritten_events > 0);
}

/*
 * Subtracts the steps by which the wall clock was set, since that time did not pass. Only the
 * header's end time and stamps of the wall clock contain them.
 */
static int64_t without_steps(const struct etwas_input *input, int64_t time_ns, bool is_of_header)
{
    int64_t steps_ns =
        is_of_header || input->clock.clock == ETWAS_CLOCK_SYSTEM_TIME ? input->clock.steps_ns : 0;

    return __builtin_sub_overflow(time_ns, steps_ns, &time_ns) ? INT64_MIN : time_ns;
}

static bool has_anchor(const struct etwas_window_end *end)
{
    return end->anchor != ETWAS_WINDOW_OPEN;
}

bool etwas_trace_coverage_span_of(const struct etwas_input *input,
                                  const struct etwas_window *window,
                                  struct etwas_trace_coverage_span *span)
{
    const struct etwas_trace_coverage *coverage = &input->coverage;
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;
    bool has_start = !etwas_trace_coverage_begins_late(input) && header->StartTime.QuadPart > 0;
    bool has_end = header->EndTime.QuadPart != 0;

    if (coverage->is_said) {
        *span = (struct etwas_trace_coverage_span){coverage->said_from_ns, coverage->said_until_ns};
    } else if ((has_start && has_end) || coverage->has_events) {
        span->from_ns = has_start ? etwas_input_start_ns(input) : coverage->first_ns;
        span->until_ns = has_end ? etwas_input_end_ns(input) : coverage->last_ns;
        span->until_ns = without_steps(input, span->until_ns, has_end);
    } else {
        return false;
    }
    if (window != NULL && has_anchor(&window->from) && window->from.ns > span->from_ns) {
        span->from_ns = window->from.ns;
    }
    if (window != NULL && has_anchor(&window->until) && window->until.ns < span->until_ns) {
        span->until_ns = window->until.ns;
    }
    return !coverage->is_none && span->until_ns > span->from_ns;
}

static int compare_spans(const void *left, const void *right)
{
    int64_t one = ((const struct etwas_trace_coverage_span *)left)->from_ns;
    int64_t other = ((const struct etwas_trace_coverage_span *)right)->from_ns;

    return (one > other) - (one < other);
}

uint64_t etwas_trace_coverage_together(const struct etwas_input_run *run,
                                       const struct etwas_window *window)
{
    struct etwas_trace_coverage_span spans[ETWAS_INPUT_FILES];
    int64_t until_ns = INT64_MIN;
    uint64_t sum_ns = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        count += etwas_trace_coverage_span_of(&run->inputs[i], window, &spans[count]);
    }
    qsort(spans, count, sizeof *spans, compare_spans);
    for (uint32_t i = 0; i < count; i++) {
        int64_t from_ns = spans[i].from_ns > until_ns ? spans[i].from_ns : until_ns;

        sum_ns += etwas_input_passed_ns(from_ns, spans[i].until_ns);
        until_ns = spans[i].until_ns > until_ns ? spans[i].until_ns : until_ns;
    }
    return sum_ns;
}

double etwas_trace_coverage_rate(uint64_t count, uint64_t covered_ns)
{
    return covered_ns > 0 ? (double)count / ((double)covered_ns / 1e9) : NAN;
}
