/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A stack has the stamp that its event has in the file, also where that is not the original one,
 * since stamps of a stream do not decrease. Each part with more frames than its record holds is
 * marked as cut.
 */
#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>

#include "buffer/publish.h"
#include "etl/layout.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/start.h"
#include "system/stack_walk.h"

enum {
    GROUP = 0x05,
    TYPE = 36,
    HOOK = GROUP << 8 | TYPE,
    GROUP_STACK_WALK = 0x18,
    SLOT = 0,
    LATER = 2000000000,
};

static etwas_trace_handle session;
static int64_t event_stamp; /* put down last */
static int64_t said_stamp;  /* by the last stack */

static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *record)
{
    const struct etwas_session *inside = inside_of(session);
    struct etwas_etl_perfinfo_header header;
    struct etwas_stamped_record published = *record;
    int64_t stamp = 0;

    (void)emitter;
    memcpy(&header, record->bytes, sizeof header);
    published.recorded_stamp = &stamp;
    assert_int_equal(etwas_publish_stamped(etwas_attachment_of(inside->index), slot,
                                           etwas_session_gate(inside), &published),
                     ERROR_SUCCESS);
    if (header.group == GROUP_STACK_WALK) {
        memcpy(&said_stamp, (const uint8_t *)record->bytes + sizeof header, sizeof said_stamp);
    } else {
        event_stamp = stamp;
        assert_non_null(record->recorded_stamp);
        *record->recorded_stamp = stamp;
    }
}

static void log_with_stack(struct etwas_stack_walker *walker, int64_t stamp)
{
    struct etwas_etl_perfinfo_header header = {.header_type = ETWAS_ETL_PERFINFO64,
                                               .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                               .size = sizeof header,
                                               .type = TYPE,
                                               .group = GROUP};

    etwas_emit(&walker->emitter, SLOT, &header, stamp);
}

static void a_stack_says_the_stamp_that_was_put_down(void **state)
{
    static const uint64_t frames[] = {UINT64_C(0x1000), UINT64_C(0x2000)};
    const struct etwas_sample sample = {.frame_count = 2, .frames = (const uint8_t *)frames};
    const struct etwas_system_settings settings = {.stack_count = 1, .stack_hooks = {HOOK}};
    struct etwas_emitter next = {.receive = take_record};
    static struct etwas_stack_walker walker;
    int64_t now;

    (void)state;
    session = start_shared_session(folder_path("s.etl"), NULL);
    now = (int64_t)etwas_slot_of(inside_of(session)->index, SLOT)->newest + LATER;
    etwas_stack_walker_open(&walker, &next);
    etwas_stack_walker_choose(&walker, &settings);
    walker.sample = &sample;
    log_with_stack(&walker, now);
    assert_true(event_stamp == now);
    assert_true(said_stamp == now);
    log_with_stack(&walker, now - 1); /* the clock was set back */
    assert_true(event_stamp == now);
    assert_true(said_stamp == now);
    log_with_stack(&walker, now + 1);
    assert_true(event_stamp == now + 1);
    assert_true(said_stamp == now + 1);
    etwas_stack_walker_free(&walker);
    stop_session(session, NULL);
}

/* ---- parts ----------------------------------------------------------------------------------- */

enum {
    MOST_FRAMES = 192, /* of a record */
    MOST_PARTS = 2,
    HEAD_BYTES = 16 + 16,
};

static struct {
    uint32_t frames;
    uint64_t outermost;
} parts[MOST_PARTS];
static uint32_t part_count;

static void take_part(struct etwas_emitter *emitter, uint32_t slot,
                      const struct etwas_stamped_record *record)
{
    struct etwas_etl_perfinfo_header header;

    (void)emitter;
    (void)slot;
    memcpy(&header, record->bytes, sizeof header);
    if (header.group == GROUP_STACK_WALK) {
        assert_true(part_count < MOST_PARTS);
        parts[part_count].frames = (uint32_t)(header.size - HEAD_BYTES) / 8;
        memcpy(&parts[part_count].outermost, (const uint8_t *)record->bytes + header.size - 8, 8);
        part_count++;
    }
}

static void each_part_of_a_stack_that_goes_on_is_marked_as_cut(void **state)
{
    static const struct {
        uint32_t frames[MOST_PARTS];
        uint32_t most; /* that the kernel hands over; 0: more than these */
        bool is_cut[MOST_PARTS];
    } cases[] = {
        {{10, 10}, 0, {false, false}},
        {{MOST_FRAMES, MOST_FRAMES}, 0, {false, false}},
        {{MOST_FRAMES + 1, 10}, 0, {true, false}},
        {{10, MOST_FRAMES + 1}, 0, {false, true}},
        {{MOST_FRAMES + 9, MOST_FRAMES + 1}, 0, {true, true}},
        {{10, 10}, 20, {false, true}},
        {{MOST_FRAMES + 9, 10}, MOST_FRAMES + 19, {true, true}},
    };
    const struct etwas_system_settings settings = {.stack_count = 1, .stack_hooks = {HOOK}};
    struct etwas_emitter next = {.receive = take_part};
    static struct etwas_stack_walker walker;

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        uint64_t frames[2 + MOST_PARTS * (MOST_FRAMES + 9)];
        struct etwas_sample sample = {.frames = (const uint8_t *)frames};

        for (uint32_t part = 0; part < MOST_PARTS; part++) {
            frames[sample.frame_count++] = part == 0 ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
            for (uint32_t frame = 0; frame < cases[index].frames[part]; frame++) {
                frames[sample.frame_count++] = 0x1000 + frame;
            }
        }
        etwas_stack_walker_open(&walker, &next);
        etwas_stack_walker_choose(&walker, &settings);
        walker.most_frames = cases[index].most != 0 ? cases[index].most : UINT32_MAX;
        walker.sample = &sample;
        part_count = 0;
        log_with_stack(&walker, 1);
        assert_int_equal(part_count, MOST_PARTS);
        for (uint32_t part = 0; part < MOST_PARTS; part++) {
            uint32_t whole = cases[index].frames[part] + cases[index].is_cut[part];

            assert_int_equal(parts[part].frames, whole < MOST_FRAMES ? whole : MOST_FRAMES);
            assert_int_equal(parts[part].outermost == UINT64_MAX, cases[index].is_cut[part]);
        }
        etwas_stack_walker_free(&walker);
    }
}

static void a_caller_where_no_code_can_be_is_a_cut(void **state)
{
    static const uint64_t frames[] = {
        PERF_CONTEXT_KERNEL,  0x1000, 0x2000, PERF_CONTEXT_USER, 0x1000, 0x2000, 0,
        UINT64_C(0x100006CF0)};
    static const uint64_t called_nothing[] = {PERF_CONTEXT_USER, 0, 0x1000};
    const struct etwas_system_settings settings = {.stack_count = 1, .stack_hooks = {HOOK}};
    struct etwas_sample sample = {.frame_count = sizeof frames / sizeof frames[0],
                                  .frames = (const uint8_t *)frames};
    struct etwas_emitter next = {.receive = take_part};
    static struct etwas_stack_walker walker;

    (void)state;
    etwas_stack_walker_open(&walker, &next);
    etwas_stack_walker_choose(&walker, &settings);
    walker.most_frames = UINT32_MAX;
    walker.sample = &sample;
    part_count = 0;
    log_with_stack(&walker, 1);
    assert_int_equal(part_count, MOST_PARTS);
    assert_int_equal(parts[0].frames, 2);
    assert_true(parts[0].outermost == 0x2000);
    assert_int_equal(parts[1].frames, 3);
    assert_true(parts[1].outermost == UINT64_MAX);
    sample.frame_count = sizeof called_nothing / sizeof called_nothing[0];
    sample.frames = (const uint8_t *)called_nothing;
    part_count = 0;
    log_with_stack(&walker, 1);
    assert_int_equal(part_count, 1);
    assert_int_equal(parts[0].frames, 2); /* it was where it jumped to */
    assert_true(parts[0].outermost == 0x1000);
    etwas_stack_walker_free(&walker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stack_says_the_stamp_that_was_put_down, folder_setup,
                                        folder_teardown),
        cmocka_unit_test(each_part_of_a_stack_that_goes_on_is_marked_as_cut),
        cmocka_unit_test(a_caller_where_no_code_can_be_is_a_cut),
    };

    return cmocka_run_group_tests_name("stack stamps", tests, NULL, NULL);
}
