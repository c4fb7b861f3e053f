/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* etwas_decode_file: a log file with its decoder, in one call. */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/decode.h>
#include <etwas/evntrace.h>
#include <stdio.h>

#include "support/folder.h"
#include "support/start.h"

static const GUID class_guid = {7, 3, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID unknown_guid = {8, 3, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

ETWAS_TRACELOGGING_PROVIDER(till, "Etwas.Tests.Till");

enum {
    MOST = 8,
    NONE = -99,
};

/* What the callback was given, after the event of the header. */
struct seen {
    uint32_t events;
    uint32_t most; /* it returns false at this one; 0: never */
    char names[MOST][64];
    double prices[MOST];
    double rates[MOST];
    bool has_schema[MOST];
};

static bool see(const etwas_decoded_event *event, void *context)
{
    struct seen *seen = context;
    uint32_t at = seen->events++;
    bool has_price;

    assert_true(at < MOST);
    assert_non_null(event->decoder);
    (void)snprintf(seen->names[at], sizeof seen->names[at], "%s/%s", event->provider, event->name);
    seen->prices[at] = NONE;
    seen->rates[at] = NONE;
    seen->has_schema[at] = event->schema != NULL;
    has_price = etwas_decoded_number(event, "price", &seen->prices[at]);
    assert_int_equal(has_price, seen->prices[at] != NONE);
    (void)etwas_decoded_number(event, "rate", &seen->rates[at]);
    return seen->events != seen->most;
}

static void write_class(etwas_trace_handle session, const GUID *guid, int32_t price)
{
    struct {
        EVENT_TRACE_HEADER header;
        int32_t price;
    } event = {.header = {.Size = sizeof event, .Guid = *guid}, .price = price};

    event.header.Class.Type = EVENT_TRACE_TYPE_INFO;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
}

static void describe_class(void)
{
    static const etwas_field_description fields[] = {
        {.name = "price", .in_type = TDH_INTYPE_INT32}};
    static const etwas_type_description types[] = {
        {.name = "Info", .type = EVENT_TRACE_TYPE_INFO, .fields = fields, .field_count = 1}};
    const etwas_class_description description = {.guid = &class_guid,
                                                 .provider_name = "till",
                                                 .name = "Sale",
                                                 .types = types,
                                                 .type_count = 1};

    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
}

/* Five events; the first is described after all of them. */
static const char *write_file(void)
{
    const char *path = folder_path("f.etl");
    const GUID guid = TraceLoggingProviderId(till);
    etwas_trace_handle session = start_session(path, NULL);

    assert_int_equal(TraceLoggingRegister(till), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
    stay_on_one_processor();
    write_class(session, &class_guid, -7);
    write_class(session, &unknown_guid, 8);
    TraceLoggingWrite(till, "Price", TraceLoggingUInt64(12, "price"),
                      TraceLoggingFloat64(0.5, "rate"));
    TraceLoggingWrite(till, "Paid", TraceLoggingString("price", "price"),
                      TraceLoggingBoolean(1, "rate"));
    TraceLoggingUnregister(till);
    leave_one_processor();
    describe_class();
    stop_session(session, NULL);
    return path;
}

static void each_event_comes_with_its_schema(void **state)
{
    struct seen seen = {0};

    (void)state;
    assert_int_equal(etwas_decode_file(write_file(), see, &seen), ERROR_SUCCESS);
    assert_int_equal(seen.events, 5); /* the first is that of the header */
    assert_string_equal(seen.names[1], "till/Sale/Info");
    assert_true(seen.prices[1] == -7 && seen.rates[1] == NONE);
    assert_string_equal(seen.names[2], "/");
    assert_false(seen.has_schema[2]);
    assert_string_equal(seen.names[3], "Etwas.Tests.Till/Price");
    assert_true(seen.prices[3] == 12 && seen.rates[3] == 0.5);
    assert_string_equal(seen.names[4], "Etwas.Tests.Till/Paid");
    assert_true(seen.prices[4] == NONE && seen.rates[4] == 1); /* a text is no number */
}

static void a_callback_that_has_enough_gets_no_more(void **state)
{
    struct seen seen = {.most = 3};

    (void)state;
    assert_int_equal(etwas_decode_file(write_file(), see, &seen), ERROR_CANCELLED);
    assert_int_equal(seen.events, 3);
}

static void what_cannot_be_read_is_an_error(void **state)
{
    struct seen seen = {0};

    (void)state;
    assert_int_equal(etwas_decode_file(NULL, see, &seen), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_decode_file(folder_path("f.etl"), NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_decode_file(folder_path("missing.etl"), see, &seen),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(seen.events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_event_comes_with_its_schema),
        FOLDER_TEST(a_callback_that_has_enough_gets_no_more),
        FOLDER_TEST(what_cannot_be_read_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
