/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/cpu_stream_fixture.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct etwas_feed feed;

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

void add_sideband(uint32_t sideband)
{
    const struct etwas_feed_wish wish = {.tag = SIDEBAND_TAG, .sideband = sideband};
    struct etwas_fault fault;

    assert_true(etwas_feed_add(&feed, &wish, &fault));
}

void open_feed(size_t ring_bytes)
{
    struct etwas_fault fault;

    assert_true(etwas_feed_open(&feed, this_processor(), 0, ring_bytes, &fault));
    add_sideband(ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_IMAGES);
    etwas_feed_start(&feed);
}

const char *why_no_feed(void)
{
    static char text[256];
    struct etwas_fault fault;

    if (!etwas_feed_open(&feed, this_processor(), 0, RING_BYTES, &fault)) {
        etwas_fault_explain(&fault, text, sizeof text);
        return text;
    }
    etwas_feed_close(&feed);
    return NULL;
}
