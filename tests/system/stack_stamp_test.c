/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A stack says the stamp that its event has in the file, also where that is not the one it came with, since
 * stamps of a stream do not decrease.
 */
#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>

#include "buffer/publish_stamped.h"
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
    published.put_down = &stamp;
    assert_int_equal(etwas_publish_stamped(etwas_attachment_of(inside->index), slot,
                                           etwas_session_gate(inside), &published),
                     ERROR_SUCCESS);
    if (header.group == GROUP_STACK_WALK) {
        memcpy(&said_stamp, (const uint8_t *)record->bytes + sizeof header, sizeof said_stamp);
    } else {
        event_stamp = stamp;
        assert_non_null(record->put_down);
        *record->put_down = stamp;
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
    struct etwas_emitter next = {.take = take_record};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stack_says_the_stamp_that_was_put_down, folder_setup,
                                        folder_teardown),
    };

    return cmocka_run_group_tests_name("stack stamps", tests, NULL, NULL);
}
