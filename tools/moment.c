/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "moment.h"

struct etwas_moment etwas_moment_of(const struct etwas_input *input, const EVENT_RECORD *record)
{
    struct etwas_moment moment = {
        .input = input,
        .raw = record->EventHeader.TimeStamp.QuadPart,
        .processor = record->BufferContext.ProcessorIndex,
    };
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(input->trace, moment.raw, ETWAS_CLOCK_QPC, &time);
    moment.ns = time.value;
    moment.error_ns = time.error_ns;
    return moment;
}

uint64_t etwas_moment_add_errors(uint64_t one, uint64_t other)
{
    uint64_t sum;

    return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

uint64_t etwas_moment_error_ns(const struct etwas_moment *from, const struct etwas_moment *to)
{
    uint64_t larger = from->error_ns > to->error_ns ? from->error_ns : to->error_ns;
    etwas_clock_time passed = {0, UINT64_MAX};

    if (from->input != to->input) {
        return etwas_moment_add_errors(from->error_ns, to->error_ns);
    }
    if (larger == 0) {
        return 0; /* the session's clock is the performance counter */
    }
    (void)etwas_trace_convert_interval(from->input->trace, from->raw, to->raw, &passed);
    return from->processor != to->processor && passed.error_ns < larger ? larger : passed.error_ns;
}

etwas_clock_time etwas_moment_since(int64_t raw, const struct etwas_moment *moment)
{
    etwas_clock_time passed = {0, UINT64_MAX};

    (void)etwas_trace_convert_interval(moment->input->trace, raw, moment->raw, &passed);
    passed.value = passed.value > 0 ? passed.value : 0;
    passed.error_ns = passed.error_ns > moment->error_ns ? passed.error_ns : moment->error_ns;
    return passed;
}
