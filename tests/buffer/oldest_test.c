/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flight recorder overwrites what was closed first: the history that it holds is the longest, and
 * another buffer never makes it shorter.
 */
#include <sched.h>
#include <string.h>

#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "support/folder.h"
#include "support/processors.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BUFFER_BYTES = 4096,
    ROOM = BUFFER_BYTES - ETWAS_ETL_BUFFER_HEADER_BYTES,
    EVENTS = 20000,
    LARGEST = 1200,
    SMALLEST = 40,
    MOST_BUFFERS = 600,
};

/* ---- a trace --------------------------------------------------------------------------------- */

struct trace {
    uint64_t random;
    uint64_t quota[PROCESSORS]; /* of 2^16, and of those before */
};

static uint32_t next_random(struct trace *trace)
{
    trace->random = trace->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(trace->random >> 33);
}

/* Some processors log a thousand times as much as others. */
static struct trace trace_of(uint64_t seed)
{
    struct trace trace = {.random = seed};
    uint64_t weights[PROCESSORS];
    uint64_t all = 0;

    for (uint32_t processor = 0; processor < PROCESSORS; processor++) {
        weights[processor] = UINT64_C(1) << next_random(&trace) % 11;
        all += weights[processor];
    }
    for (uint32_t processor = 0; processor < PROCESSORS; processor++) {
        trace.quota[processor] =
            (weights[processor] << 16) / all + (processor > 0 ? trace.quota[processor - 1] : 0);
    }
    return trace;
}

static uint32_t next_processor(struct trace *trace)
{
    uint32_t chosen = next_random(trace) & 0xFFFF;
    uint32_t processor = 0;

    while (processor + 1 < PROCESSORS && trace->quota[processor] <= chosen) {
        processor++;
    }
    return processor;
}

static uint32_t next_bytes(struct trace *trace)
{
    return (SMALLEST + next_random(trace) % (LARGEST - SMALLEST)) / 8 * 8;
}

/* ---- what should be there -------------------------------------------------------------------- */

struct closed {
    uint32_t processor;
    uint32_t records;
    int64_t newest;
};

/* Buffers as they are closed, the first first; as many stay as are not current. */
struct expected {
    uint32_t buffers;
    uint32_t in_use;
    uint32_t closed_count;
    uint32_t overwritten_count;
    uint32_t used[PROCESSORS]; /* 0: it has none */
    struct closed current[PROCESSORS];
    struct closed closed[EVENTS];
    int64_t lost[PROCESSORS];
    uint64_t overwritten;
};

static void expect_event(struct expected *expected, uint32_t processor, int64_t stamp,
                         uint32_t bytes)
{
    struct closed *current = &expected->current[processor];

    if (expected->used[processor] == 0 || expected->used[processor] + bytes > ROOM) {
        if (expected->in_use < expected->buffers) {
            expected->in_use++;
        } else {
            const struct closed *oldest = &expected->closed[expected->overwritten_count++];

            expected->lost[oldest->processor] = oldest->newest;
            expected->overwritten += oldest->records;
        }
        if (expected->used[processor] != 0) {
            expected->closed[expected->closed_count++] = *current;
        }
        *current = (struct closed){.processor = processor};
        expected->used[processor] = 0;
    }
    expected->used[processor] += bytes;
    current->records++;
    current->newest = stamp;
}

static void expect_exact(const struct etwas_pool *pool, uint64_t events, uint64_t overwritten)
{
    struct etwas_pool_counts counts;

    etwas_pool_count(pool, &counts);
    assert_int_equal(counts.overwritten, overwritten);
    assert_int_equal(counts.recorded, events - overwritten);
    assert_int_equal(counts.lost[ETWAS_SLOT_NO_BUFFER], 0);
}

/* I4, R74. */
static void what_was_closed_first_is_overwritten_first(void **state)
{
    static const uint32_t buffers[] = {2 * PROCESSORS, 2 * PROCESSORS + 1, 70, MOST_BUFFERS};
    static struct expected expected;

    (void)state;
    for (uint32_t turn = 0; turn < 3 * sizeof buffers / sizeof buffers[0]; turn++) {
        uint32_t count = buffers[turn / 3];
        struct trace trace = trace_of(turn);
        struct etwas_pool *pool = processors_open(0, BUFFER_BYTES, count);

        memset(&expected, 0, sizeof expected);
        expected.buffers = count;
        for (uint32_t event = 0; event < EVENTS; event++) {
            uint32_t processor = next_processor(&trace);
            uint32_t bytes = next_bytes(&trace);

            processors_log(pool, processor, event + 1, bytes);
            expect_event(&expected, processor, event + 1, bytes);
            if (event % 13 == 0) {
                for (uint32_t index = 0; index < PROCESSORS; index++) {
                    assert_int_equal(processors_lost(pool, index), expected.lost[index]);
                }
                expect_exact(pool, event + 1, expected.overwritten);
            }
        }
        assert_true(expected.overwritten > 0);
        processors_close(pool);
    }
}

/* ---- what is pinned -------------------------------------------------------------------------- */

/* Buffers that were pinned when they were the oldest are so still when they are not any more. */
static void what_was_pinned_is_overwritten_before_what_came_later(void **state)
{
    enum {
        BUFFERS = 100,
        PINNED = 40
    };
    struct etwas_pool *pool = processors_open(0, BUFFER_BYTES, BUFFERS);
    uint32_t buffers[PINNED];
    uint64_t owners[PINNED];
    int64_t stamp = 0;

    (void)state;
    while (stamp < BUFFERS + 10) {
        processors_log(pool, 3, ++stamp, ROOM);
    }
    for (uint32_t index = 0; index < PINNED; index++) {
        assert_true(etwas_pool_find_complete(pool, &buffers[index], &owners[index]));
        assert_true(etwas_pool_pin(pool, buffers[index], owners[index]));
    }
    for (uint32_t index = 0; index < 3 * BUFFERS; index++) {
        processors_log(pool, 3, ++stamp, ROOM);
    }
    for (uint32_t index = PINNED; index > 0; index--) {
        etwas_pool_unpin(pool, buffers[index - 1], owners[index - 1]);
    }
    for (uint32_t index = 0; index < PINNED; index++) {
        uint32_t buffer;
        uint64_t owner;

        assert_true(etwas_pool_find_complete(pool, &buffer, &owner));
        assert_int_equal(buffer, buffers[index]);
        assert_true(owner == owners[index]);
        processors_log(pool, 3, ++stamp, ROOM);
    }
    /* So all the others are what came since, without a gap. */
    assert_int_equal(processors_lost(pool, 3), stamp - BUFFERS);
    processors_close(pool);
}

/* ---- idle processors ------------------------------------------------------------------------- */

static void an_idle_processor_holds_its_current_buffer_and_no_other(void **state)
{
    enum {
        BUFFERS = 2 * PROCESSORS + 8,
        BUSY = 5,
        NEVER = 2 /* this and those below log nothing */
    };
    struct etwas_pool *pool = processors_open(0, BUFFER_BYTES, BUFFERS);
    const uint32_t idle = PROCESSORS - 1 - (NEVER + 1);
    int64_t stamp = 0;

    (void)state;
    for (uint32_t event = 0; event < 10; event++) {
        for (uint32_t processor = NEVER + 1; processor < PROCESSORS; processor++) {
            processors_log(pool, processor, ++stamp, 1000);
        }
    }
    for (uint32_t buffer = 0; buffer < BUFFERS; buffer++) {
        processors_log(pool, BUSY, ++stamp, ROOM);
    }
    for (uint32_t processor = 0; processor < PROCESSORS; processor++) {
        assert_int_equal(processors_held(pool, processor), processor == BUSY    ? BUFFERS - idle
                                                           : processor <= NEVER ? 0
                                                                                : 1);
    }
    assert_int_equal(processors_lost(pool, BUSY), stamp - (BUFFERS - idle));
    processors_close(pool);
}

/* ---- another buffer -------------------------------------------------------------------------- */

static void history_never_shrinks_when_a_buffer_is_added(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 12; turn++) {
        struct trace trace = trace_of(100 + turn);
        uint32_t count = 2 * PROCESSORS + next_random(&trace) % 90;
        struct etwas_pool *fewer = processors_open(0, BUFFER_BYTES, count);
        struct etwas_pool *more = processors_open(1, BUFFER_BYTES, count + 1 + turn % 3);

        for (uint32_t event = 0; event < EVENTS; event++) {
            uint32_t processor = next_processor(&trace);
            uint32_t bytes = next_bytes(&trace);

            processors_log(fewer, processor, event + 1, bytes);
            processors_log(more, processor, event + 1, bytes);
            for (uint32_t index = 0; event % 13 == 0 && index < PROCESSORS; index++) {
                assert_true(processors_lost(more, index) <= processors_lost(fewer, index));
            }
        }
        assert_true(processors_lost(more, 0) > 0);
        processors_close(fewer);
        processors_close(more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_was_closed_first_is_overwritten_first),
        FOLDER_TEST(what_was_pinned_is_overwritten_before_what_came_later),
        FOLDER_TEST(an_idle_processor_holds_its_current_buffer_and_no_other),
        FOLDER_TEST(history_never_shrinks_when_a_buffer_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
