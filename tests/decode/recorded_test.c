/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Events of every kind that etwas writes, read by name and value from the file alone. */
#include <stdio.h>

#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>

#include "shown.h"
#include "support/folder.h"
#include "support/start.h"

static const GUID class_guid = {7, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID message_guid = {8, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID modern_guid = {9, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

TRACELOGGING_DEFINE_PROVIDER(self_describing, "Shop.Till", (10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

enum {
    LINES = 8
};

/* One consumer: what it was given is learned first, then shown. */
struct reading {
    etwas_decoder *decoder;
    bool shows;
    uint32_t learned;
    uint32_t count;
    char lines[LINES][256];
};

static void show(struct reading *reading, const EVENT_RECORD *record)
{
    char message[256];
    bool is_message = etwas_decoder_message(reading->decoder, record, message, sizeof message) > 0;
    const char *line = is_message ? message : shown(reading->decoder, record);

    assert_true(reading->count < LINES);
    /* The header event is longer. */
    snprintf(reading->lines[reading->count++], sizeof reading->lines[0], "%s", line);
}

static void on_record(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;

    if (!reading->shows) {
        reading->learned += etwas_decoder_learn(reading->decoder, record) == ERROR_SUCCESS;
    } else if (etwas_decoder_learn(reading->decoder, record) == ERROR_NOT_FOUND) {
        show(reading, record);
    }
}

static void read_file(struct reading *reading)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)folder_path("f.etl"),
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_record,
        .Context = reading,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    CloseTrace(trace);
}

static void describe(void)
{
    static const etwas_map_entry entries[] = {{.name = "Tea", .value = 1},
                                              {.name = "Coffee", .value = 2}};
    static const etwas_map_description maps[] = {
        {.name = "Kinds", .entries = entries, .entry_count = 2}};
    static const etwas_field_description fields[] = {
        {.name = "kind", .map = "Kinds", .in_type = TDH_INTYPE_UINT32},
        {.name = "count", .in_type = TDH_INTYPE_UINT16},
        {.name = "prices", .in_type = TDH_INTYPE_UINT16, .count = ETWAS_BY_FIELD_BEFORE},
        {.name = "note", .in_type = TDH_INTYPE_ANSISTRING},
    };
    static const etwas_type_description types[] = {
        {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = fields, .field_count = 4}};
    const etwas_class_description description = {
        .guid = &class_guid,
        .provider_name = "shop",
        .name = "Order",
        .types = types,
        .maps = maps,
        .type_count = 1,
        .map_count = 1,
    };

    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_describe_message(&message_guid, 5, "%s has %u left"), ERROR_SUCCESS);
}

static void write_classic(etwas_trace_handle session)
{
    static const uint16_t prices[] = {250, 300};
    uint32_t kind = 2;
    uint16_t count = 2;
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[4];
    } event = {.header = {.Size = sizeof event, .Guid = class_guid}};

    event.header.Class.Type = EVENT_TRACE_TYPE_START;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &kind, sizeof kind, ETW_UINT32_TYPE_VALUE);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], &count, sizeof count, ETW_UINT16_TYPE_VALUE);
    DEFINE_TRACE_MOF_FIELD(&event.fields[2], prices, sizeof prices, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[3], "black", sizeof "black", 0);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
}

static void enable(etwas_trace_handle session, const GUID *provider)
{
    assert_int_equal(EnableTraceEx2(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
}

static void write_modern(etwas_trace_handle session)
{
    REGHANDLE provider;

    assert_int_equal(EventRegister(&modern_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    enable(session, &modern_guid);
    assert_int_equal(EventWriteString(provider, 4, 0, u"closed"), ERROR_SUCCESS);
    EventUnregister(provider);
}

static void write_self_describing(etwas_trace_handle session)
{
    static const uint32_t codes[] = {7, 8};
    GUID guid;

    assert_int_equal(TraceLoggingRegister(self_describing), ERROR_SUCCESS);
    guid = TraceLoggingProviderId(self_describing);
    enable(session, &guid);
    TraceLoggingWrite(self_describing, "Sale", TraceLoggingUInt64(1250, "cents"),
                      TraceLoggingStruct(2, "buyer"), TraceLoggingString("Ann", "name"),
                      TraceLoggingUInt32Array(codes, 2, "codes"), TraceLoggingBool(true, "cash"));
    TraceLoggingUnregister(self_describing);
}

static void all_that_etwas_writes_is_read_from_the_file_alone(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct reading reading = {.shows = false};
    uint32_t left = 3;

    (void)state;
    write_classic(session);
    describe(); /* later than the event */
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_GUID, &message_guid, 5, "Tea",
                                  sizeof "Tea", &left, sizeof left, NULL),
                     ERROR_SUCCESS);
    write_modern(session);
    write_self_describing(session);
    stop_session(session, NULL);

    assert_int_equal(etwas_decoder_open(&reading.decoder), ERROR_SUCCESS);
    read_file(&reading);
    assert_int_equal(reading.learned, 3);
    reading.shows = true;
    read_file(&reading);
    assert_int_equal(reading.count, 5);
    assert_string_equal(reading.lines[1],
                        "shop/Order/Start kind=Coffee count=2 prices=[250,300] note=\"black\"");
    assert_string_equal(reading.lines[2], "Tea has 3 left");
    assert_string_equal(reading.lines[3], "/ String=\"closed\"");
    assert_string_equal(reading.lines[4], "Shop.Till/Sale cents=1250 "
                                          "buyer={name=\"Ann\" codes=[7,8]} cash=true");
    etwas_decoder_close(reading.decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(all_that_etwas_writes_is_read_from_the_file_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
