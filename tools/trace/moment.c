/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/moment.h"

enum {
    BOOTED_APART = 10000000, /* a second, in FILETIME; wall clocks are set meanwhile */
};

/* Returns the difference, limited to the range of int64_t. */
static int64_t subtract(int64_t from, int64_t what)
{
    int64_t left;

    return !__builtin_sub_overflow(from, what, &left) ? left : from < 0 ? INT64_MIN : INT64_MAX;
}

/*
 * Returns the offset from the performance counter to the time of day, which is the same for all
 * stamps of a file.
 */
static int64_t to_unix_ns(const struct etwas_input *input)
{
    etwas_trace_information information = {0};
    etwas_clock_time unix_time = {0, 0};
    etwas_clock_time qpc = {0, 0};
    int64_t raw;

    (void)etwas_trace_query(input->trace, &information);
    raw = information.clock == ETWAS_CLOCK_SYSTEM_TIME
              ? input->logfile.LogfileHeader.StartTime.QuadPart
              : 0;
    (void)etwas_trace_convert_time(input->trace, raw, ETWAS_CLOCK_PROCESS_TRACE, &unix_time);
    (void)etwas_trace_convert_time(input->trace, raw, ETWAS_CLOCK_QPC, &qpc);
    return subtract(unix_time.value, qpc.value);
}

bool etwas_moments_are_of_one_boot(int64_t one_filetime, int64_t other_filetime)
{
    return (uint64_t)one_filetime - (uint64_t)other_filetime + BOOTED_APART <=
           2 * (uint64_t)BOOTED_APART;
}

static bool is_one_machine(const struct etwas_input *one, const struct etwas_input *other)
{
    return etwas_moments_are_of_one_boot(one->logfile.LogfileHeader.BootTime.QuadPart,
                                         other->logfile.LogfileHeader.BootTime.QuadPart);
}

void etwas_moments_align(struct etwas_input_run *run)
{
    for (uint32_t i = 1; i < run->count; i++) {
        struct etwas_input *input = &run->inputs[i];
        uint32_t first = 0;

        while (!is_one_machine(&run->inputs[first], input)) {
            first++;
        }
        input->machine = first == i ? i : run->inputs[first].machine;
        input->ahead_ns = first < i ? run->inputs[first].ahead_ns
                                    : subtract(to_unix_ns(input), to_unix_ns(&run->inputs[0]));
    }
}

struct etwas_moment etwas_moment_of(const struct etwas_input *input, const EVENT_RECORD *record)
{
    struct etwas_moment moment = {
        .input = input,
        .raw = record->EventHeader.TimeStamp.QuadPart,
        .processor = record->BufferContext.ProcessorIndex,
        .steps = etwas_steps_add_record(input->steps, record),
    };
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(input->trace, moment.raw, ETWAS_CLOCK_QPC, &time);
    moment.ns = subtract(time.value, subtract(0, input->ahead_ns));
    moment.error_ns = time.error_ns;
    return moment;
}

uint64_t etwas_moment_add_errors(uint64_t one, uint64_t other)
{
    uint64_t sum;

    return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/*
 * Returns the error of the time between an event and a later one. If the later stamp is earlier,
 * the clock was set back, and the error is at least that step.
 */
static uint64_t at_least_back(etwas_clock_time passed, uint64_t steps_ns)
{
    uint64_t back_ns = passed.value < 0 ? 0 - (uint64_t)passed.value : 0;

    back_ns = back_ns > steps_ns ? back_ns : steps_ns;
    return back_ns > passed.error_ns ? back_ns : passed.error_ns;
}

uint64_t etwas_moment_error_ns(const struct etwas_moment *from, const struct etwas_moment *to)
{
    uint64_t larger = from->error_ns > to->error_ns ? from->error_ns : to->error_ns;
    etwas_clock_time passed = {0, UINT64_MAX};

    if (from->input->machine != to->input->machine) {
        return UINT64_MAX;
    }
    if (from->input != to->input) {
        return etwas_moment_add_errors(from->error_ns, to->error_ns);
    }
    if (larger == 0) {
        return 0; /* the session's clock is the performance counter */
    }
    (void)etwas_trace_convert_interval(from->input->trace, from->raw, to->raw, &passed);
    passed.error_ns = at_least_back(passed, etwas_steps_between(&from->steps, &to->steps));
    return from->processor != to->processor && passed.error_ns < larger ? larger : passed.error_ns;
}

etwas_clock_time etwas_moment_since(const etwas_span *span, const struct etwas_moment *moment)
{
    etwas_clock_time passed = {0, UINT64_MAX};

    (void)etwas_trace_convert_interval(moment->input->trace, span->start, moment->raw, &passed);
    passed.error_ns =
        at_least_back(passed, etwas_steps_since(moment->input->steps, span, &moment->steps));
    passed.value = passed.value > 0 ? passed.value : 0;
    passed.error_ns = passed.error_ns > moment->error_ns ? passed.error_ns : moment->error_ns;
    return passed;
}
