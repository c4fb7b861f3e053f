/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that are triggers of a flight recorder: by id, by level and keyword, and by both.
 */
#include <string.h>
#include <unistd.h>

#include "provider/modern.h"

enum {
    BUFFERS_A_PROCESSOR = 16,
    LONG_MS = 3600000,
};

struct ids {
    uint8_t in;
    uint8_t reserved;
    uint16_t count;
    uint16_t ids[2];
};

static const struct ids five = {1, 0, 1, {5}};
static const EVENT_FILTER_LEVEL_KW severe = {.MatchAnyKeyword = 0x10, .Level = 2, .FilterIn = 1};

static EVENT_FILTER_DESCRIPTOR id_trigger(const struct ids *ids)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)ids,
                                     (uint32_t)(4 + ids->count * sizeof ids->ids[0]),
                                     ETWAS_FILTER_TYPE_TRIGGER};
}

static EVENT_FILTER_DESCRIPTOR level_trigger(const EVENT_FILTER_LEVEL_KW *levels)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)levels, sizeof *levels,
                                     ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW};
}

static etwas_trace_handle start_large_recorder(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 4,
        .minimum_buffers = BUFFERS_A_PROCESSOR * ((uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1),
    };

    return start_session(NULL, &options);
}

static void arm(etwas_trace_handle session, uint32_t after_ms)
{
    const etwas_trigger_options options = {.log_file = folder_path("window%d.etl"),
                                           .after_ms = after_ms};

    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_SUCCESS);
}

static etwas_trigger_counts counts_of_triggers(etwas_trace_handle session)
{
    etwas_trigger_counts counts;

    assert_int_equal(etwas_trigger_query(session, &counts), ERROR_SUCCESS);
    return counts;
}

static void write_event(REGHANDLE provider, uint16_t id, uint8_t level, uint64_t keyword)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = level, .Keyword = keyword};

    assert_int_equal(EventWrite(provider, &descriptor, 0, NULL), ERROR_SUCCESS);
}

static bool asks(etwas_trace_handle session, REGHANDLE provider, uint16_t id, uint8_t level,
                 uint64_t keyword)
{
    uint64_t before = counts_of_triggers(session).asked;

    write_event(provider, id, level, keyword);
    return counts_of_triggers(session).asked != before;
}

static void an_event_asks_by_its_id_or_its_level_and_keyword_or_both(void **state)
{
    EVENT_FILTER_DESCRIPTOR filters[] = {id_trigger(&five), level_trigger(&severe)};
    const struct ids not_five = {0, 0, 1, {5}};
    etwas_trace_handle session = start_large_recorder();
    REGHANDLE provider = begin_modern(NULL);
    EVENT_FILTER_DESCRIPTOR others = id_trigger(&not_five);
    uint64_t recorded;

    (void)state;
    assert_int_equal(enable_asking(session, 0, &filters[0], 1), ERROR_SUCCESS);
    /* The trigger is not armed: it is an event like any other. */
    assert_false(asks(session, provider, 5, 1, 0x10));
    arm(session, LONG_MS);
    assert_true(asks(session, provider, 5, 1, 0x10));
    assert_true(asks(session, provider, 5, 4, 0x20));
    assert_false(asks(session, provider, 6, 1, 0x10));

    assert_int_equal(enable_asking(session, 0, &filters[1], 1), ERROR_SUCCESS);
    assert_true(asks(session, provider, 6, 2, 0x30));
    assert_false(asks(session, provider, 6, 3, 0x10));
    assert_false(asks(session, provider, 6, 2, 0x20));

    assert_int_equal(enable_asking(session, 0, filters, 2), ERROR_SUCCESS);
    assert_true(asks(session, provider, 5, 2, 0x10));
    assert_false(asks(session, provider, 6, 2, 0x10));
    assert_false(asks(session, provider, 5, 3, 0x10));

    assert_int_equal(enable_asking(session, 0, &others, 1), ERROR_SUCCESS);
    assert_false(asks(session, provider, 5, 2, 0x10));
    assert_true(asks(session, provider, 6, 2, 0x10));

    assert_int_equal(enable_asking(session, 0, NULL, 0), ERROR_SUCCESS);
    recorded = counts_of(session).recorded;
    assert_false(asks(session, provider, 6, 2, 0x10));
    /* Every event was recorded, whether it asked or not. */
    assert_int_equal(recorded, 12);
    assert_int_equal(counts_of(session).recorded, 13);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, NULL);
}

static void only_the_session_whose_filter_it_is_writes_a_file_and_the_event_is_in_it(void **state)
{
    EVENT_FILTER_DESCRIPTOR filter = id_trigger(&five);
    etwas_trace_handle session = start_large_recorder();
    etwas_trace_handle other = start_large_recorder();
    REGHANDLE provider = begin_modern(NULL);
    struct modern_events events;

    (void)state;
    arm(session, 0);
    arm(other, 0);
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_SUCCESS);
    assert_int_equal(enable_asking(other, 0, NULL, 0), ERROR_SUCCESS);
    write_event(provider, 1, 1, 1);
    write_event(provider, 5, 1, 1);
    while (counts_of_triggers(session).files == 0) {
        (void)usleep(500);
    }
    assert_int_equal(counts_of_triggers(session).asked, 1);
    assert_int_equal(counts_of_triggers(other).asked, 0);
    read_modern(folder_path("window1.etl"), &events);
    assert_int_equal(events.count, 2);
    assert_int_equal(events.list[0].header.EventDescriptor.Id, 1);
    assert_int_equal(events.list[1].header.EventDescriptor.Id, 5);
    free_modern(&events);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(other, NULL);
}

static void what_makes_no_sense_is_refused(void **state)
{
    const struct ids none = {1, 0, 0, {0}};
    EVENT_FILTER_DESCRIPTOR filter = id_trigger(&none);
    EVENT_FILTER_DESCRIPTOR levels = level_trigger(&severe);
    EVENT_FILTER_DESCRIPTOR ids = id_trigger(&five);
    etwas_trace_handle session = start_large_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_INVALID_PARAMETER);
    levels.Size--;
    assert_int_equal(enable_asking(session, 0, &levels, 1), ERROR_INVALID_PARAMETER);
    levels.Size++;
    /* Ids mean something in one provider, levels in all of a group. */
    assert_int_equal(enable_asking(session, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, &ids, 1),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(enable_asking(session, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, &levels, 1),
                     ERROR_SUCCESS);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(an_event_asks_by_its_id_or_its_level_and_keyword_or_both),
        FOLDER_TEST(only_the_session_whose_filter_it_is_writes_a_file_and_the_event_is_in_it),
        FOLDER_TEST(what_makes_no_sense_is_refused),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
