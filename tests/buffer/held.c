/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "held.h"
#include "support/inside.h"

const enum etwas_testpoint held_points[POINTS] = {
    ETWAS_POINT_RESERVE_LOADED,    ETWAS_POINT_STAMPED,          ETWAS_POINT_RESERVED,
    ETWAS_POINT_WRITTEN,           ETWAS_POINT_MARKED,           ETWAS_POINT_SWITCH_ENTERED,
    ETWAS_POINT_SWITCH_FOUND_FREE, ETWAS_POINT_SWITCH_GREW,      ETWAS_POINT_SWITCH_CLAIMED,
    ETWAS_POINT_SWITCH_NAMED,      ETWAS_POINT_SWITCH_INSTALLED,
};
const uint32_t held_befores[WAYS] = {10, 13};

bool is_on_slow_path(enum etwas_testpoint point)
{
    return point >= ETWAS_POINT_SWITCH_ENTERED;
}

bool has_reserved(enum etwas_testpoint point)
{
    return point == ETWAS_POINT_RESERVED || point == ETWAS_POINT_WRITTEN ||
           point == ETWAS_POINT_MARKED;
}

static void *held_main(void *argument)
{
    struct held *held = argument;

    for (uint32_t index = 0; index < held->before; index++) {
        (void)writer_log_bytes(held->writer, 40);
    }
    hold_me(held->point);
    /* A switch comes when the buffer is full; anything else with the next event. */
    do {
        held->last = held->writer->attempted;
        held->last_code = writer_log_bytes(held->writer, is_on_slow_path(held->point) ? 1000 : 40);
    } while (is_on_slow_path(held->point) && hold_passed(held->point) == 0);
    for (uint32_t index = 0; index < held->then; index++) {
        (void)writer_log_bytes(held->writer, 40);
    }
    return NULL;
}

struct writer *short_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
}

void hold_one(struct held *held, etwas_trace_handle session, enum etwas_testpoint point,
              uint32_t before)
{
    hold_count_from_zero();
    *held = (struct held){
        .point = point,
        .before = before,
        .writer = short_writer(session),
        .then = LATER,
    };
    assert_int_equal(pthread_create(&held->thread, NULL, held_main, held), 0);
    hold_wait();
}

void let_go(struct held *held)
{
    hold_release();
    assert_int_equal(pthread_join(held->thread, NULL), 0);
}

int held_setup(void **state)
{
    int code = folder_setup(state);

    stay_on_one_processor();
    return code;
}

int held_teardown(void **state)
{
    leave_one_processor();
    etwas_drain_timeout_ns = TEST_DRAIN_TIMEOUT_NS;
    return folder_teardown(state);
}
