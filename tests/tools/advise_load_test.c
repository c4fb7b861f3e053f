/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The load of traces with more events than `etwas advise` keeps one by one.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "advise/model.h"

enum {
    EVENTS = ETWAS_LOAD_PIECES + ETWAS_LOAD_PIECES / 4,
    RECORD_BYTES = 61, /* 64 in a buffer */
    PLACE_BYTES = 64,
    EVENT_NS = 1000,
    PROCESSORS = 3,
};

static struct etwas_load load;

/* One event each microsecond, of the processors in turn. */
static int make_load(void **state)
{
    (void)state;
    if (!etwas_load_open(&load)) {
        return -1;
    }
    for (int64_t event = 0; event < EVENTS; event++) {
        if (!etwas_load_add(&load, 5000 + event * EVENT_NS, (uint32_t)(event % PROCESSORS), false,
                            RECORD_BYTES)) {
            return -1;
        }
    }
    return 0;
}

static int free_load(void **state)
{
    (void)state;
    etwas_load_free(&load);
    return 0;
}

static void events_that_are_joined_keep_their_bytes_their_processor_and_their_order(void **state)
{
    uint64_t events[PROCESSORS] = {0};
    uint64_t bytes[PROCESSORS] = {0};
    uint64_t before_ns = 0;

    (void)state;
    assert_true(load.count <= ETWAS_LOAD_PIECES);
    assert_int_not_equal(load.joined_bytes, 0);
    for (size_t i = 0; i < load.count; i++) {
        const struct etwas_load_piece *piece = &load.pieces[i];

        assert_true(piece->time_ns >= before_ns);
        assert_true(piece->bytes <= load.joined_bytes);
        assert_in_range(piece->slot, 0, PROCESSORS - 1);
        before_ns = piece->time_ns;
        events[piece->slot] += piece->events;
        bytes[piece->slot] += piece->bytes;
    }
    for (uint32_t slot = 0; slot < PROCESSORS; slot++) {
        assert_int_equal(events[slot], EVENTS / PROCESSORS + (slot < EVENTS % PROCESSORS));
        assert_int_equal(bytes[slot], events[slot] * PLACE_BYTES);
        assert_int_equal(load.slots[slot].sum.events, events[slot]);
    }
    assert_int_equal(load.span_ns, (uint64_t)(EVENTS - 1) * EVENT_NS);
}

/* All of a buffer's 65,464 bytes are used; the current buffer of each slot is less than full. */
static void a_flight_recorder_is_known_to_a_hundredth(void **state)
{
    const struct etwas_model_sizes sizes = {.buffer_kb = 64, .minimum = 1000, .maximum = 1000};
    const uint64_t buffer_ns = (uint64_t)etwas_model_room(&sizes) / PLACE_BYTES * EVENT_NS;
    const uint64_t expected_ns = (sizes.minimum - PROCESSORS) * buffer_ns;
    struct etwas_recorder_result result;

    (void)state;
    assert_true(etwas_recorder_run(&load, &sizes, 2 * expected_ns, &result));
    assert_in_range(result.least_ns, expected_ns / 100 * 99, expected_ns / 100 * 101);
    assert_in_range(result.end_ns, expected_ns / 100 * 99, expected_ns / 100 * 101);
    assert_in_range(result.overwritten_events, EVENTS - (expected_ns + 4 * buffer_ns) / EVENT_NS,
                    EVENTS - expected_ns / EVENT_NS);
    assert_in_range(result.missing_events, expected_ns / EVENT_NS / 100 * 98,
                    expected_ns / EVENT_NS / 100 * 102);
}

/*
 * It is woken when half are used, and what comes until it does has to find room in the other half.
 */
static void a_flusher_that_comes_late_needs_room_for_what_comes_meanwhile(void **state)
{
    const struct etwas_flusher_model model = {.late_ns = 100000000, .write_rate = 1e12};
    const uint64_t late_bytes = model.late_ns / EVENT_NS * PLACE_BYTES;
    struct etwas_model_sizes sizes = {.buffer_kb = 64};
    const uint32_t needed = (uint32_t)(2 * late_bytes / etwas_model_room(&sizes)) + 2 * PROCESSORS;
    struct etwas_flusher_result result;

    (void)state;
    sizes.minimum = sizes.maximum = needed + needed / 50;
    assert_true(etwas_flusher_run(&load, &sizes, &model, &result));
    assert_int_equal(result.lost_events, 0);
    sizes.minimum = sizes.maximum = needed / 4;
    assert_true(etwas_flusher_run(&load, &sizes, &model, &result));
    assert_in_range(result.lost_events, EVENTS / 4, EVENTS - 1);
    assert_int_equal(result.most_in_use, sizes.maximum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_are_joined_keep_their_bytes_their_processor_and_their_order),
        cmocka_unit_test(a_flight_recorder_is_known_to_a_hundredth),
        cmocka_unit_test(a_flusher_that_comes_late_needs_room_for_what_comes_meanwhile),
    };

    return cmocka_run_group_tests(tests, make_load, free_load);
}
