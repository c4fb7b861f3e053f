/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers from payloads: which events of a session with a log file ask a flight recorder for a window, of
 * which moment, what becomes of them, and which filters are refused.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/tdh.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "support/folder.h"
#include "support/start.h"

enum {
    BUFFERS_A_PROCESSOR = 16,
    LONG_MS = 3600000, /* no test waits for it */
    ORDER_TYPE = 7,
    ORDER_VERSION = 2,
    ORDER_ID = 70,
};

static const etwas_guid order_class = {0x11, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};

/* An order as it lies in a payload, and what its fields are. */
struct order {
    uint32_t items;
    int16_t change;
    char customer[8];
    uint64_t took_us;
} __attribute__((packed));

static const etwas_field_description order_fields[] = {
    {.name = "items", .in_type = TDH_INTYPE_UINT32},
    {.name = "change", .in_type = TDH_INTYPE_INT16},
    {.name = "customer", .in_type = TDH_INTYPE_ANSISTRING, .length = 8},
    {.name = "took_us", .in_type = TDH_INTYPE_UINT64, .map = "shown otherwise"},
};

static const etwas_payload_predicate is_slow = {"took_us", "500", PAYLOADFIELD_GT, 0};

static etwas_payload_filter order_filter(const etwas_payload_predicate *predicates, uint32_t count)
{
    return (etwas_payload_filter){
        .guid = &order_class,
        .fields = order_fields,
        .field_count = sizeof order_fields / sizeof order_fields[0],
        .predicates = predicates,
        .predicate_count = count,
        .event = ORDER_TYPE,
        .version = ORDER_VERSION,
    };
}

/* ---- sessions -------------------------------------------------------------------------------- */

static etwas_trace_handle start_recorder(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .clock = ETWAS_CLOCK_QPC,
        .buffer_size_kb = 4,
        .minimum_buffers = BUFFERS_A_PROCESSOR * ((uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1),
    };

    return start_session(NULL, &options);
}

static etwas_trace_handle start_log(uint32_t clock)
{
    const etwas_session_options options = {.clock = clock, .buffer_size_kb = 4};

    return start_session(folder_path("log.etl"), &options);
}

static void arm(etwas_trace_handle session, const etwas_trigger_options *options)
{
    etwas_trigger_options named = *options;

    named.log_file = folder_path("window%d.etl");
    assert_int_equal(etwas_trigger_arm(session, &named), ERROR_SUCCESS);
}

static etwas_trigger_counts ask(etwas_trace_handle recorder)
{
    etwas_trigger_counts counts;

    assert_int_equal(etwas_trigger_query(recorder, &counts), ERROR_SUCCESS);
    return counts;
}

static etwas_payload_counts ask_log(etwas_trace_handle log)
{
    etwas_payload_counts counts;

    assert_int_equal(etwas_payload_query(log, &counts), ERROR_SUCCESS);
    assert_true(counts.tested >= counts.matched + counts.unfit);
    assert_true(counts.matched >= counts.refused);
    return counts;
}

static void wait_until_seen(etwas_trace_handle recorder)
{
    while (ask(recorder).waiting != 0) {
        (void)usleep(500);
    }
}

static void watch(etwas_trace_handle log, etwas_trace_handle recorder,
                  const etwas_payload_filter *filter)
{
    const char *fault = "something";

    assert_int_equal(etwas_trigger_on_payload(log, recorder, filter, &fault), ERROR_SUCCESS);
    assert_null(fault);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct classic {
    EVENT_TRACE_HEADER header;
    uint8_t payload[64];
};

static void log_bytes(etwas_trace_handle session, uint8_t type, uint16_t version,
                      const void *payload, size_t bytes)
{
    struct classic event = {0};

    event.header.Size = (uint16_t)(sizeof event.header + bytes);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid = order_class;
    event.header.Class.Type = type;
    event.header.Class.Version = version;
    memcpy(event.payload, payload, bytes);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
}

static const struct order usual = {3, -5, "meier", 100};
static const struct order slow = {3, -5, "meier", 501};

static void log_order(etwas_trace_handle session, const struct order *order)
{
    log_bytes(session, ORDER_TYPE, ORDER_VERSION, order, sizeof *order);
}

/* What comes of one order. */
static etwas_payload_counts judge_order(etwas_trace_handle log, const struct order *order)
{
    etwas_payload_counts before = ask_log(log);
    etwas_payload_counts after;

    log_order(log, order);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    after = ask_log(log);
    return (etwas_payload_counts){after.tested - before.tested, after.matched - before.matched,
                                  after.unfit - before.unfit, after.refused - before.refused};
}

/* ---- what a file says of its window ---------------------------------------------------------- */

static struct etwas_etl_window window;

static void take(EVENT_RECORD *event)
{
    if (memcmp(&event->EventHeader.ProviderId, &etwas_etl_own_class, sizeof(etwas_guid)) == 0 &&
        event->EventHeader.EventDescriptor.Opcode == ETWAS_ETL_WINDOW_TYPE) {
        assert_int_equal(event->UserDataLength, sizeof window);
        memcpy(&window, event->UserData, sizeof window);
    }
}

static void read_window(const char *name)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)folder_path(name),
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = take,
    };
    TRACEHANDLE trace = OpenTraceA(&logfile);

    memset(&window, 0, sizeof window);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(window.version, ETWAS_ETL_WINDOW_VERSION);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_an_event_says_asks_for_a_window_around_its_own_time(void **state)
{
    static const uint32_t clocks[] = {ETWAS_CLOCK_QPC, ETWAS_CLOCK_TSC, ETWAS_CLOCK_SYSTEM_TIME};
    const etwas_payload_filter filter = order_filter(&is_slow, 1);

    (void)state;
    for (size_t index = 0; index < sizeof clocks / sizeof clocks[0]; index++) {
        const int64_t millisecond = 1000000;
        etwas_trace_handle recorder = start_recorder();
        etwas_trace_handle log = start_log(clocks[index]);
        int64_t begun;
        int64_t logged;

        arm(recorder, &(etwas_trigger_options){.after_ms = LONG_MS});
        watch(log, recorder, &filter);
        assert_int_equal(judge_order(log, &usual).tested, 1);
        assert_int_equal(ask_log(log).matched, 0);
        assert_int_equal(ask(recorder).asked, 0);
        begun = etwas_clock_read(ETWAS_CLOCK_QPC);
        log_order(log, &slow);
        logged = etwas_clock_read(ETWAS_CLOCK_QPC);
        (void)usleep(20000);
        assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
        assert_int_equal(ask_log(log).matched, 1);
        assert_int_equal(ask_log(log).refused, 0);
        assert_int_equal(ask(recorder).asked, 1);
        wait_until_seen(recorder);
        stop_session(log, NULL);
        stop_session(recorder, NULL);
        assert_int_equal(ask_log(log).matched, 1);
        assert_int_equal(ask(recorder).files, 1);
        read_window("window1.etl");
        if (clocks[index] == ETWAS_CLOCK_QPC) {
            assert_in_range(window.trigger_raw, begun, logged);
        } else {
            /* Clocks of different rates, 20 ms later. */
            assert_in_range(window.trigger_raw, begun - millisecond, logged + millisecond);
        }
    }
}

static void an_event_that_is_meant_otherwise_asks_nothing(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_payload_filter other = filter;
    const etwas_guid other_class = {0x12, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    arm(recorder, &(etwas_trigger_options){.after_ms = LONG_MS});
    watch(log, recorder, &filter);
    other.guid = &other_class;
    watch(log, recorder, &other);
    log_bytes(log, ORDER_TYPE + 1, ORDER_VERSION, &slow, sizeof slow);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION + 1, &slow, sizeof slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).tested, 0);
    assert_int_equal(judge_order(log, &slow).matched, 1);
    /* What ends before the field that is asked says nothing of it. */
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &slow, sizeof slow - 1);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &slow, 0);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 3);
    assert_int_equal(ask_log(log).unfit, 2);
    assert_int_equal(ask_log(log).matched, 1);
    stop_session(recorder, NULL);
    assert_int_equal(ask(recorder).asked, 1);
}

struct comparison {
    const char *field;
    uint32_t compare;
    const char *holds;
    const char *fails;
};

/* Of the order that is usual. */
static const struct comparison comparisons[] = {
    {"items", PAYLOADFIELD_EQ, "3", "4"},
    {"items", PAYLOADFIELD_EQ, "0x3", "-3"},
    {"items", PAYLOADFIELD_NE, "-1", "3"},
    {"items", PAYLOADFIELD_LE, "3", "2"},
    {"items", PAYLOADFIELD_LT, "18446744073709551615", "3"},
    {"items", PAYLOADFIELD_GT, "-9223372036854775808", "3"},
    {"items", PAYLOADFIELD_GE, "3", "0xFFFFFFFFFFFFFFFF"},
    {"items", PAYLOADFIELD_BETWEEN, "3,3", "4,10"},
    {"items", PAYLOADFIELD_NOTBETWEEN, "-5,2", "-5,3"},
    {"items", PAYLOADFIELD_MODULO, "3", "2"},
    {"items", PAYLOADFIELD_IS, "3", "33"},
    {"items", PAYLOADFIELD_ISNOT, "33", "3"},
    {"change", PAYLOADFIELD_EQ, "-5", "65531"},
    {"change", PAYLOADFIELD_LT, "0", "-5"},
    {"change", PAYLOADFIELD_BETWEEN, "-6,-4", "-4,6"},
    {"change", PAYLOADFIELD_MODULO, "-5", "3"},
    {"customer", PAYLOADFIELD_IS, "meier", "Meier"},
    {"customer", PAYLOADFIELD_IS, "meier", "mei"},
    {"customer", PAYLOADFIELD_ISNOT, "mei", "meier"},
    {"customer", PAYLOADFIELD_CONTAINS, "eie", "eix"},
    {"customer", PAYLOADFIELD_CONTAINS, "meier", "meier2"},
    {"customer", PAYLOADFIELD_DOESNTCONTAIN, "x", "r"},
};

static void fields_are_compared_as_they_are(void **state)
{
    const etwas_payload_filter none = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = 0;

    (void)state;
    for (size_t index = 0; index < sizeof comparisons / sizeof comparisons[0]; index++) {
        const struct comparison *comparison = &comparisons[index];
        const etwas_payload_predicate two[] = {
            {comparison->field, comparison->holds, comparison->compare, 0},
            {comparison->field, comparison->fails, comparison->compare, 0}};
        etwas_payload_filter filter;

        log = start_log(ETWAS_CLOCK_QPC);
        filter = order_filter(&two[0], 1);
        watch(log, recorder, &filter); /* matches */
        filter = order_filter(&two[1], 1);
        watch(log, recorder, &filter);
        filter = order_filter(two, 2);
        watch(log, recorder, &filter);
        filter.match_any = 1;
        watch(log, recorder, &filter); /* matches */
        watch(log, recorder, &none);
        if (judge_order(log, &usual).matched != 2) {
            fail_msg("%s %u %s, %s", comparison->field, comparison->compare, comparison->holds,
                     comparison->fails);
        }
        assert_int_equal(ask_log(log).tested, 5);
        assert_int_equal(ask_log(log).unfit, 0);
        stop_session(log, NULL);
    }
    stop_session(recorder, NULL);
}

/* Each kind of event, and fields behind others of any length. */

struct wide_order {
    uint16_t name_units;
    etwas_wchar name[3];
    uint8_t count;
    uint16_t parts[2];
    uint16_t note_bytes;
    char note[4];
    uint32_t dump_bytes;
    uint8_t dump[3];
    uint8_t code;
} __attribute__((packed));

static const etwas_field_description wide_fields[] = {
    {.name = "name_units", .in_type = TDH_INTYPE_UINT16},
    {.name = "name", .in_type = TDH_INTYPE_UNICODESTRING, .length = ETWAS_BY_FIELD_BEFORE},
    {.name = "count", .in_type = TDH_INTYPE_UINT8},
    {.name = "parts", .in_type = TDH_INTYPE_UINT16, .count = ETWAS_BY_FIELD_BEFORE},
    {.name = "note", .in_type = TDH_INTYPE_COUNTEDANSISTRING},
    {.name = "dump", .in_type = TDH_INTYPE_HEXDUMP},
    {.name = "code", .in_type = TDH_INTYPE_UINT8},
};

static void fields_lie_behind_others_of_any_length(void **state)
{
    static const struct wide_order order = {3, {u'k', u'ö', u'x'}, 2, {1, 2}, 4, "note",
                                            3, {9, 9, 9},          42};
    static const etwas_payload_predicate predicates[] = {
        {"code", "42", PAYLOADFIELD_EQ, 0},
        {"name", "ö", PAYLOADFIELD_CONTAINS, 0},
        {"name", "köx", PAYLOADFIELD_IS, 0},
        {"note", "note", PAYLOADFIELD_IS, 0},
    };
    etwas_payload_filter filter = order_filter(predicates, 4);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    struct wide_order long_one = order;

    (void)state;
    filter.fields = wide_fields;
    filter.field_count = sizeof wide_fields / sizeof wide_fields[0];
    watch(log, recorder, &filter);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &order, sizeof order);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).matched, 1);
    /* What counts says more than there is. */
    long_one.name_units = 0xFFFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.count = 0xFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.note_bytes = 0xFFFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.dump_bytes = UINT32_MAX;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).unfit, 4);
    assert_int_equal(ask_log(log).matched, 1);
    stop_session(recorder, NULL);
}

static const etwas_guid modern_guid = {0x5d3c, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};
TRACELOGGING_DEFINE_PROVIDER(shop, "Etwas.Test.PayloadTrigger",
                             (0x5d3c, 0x22, 0x33, 1, 2, 3, 4, 5, 6, 7, 8));

static void enable(etwas_trace_handle log)
{
    assert_int_equal(EnableTraceEx2(log, &modern_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                                    UINT32_MAX, NULL),
                     ERROR_SUCCESS);
}

static void modern_events_are_meant_by_id_and_version(void **state)
{
    EVENT_DESCRIPTOR descriptor = {.Id = ORDER_ID, .Version = ORDER_VERSION};
    etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    EVENT_DATA_DESCRIPTOR data;
    REGHANDLE provider;

    (void)state;
    assert_int_equal(EventRegister(&modern_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    enable(log);
    filter.guid = &modern_guid;
    filter.event = ORDER_ID;
    watch(log, recorder, &filter);
    EventDataDescCreate(&data, &slow, sizeof slow);
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    descriptor.Version++;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    descriptor.Id++;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 1);
    assert_int_equal(ask_log(log).matched, 1);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(recorder, NULL);
}

static void write_shop_events(uint64_t took_us)
{
    const uint16_t parts[] = {1, 2, 3};

    TraceLoggingWrite(shop, "Order", TraceLoggingString("meier", "customer"),
                      TraceLoggingUInt16Array(parts, 3, "parts"), TraceLoggingStruct(2, "times"),
                      TraceLoggingUInt32(7, "waited_us"), TraceLoggingUInt64(took_us, "took_us"),
                      TraceLoggingCountedWideString(u"köx", 3, "note"));
    TraceLoggingWrite(shop, "Other", TraceLoggingUInt64(took_us, "took_us"));
}

static void tracelogging_events_say_their_fields_themselves(void **state)
{
    static const etwas_payload_predicate fine[] = {
        {"took_us", "500", PAYLOADFIELD_GT, 0},
        {"customer", "meier", PAYLOADFIELD_IS, 0},
        {"note", "ö", PAYLOADFIELD_CONTAINS, 0},
    };
    static const etwas_payload_predicate not_there = {"colour", "1", PAYLOADFIELD_EQ, 0};
    static const etwas_payload_predicate array = {"parts", "1", PAYLOADFIELD_EQ, 0};
    static const etwas_payload_predicate text = {"customer", "1", PAYLOADFIELD_EQ, 0};
    etwas_payload_filter filter = {.guid = &modern_guid, .event_name = "Order"};
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    assert_int_equal(TraceLoggingRegister(shop), ERROR_SUCCESS);
    enable(log);
    filter.predicates = fine;
    filter.predicate_count = 3;
    watch(log, recorder, &filter);
    write_shop_events(500);
    write_shop_events(501);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).tested, 2);
    assert_int_equal(ask_log(log).matched, 1);
    filter.predicate_count = 1;
    filter.predicates = &not_there;
    watch(log, recorder, &filter);
    filter.predicates = &array;
    watch(log, recorder, &filter);
    filter.predicates = &text;
    watch(log, recorder, &filter);
    write_shop_events(501);
    TraceLoggingUnregister(shop);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 6);
    assert_int_equal(ask_log(log).matched, 2);
    assert_int_equal(ask_log(log).unfit, 3);
    stop_session(recorder, NULL);
}

static void each_match_is_counted_by_what_became_of_it(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    watch(log, recorder, &filter);
    /* Not armed. */
    assert_int_equal(judge_order(log, &slow).refused, 1);
    arm(recorder, &(etwas_trigger_options){.after_ms = 1, .least_gap_ms = LONG_MS});
    log_order(log, &slow);
    log_order(log, &slow);
    log_order(log, &slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    wait_until_seen(recorder);
    while (ask(recorder).files == 0) {
        (void)usleep(500);
    }
    /* Those of one buffer come to one window, or are too soon where it is written between them. */
    assert_int_equal(ask(recorder).windows, 1);
    assert_int_equal(ask(recorder).joined + ask(recorder).limited, 2);
    log_order(log, &slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    wait_until_seen(recorder);
    assert_int_equal(ask(recorder).windows, 1);
    assert_true(ask(recorder).limited >= 1);
    assert_int_equal(ask(recorder).asked, 4);
    /* The last of them from what is drained at the end; and the recorder may end before. */
    stop_session(recorder, NULL);
    log_order(log, &slow);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).matched, 6);
    assert_int_equal(ask_log(log).refused, 2);
}

/* The time after is counted from the event, and not from when it was looked at; but all of it is there. */
static void the_time_after_is_that_after_the_event(void **state)
{
    const int64_t after_ms = 40;
    const int64_t millisecond = 1000000;
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    arm(recorder, &(etwas_trigger_options){.after_ms = (uint32_t)after_ms});
    watch(log, recorder, &filter);
    for (uint32_t late_ms = 10; late_ms <= 60; late_ms += 50) {
        log_order(log, &slow);
        (void)usleep(late_ms * 1000);
        assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
        while (ask(recorder).files + ask(recorder).failed < (late_ms + 40) / 50) {
            (void)usleep(500);
        }
        assert_int_equal(ask(recorder).failed, 0);
        read_window(late_ms == 10 ? "window1.etl" : "window2.etl");
        assert_true(window.until_raw - window.trigger_raw >= after_ms * millisecond);
    }
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

/* The window goes back as far from the event that joined as from the trigger that began it. */
static void a_window_becomes_as_wide_as_an_earlier_event_wants_it(void **state)
{
    const int64_t millisecond = 1000000;
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    int64_t begun;

    (void)state;
    arm(recorder, &(etwas_trigger_options){.before_ms = 1, .after_ms = LONG_MS});
    watch(log, recorder, &filter);
    log_order(recorder, &usual);
    begun = etwas_clock_read(ETWAS_CLOCK_QPC);
    log_order(log, &slow);
    (void)usleep(20000);
    assert_int_equal(etwas_trigger(recorder), ERROR_SUCCESS);
    wait_until_seen(recorder);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    stop_session(recorder, NULL);
    assert_int_equal(ask(recorder).windows, 1);
    assert_int_equal(ask(recorder).joined, 1);
    read_window("window1.etl");
    assert_int_equal(window.triggers, 2);
    assert_true(window.trigger_raw > begun + 20 * millisecond);
    assert_true(window.from_raw <= begun);
    stop_session(log, NULL);
}

/* ---- filters that are refused ---------------------------------------------------------------- */

static void expect_fault(etwas_trace_handle log, etwas_trace_handle recorder,
                         const etwas_payload_filter *filter, const char *expected)
{
    const char *fault = NULL;

    assert_int_equal(etwas_trigger_on_payload(log, recorder, filter, &fault),
                     ERROR_INVALID_PARAMETER);
    assert_non_null(fault);
    assert_string_equal(fault, expected);
}

struct wrong {
    etwas_payload_predicate predicate;
    const char *fault;
};

static const char no_comparison[] =
    "a field of this type is not compared so, or not with this value";

static const struct wrong wrongs[] = {
    {{NULL, "1", PAYLOADFIELD_EQ, 0}, "a predicate names no field"},
    {{"items", NULL, PAYLOADFIELD_EQ, 0}, "a predicate has no value"},
    {{"items", "1", PAYLOADFIELD_EQ, 1}, "a reserved member is not 0"},
    {{"colour", "1", PAYLOADFIELD_EQ, 0}, "a predicate names a field that there is not"},
    {{"items", "1", PAYLOADFIELD_INVALID, 0},
     "a comparison is unknown: it is none of PAYLOAD_OPERATOR"},
    {{"items", "1", 9, 0}, "a comparison is unknown: it is none of PAYLOAD_OPERATOR"},
    {{"items", "", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "-", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "0x", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3 ", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3,4", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "18446744073709551616", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "-9223372036854775809", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3", PAYLOADFIELD_BETWEEN, 0},
     "the value is not two integers with a comma between them"},
    {{"items", "4,3", PAYLOADFIELD_BETWEEN, 0}, "the lower bound is above the upper one"},
    {{"items", "0", PAYLOADFIELD_MODULO, 0}, "nothing is a multiple of 0"},
    {{"items", "text", PAYLOADFIELD_IS, 0}, no_comparison},
    {{"items", "3", PAYLOADFIELD_CONTAINS, 0}, no_comparison},
    {{"customer", "3", PAYLOADFIELD_EQ, 0}, no_comparison},
    {{"customer", "\xff", PAYLOADFIELD_IS, 0}, "a value is no UTF-8"},
    {{"customer", "", PAYLOADFIELD_CONTAINS, 0}, "a value is empty: every text contains it"},
};

static void wrong_predicates_are_refused_by_name(void **state)
{
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    for (size_t index = 0; index < sizeof wrongs / sizeof wrongs[0]; index++) {
        const etwas_payload_filter filter = order_filter(&wrongs[index].predicate, 1);

        expect_fault(log, recorder, &filter, wrongs[index].fault);
    }
    assert_int_equal(judge_order(log, &slow).tested, 0);
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

static void wrong_filters_are_refused_by_name(void **state)
{
    static const etwas_field_description alone = {
        .name = "items", .in_type = TDH_INTYPE_UINT32, .count = 2};
    static const etwas_field_description unknown = {.name = "items", .in_type = 999};
    const etwas_payload_predicate first = {"items", "3", PAYLOADFIELD_EQ, 0};
    const etwas_payload_predicate many[9] = {first};
    const etwas_payload_filter fine = order_filter(&first, 1);
    etwas_payload_filter filter = fine;
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    char long_name[300];

    (void)state;
    filter.guid = NULL;
    expect_fault(log, recorder, &filter, "the filter has no GUID");
    filter = fine;
    filter.event_name = "Order";
    expect_fault(log, recorder, &filter,
                 "an event has a name and says its fields itself, or has fields and no name");
    filter = fine;
    filter.field_count = 0;
    expect_fault(log, recorder, &filter, "there are fields, and their count is 0");
    filter = fine;
    filter.predicate_count = 0;
    expect_fault(log, recorder, &filter, "there are not 1 to 8 predicates");
    filter.predicates = many;
    filter.predicate_count = 9;
    expect_fault(log, recorder, &filter, "there are not 1 to 8 predicates");
    filter = fine;
    filter.version = 0x10000;
    expect_fault(log, recorder, &filter, "the event or its version is above 65,535");
    filter = fine;
    filter.reserved = 1;
    expect_fault(log, recorder, &filter, "a reserved member is not 0");
    filter = fine;
    filter.fields = &alone;
    filter.field_count = 1;
    expect_fault(log, recorder, &filter, "a predicate names an array");
    filter.fields = &unknown;
    expect_fault(log, recorder, &filter,
                 "the in type of a field is unknown, or not for classic events");
    filter = fine;
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    filter.fields = NULL;
    filter.event_name = "Event";
    expect_fault(log, recorder, &filter, "there are no fields, and their count is not 0");
    filter.field_count = 0;
    filter.event_name = long_name;
    expect_fault(log, recorder, &filter, "a name is longer than 255 bytes");
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

static void only_files_are_looked_at_and_only_recorders_are_asked(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    etwas_payload_counts counts;

    (void)state;
    assert_int_equal(etwas_trigger_on_payload(recorder, recorder, &filter, NULL),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trigger_on_payload(log, log, &filter, NULL), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trigger_on_payload(0, recorder, &filter, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_on_payload(log, 0, &filter, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_on_payload(log, recorder, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_payload_query(log, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_payload_query(0, &counts), ERROR_INVALID_HANDLE);
    for (int index = 0; index < 64; index++) {
        watch(log, recorder, &filter);
    }
    assert_int_equal(etwas_trigger_on_payload(log, recorder, &filter, NULL),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(judge_order(log, &slow).matched, 64);
    stop_session(log, NULL);
    stop_session(recorder, NULL);
    assert_int_equal(etwas_trigger_on_payload(log, recorder, &filter, NULL), ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_an_event_says_asks_for_a_window_around_its_own_time),
        FOLDER_TEST(an_event_that_is_meant_otherwise_asks_nothing),
        FOLDER_TEST(fields_are_compared_as_they_are),
        FOLDER_TEST(fields_lie_behind_others_of_any_length),
        FOLDER_TEST(modern_events_are_meant_by_id_and_version),
        FOLDER_TEST(tracelogging_events_say_their_fields_themselves),
        FOLDER_TEST(each_match_is_counted_by_what_became_of_it),
        FOLDER_TEST(the_time_after_is_that_after_the_event),
        FOLDER_TEST(a_window_becomes_as_wide_as_an_earlier_event_wants_it),
        FOLDER_TEST(wrong_predicates_are_refused_by_name),
        FOLDER_TEST(wrong_filters_are_refused_by_name),
        FOLDER_TEST(only_files_are_looked_at_and_only_recorders_are_asked),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
