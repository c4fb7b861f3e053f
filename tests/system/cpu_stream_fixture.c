/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/cpu_stream_fixture.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct etwas_cpu_stream stream;

uint32_t this_processor(void)
{
    return (uint32_t)sched_getcpu();
}

void stay_here(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(this_processor(), &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

void add_process_records(uint32_t process_record)
{
    const struct etwas_cpu_stream_request request = {.tag = SIDEBAND_TAG,
                                                     .process_records = process_record};
    struct etwas_unavailability fault;

    assert_true(etwas_cpu_stream_add(&stream, &request, &fault));
}

void open_stream(size_t ring_bytes)
{
    struct etwas_unavailability fault;

    assert_true(etwas_cpu_stream_open(&stream, this_processor(), 0, ring_bytes, &fault));
    add_process_records(ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES |
                        ETWAS_PROCESS_RECORD_IMAGES);
    etwas_cpu_stream_start(&stream);
}

const char *why_no_stream(void)
{
    static char text[256];
    struct etwas_unavailability fault;

    if (!etwas_cpu_stream_open(&stream, this_processor(), 0, RING_BYTES, &fault)) {
        etwas_unavailability_explain(&fault, text, sizeof text);
        return text;
    }
    etwas_cpu_stream_close(&stream);
    return NULL;
}
