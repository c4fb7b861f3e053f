/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events of other programs by their names: what these describe, and TraceLogging's events, `etwas
 * dump` shows of the host's file with nothing beside it.
 */
#include <ck_pr.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/tdh.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

TRACELOGGING_DEFINE_PROVIDER(shop, "Shop.Till",
                             (0x3c5a1f20, 0x8e44, 0x4b1d, 1, 2, 3, 4, 5, 6, 7, 8));

static const etwas_guid shop_guid = {0x3c5a1f20, 0x8e44, 0x4b1d, {1, 2, 3, 4, 5, 6, 7, 8}};

enum {
    TIMEOUT_MS = 60000,
    LINE_BYTES = 4096,
    MESSAGE = 5,
};

/* ---- a program ------------------------------------------------------------------------------- */

/* What log_number writes: type 10. */
static void describe_numbers(void)
{
    static const etwas_field_description field = {.name = "size", .in_type = TDH_INTYPE_UINT64};
    static const etwas_type_description type = {
        .name = "Start", .type = 10, .fields = &field, .field_count = 1};
    const etwas_class_description description = {.guid = &event_class,
                                                 .provider_name = "Stall",
                                                 .name = "Order",
                                                 .types = &type,
                                                 .type_count = 1};

    CHECK_IN_CHILD(etwas_describe_class(&description, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_describe_message(&first_class, MESSAGE, "sold %u of it") == ERROR_SUCCESS);
}

static void log_each_kind(void)
{
    const uint32_t sold = 77;

    log_until_recorded(4711);
    CHECK_IN_CHILD(TraceMessage(enabling_session(), TRACE_MESSAGE_GUID, &first_class, MESSAGE,
                                &sold, sizeof sold, NULL, (size_t)0) == ERROR_SUCCESS);
    TraceLoggingWrite(shop, "Sale", TraceLoggingUInt32(12, "pieces"),
                      TraceLoggingString("tea", "ware"));
}

/* Describes its events when its session has begun, and it has registered. */
static int describing_program(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    CHECK_IN_CHILD(TraceLoggingRegister(shop) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    describe_numbers();
    log_each_kind();
    TraceLoggingUnregister(shop);
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

/* ---- its events ------------------------------------------------------------------------------ */

/* Whether one line of what is shown has all three. */
static bool is_shown(const char *file, const char *event, const char *first, const char *second)
{
    static char line[LINE_BYTES];
    bool is = false;
    FILE *shown;

    (void)snprintf(line, sizeof line, ETWAS_TOOL " dump --json '%s'", file);
    shown = popen(line, "r");
    assert_non_null(shown);
    while (fgets(line, sizeof line, shown) != NULL) {
        is = is || (strstr(line, event) != NULL && strstr(line, first) != NULL &&
                    strstr(line, second) != NULL);
    }
    assert_int_equal(pclose(shown), 0);
    return is;
}

static void events_of_other_programs_are_shown_by_name(void **state)
{
    etwas_trace_handle session = start_in_file("named", "log.etl");
    int program = start_program(describing_program);
    char file[LINE_BYTES];

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &shop_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
                                    0, TIMEOUT_MS, NULL),
                     ERROR_SUCCESS);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(stop_by_handle(session), board->lost);
    (void)snprintf(file, sizeof file, "%s", folder_path("log.etl"));
    assert_true(is_shown(file, "Order", "\"Stall\"", "\"size\":4711"));
    assert_true(is_shown(file, "sold 77 of it", "", ""));
    assert_true(is_shown(file, "Sale\"", "\"pieces\":12", "\"ware\":\"tea\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(events_of_other_programs_are_shown_by_name),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
