/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What `etwas advise` works out of a flight recorder is what the engine does: the same trace is
 * logged to a pool, event by event, and what that holds is compared.
 */
#include "advise/model.h"
#include "buffer/pool_count.h"
#include "support/processors.h"
#include "support/start.h"

enum {
    EVENTS = 30000,
    BUFFER_KB = 4,
    TURNS = 10,
};

/* Bursts of one processor, and in between a few of the others. */
static void make_load(struct etwas_load *load, uint32_t seed)
{
    uint64_t random = seed;
    uint32_t busy = 0;
    int64_t now_ns = 1000;

    assert_true(etwas_load_open(load));
    for (uint32_t event = 0; event < EVENTS; event++) {
        uint32_t drawn;

        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        drawn = (uint32_t)(random >> 33);
        if (drawn % 512 == 0) {
            busy = drawn / 512 % PROCESSORS;
            now_ns += drawn % 1000000;
        }
        now_ns += 1 + drawn % 100;
        assert_true(etwas_load_add(load, now_ns, drawn % 23 == 0 ? drawn / 23 % PROCESSORS : busy,
                                   false, 48 + drawn / 64 % 500));
    }
    load->span_ns = (uint64_t)(now_ns - load->first_ns);
}

static uint64_t newest_lost(const struct etwas_pool *pool)
{
    int64_t newest = 0;

    for (uint32_t processor = 0; processor < PROCESSORS; processor++) {
        int64_t lost = processors_lost(pool, processor);

        newest = lost > newest ? lost : newest;
    }
    return (uint64_t)newest;
}

/* As the model says it, of the engine. Stamps are from 1 on. */
static void run_engine(const struct etwas_load *load, const struct etwas_model_sizes *sizes,
                       struct etwas_recorder_result *result)
{
    struct etwas_pool *pool = processors_open(0, sizes->buffer_kb * 1024, sizes->minimum);
    struct etwas_pool_counts counts;

    *result = (struct etwas_recorder_result){.least_ns = UINT64_MAX};
    for (size_t i = 0; i < load->count; i++) {
        const struct etwas_load_piece *piece = &load->pieces[i];
        uint64_t lost;

        processors_log(pool, piece->slot, (int64_t)piece->time_ns + 1, piece->bytes);
        lost = newest_lost(pool);
        if (lost != 0 && piece->time_ns + 1 - lost < result->least_ns) {
            result->least_ns = piece->time_ns + 1 - lost;
            result->least_at_ns = piece->time_ns;
        }
        result->end_ns = load->span_ns + 1 - lost;
    }
    etwas_pool_count(pool, &counts);
    result->overwritten_events = counts.overwritten;
    processors_close(pool);
}

static void the_model_of_a_recorder_holds_what_the_engine_holds(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        const uint32_t buffers = 2 * PROCESSORS + turn * turn * 5;
        const struct etwas_model_sizes sizes = {
            .buffer_kb = BUFFER_KB, .minimum = buffers, .maximum = buffers};
        struct etwas_recorder_result model;
        struct etwas_recorder_result engine;
        struct etwas_load load;

        make_load(&load, turn);
        assert_int_equal(load.joined_bytes, 0);
        assert_true(etwas_recorder_run(&load, &sizes, load.span_ns / 3, &model));
        run_engine(&load, &sizes, &engine);
        assert_true(model.overwritten_buffers > 0);
        assert_int_equal(model.overwritten_events, engine.overwritten_events);
        assert_int_equal(model.least_ns, engine.least_ns);
        assert_int_equal(model.least_at_ns, engine.least_at_ns);
        assert_int_equal(model.end_ns, engine.end_ns);
        etwas_load_free(&load);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_of_a_recorder_holds_what_the_engine_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
