/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "timeline_scene.h"

#include <stdlib.h>
#include <string.h>

struct etwas_clock_snapshot_list clock_snapshot_list;
struct etwas_timeline *timeline;

/* A counter of 1 GHz whose stamps begin at 1,000, calibrated to 1 ppm. */
static struct etwas_timeline_base base_of(uint32_t clock_type)
{
    return (struct etwas_timeline_base){
        .clock_type = clock_type,
        .rate = {clock_type == ETWAS_ETL_CLOCK_SYSTEM ? 1 : 10,
                 clock_type == ETWAS_ETL_CLOCK_SYSTEM ? 100 : 10, 1000},
        .first_raw = 1000,
        .start_filetime = START,
        .anchor_raw = 1000,
        .anchor_qpc_ns = 7000,
    };
}

void put(int64_t raw, int64_t qpc_ns, int64_t filetime)
{
    const struct etwas_clock_snapshot snapshot = {raw, qpc_ns, filetime, 0, 30, 130};

    assert_true(etwas_clock_snapshot_list_add(&clock_snapshot_list, &snapshot));
}

void build(uint32_t clock_type)
{
    const struct etwas_timeline_base base = base_of(clock_type);

    etwas_timeline_free(timeline);
    timeline = etwas_timeline_new(&base, &clock_snapshot_list);
    assert_non_null(timeline);
}

int forget(void **state)
{
    (void)state;
    etwas_timeline_free(timeline);
    timeline = NULL;
    free(clock_snapshot_list.snapshots);
    memset(&clock_snapshot_list, 0, sizeof clock_snapshot_list);
    return 0;
}

etwas_clock_time qpc_at(int64_t raw)
{
    return etwas_timeline_convert(timeline, raw, ETWAS_CLOCK_QPC);
}

etwas_clock_time system_at(int64_t raw)
{
    return etwas_timeline_convert(timeline, raw, ETWAS_CLOCK_SYSTEM_TIME);
}
