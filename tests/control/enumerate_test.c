/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnumerateTraceGuids, EnumerateTraceGuidsEx, TraceQueryInformation and TraceSetInformation (the
 * documents' conflict C13).
 */
#include <string.h>
#include <unistd.h>

#include "buffer/slot.h"
#include "provider/registration.h"
#include "session/fixture.h"

enum {
    ROOM = 4096,
    UNTOUCHED = 0xA5
};

static etwas_trace_handle register_as(const etwas_guid *control)
{
    etwas_trace_handle registration;

    assert_int_equal(
        RegisterTraceGuidsA(ignore_request, NULL, control, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    return registration;
}

static bool same(const etwas_guid *left, const etwas_guid *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

/* ---- EnumerateTraceGuids --------------------------------------------------------------------- */

static void c13_the_registered_providers_are_listed_with_who_enables_them(void **state)
{
    TRACE_GUID_PROPERTIES items[3];
    TRACE_GUID_PROPERTIES *array[] = {&items[0], &items[1], &items[2]};
    TRACE_GUID_PROPERTIES *holes[] = {&items[0], NULL};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registrations[3];
    uint32_t count = 77;
    bool enabled_first;

    (void)state;
    assert_int_equal(EnumerateTraceGuids(array, 0, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    registrations[0] = register_as(&control_guid);
    registrations[1] = register_as(&control_guid);
    registrations[2] = register_as(&second_class);
    assert_int_equal(EnableTrace(1, 0x80000001, 250, &second_class, session), ERROR_SUCCESS);
    /* Enabled, but not registered: not a provider yet. */
    assert_int_equal(EnableTrace(1, 1, 1, &first_class, session), ERROR_SUCCESS);

    assert_int_equal(EnumerateTraceGuids(array, 0, &count), ERROR_MORE_DATA);
    assert_int_equal(count, 2);
    memset(items, UNTOUCHED, sizeof items);
    assert_int_equal(EnumerateTraceGuids(array, 1, &count), ERROR_MORE_DATA);
    assert_int_equal(count, 2);
    assert_int_equal(items[1].GuidType, 0xA5A5A5A5);
    assert_int_equal(EnumerateTraceGuids(array, 3, &count), ERROR_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(items[2].GuidType, 0xA5A5A5A5);
    enabled_first = same(&items[0].Guid, &second_class);
    {
        const TRACE_GUID_PROPERTIES *enabled = &items[enabled_first ? 0 : 1];
        const TRACE_GUID_PROPERTIES *idle = &items[enabled_first ? 1 : 0];

        assert_true(same(&enabled->Guid, &second_class));
        assert_int_equal(enabled->GuidType, 0);
        assert_int_equal(enabled->LoggerId, session & 0xFF);
        assert_int_equal(enabled->EnableLevel, 250);
        assert_int_equal(enabled->EnableFlags, 0x80000001);
        assert_int_equal(enabled->IsEnable, 1);
        assert_true(same(&idle->Guid, &control_guid));
        assert_int_equal(idle->LoggerId, 0);
        assert_int_equal(idle->EnableLevel, 0);
        assert_int_equal(idle->EnableFlags, 0);
        assert_int_equal(idle->IsEnable, 0);
    }
    count = 77;
    assert_int_equal(EnumerateTraceGuids(NULL, 0, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuids(array, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuids(holes, 2, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(count, 77);

    for (uint32_t index = 0; index < 3; index++) {
        assert_int_equal(UnregisterTraceGuids(registrations[index]), ERROR_SUCCESS);
    }
    assert_int_equal(EnumerateTraceGuids(array, 3, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    stop_session(session, NULL);
}

/* What the session with the LoggerId of the only provider has to say. */
static uint32_t query_by_logger_id(struct block *block)
{
    TRACE_GUID_PROPERTIES item;
    TRACE_GUID_PROPERTIES *array[] = {&item};
    uint32_t count;

    assert_int_equal(EnumerateTraceGuids(array, 1, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(item.IsEnable, 1);
    prepare_block(block, "");
    return ControlTraceA(item.LoggerId, NULL, &block->properties, EVENT_TRACE_CONTROL_QUERY);
}

/* ETW's own sample of EnumerateTraceGuids tells private sessions this way. */
static void the_logger_id_of_a_provider_tells_controltrace_which_session_enables_it(void **state)
{
    etwas_trace_handle registration = register_as(&control_guid);
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle private_session;
    struct block block;
    struct block start;

    (void)state;
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(query_by_logger_id(&block), ERROR_SUCCESS);
    assert_int_equal(block.properties.Wnode.HistoricalContext, session);
    assert_int_equal(block.properties.LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE, 0);

    prepare_block(&start, folder_path("f.etl"));
    start.properties.Wnode.Guid = control_guid;
    start.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
    private_session = start_block("private", &start);
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, private_session), ERROR_SUCCESS);
    assert_int_equal(query_by_logger_id(&block), ERROR_SUCCESS);
    assert_int_equal(block.properties.Wnode.HistoricalContext, private_session);
    assert_int_not_equal(block.properties.LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE, 0);

    stop_session(private_session, NULL);
    prepare_block(&block, "");
    assert_int_equal(StopTraceA(private_session & 0xFF, NULL, &block.properties),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(StopTraceA(ETWAS_SESSION_ENTRIES + 1, NULL, &block.properties),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(StopTraceA(session & 0xFF, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* Sessions begin in the entry that is longest free: so each private one is used, also the last. */
static void every_logger_id_means_its_session_to_the_last(void **state)
{
    uint32_t largest = 0;

    (void)state;
    for (uint32_t number = ETWAS_SESSIONS; number < ETWAS_SESSION_ENTRIES; number++) {
        struct block block;
        uint32_t logger_id;

        prepare_block(&block, folder_path("f.etl"));
        block.properties.Wnode.Guid = control_guid;
        block.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
        logger_id = (uint32_t)(start_block("private", &block) & 0xFF);
        largest = logger_id > largest ? logger_id : largest;
        prepare_block(&block, "");
        assert_int_equal(StopTraceA(logger_id, NULL, &block.properties), ERROR_SUCCESS);
    }
    assert_int_equal(largest, ETWAS_SESSION_ENTRIES);
}

/* ---- EnumerateTraceGuidsEx ------------------------------------------------------------------- */

static uint32_t ask(TRACE_QUERY_INFO_CLASS question, const etwas_guid *guid, void *out,
                    uint32_t out_bytes, uint32_t *bytes)
{
    etwas_guid copy;

    if (guid == NULL) {
        return EnumerateTraceGuidsEx(question, NULL, 0, out, out_bytes, bytes);
    }
    copy = *guid;
    return EnumerateTraceGuidsEx(question, &copy, sizeof copy, out, out_bytes, bytes);
}

static uint32_t count_guid(const etwas_guid *guids, uint32_t bytes, const etwas_guid *guid)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < bytes / sizeof *guids; index++) {
        count += same(&guids[index], guid) ? 1 : 0;
    }
    return count;
}

static void r190_the_list_has_what_is_enabled_beforehand_and_the_process_what_it_registered(
    void **state)
{
    etwas_guid guids[8];
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle first = register_as(&control_guid);
    etwas_trace_handle second = register_as(&control_guid);
    uint32_t bytes = 0;

    (void)state;
    assert_int_equal(EnableTrace(1, 1, 1, &first_class, session), ERROR_SUCCESS);
    assert_int_equal(ask(TraceGuidQueryList, NULL, NULL, 0, &bytes), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, 2 * sizeof guids[0]);
    bytes = 0;
    assert_int_equal(ask(TraceGuidQueryList, NULL, guids, 2 * sizeof guids[0] - 1, &bytes),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, 2 * sizeof guids[0]);
    assert_int_equal(ask(TraceGuidQueryList, NULL, guids, sizeof guids, &bytes), ERROR_SUCCESS);
    assert_int_equal(bytes, 2 * sizeof guids[0]);
    assert_int_equal(count_guid(guids, bytes, &control_guid), 1);
    assert_int_equal(count_guid(guids, bytes, &first_class), 1);
    assert_int_equal(ask(TraceGuidQueryProcess, NULL, guids, sizeof guids[0], &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof guids[0]);
    assert_int_equal(count_guid(guids, bytes, &control_guid), 1);
    assert_int_equal(UnregisterTraceGuids(first), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(second), ERROR_SUCCESS);
    assert_int_equal(ask(TraceGuidQueryProcess, NULL, guids, sizeof guids, &bytes), ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
    stop_session(session, NULL);
    assert_int_equal(ask(TraceGuidQueryList, NULL, NULL, 0, &bytes), ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
}

/* Walks the chain as the page does, and counts what is in it. */
static void expect_instances(const uint8_t *answer, uint32_t bytes, uint32_t instances,
                             uint32_t flags, uint32_t process_id, const TRACE_ENABLE_INFO *wanted)
{
    TRACE_GUID_INFO head;
    size_t at = sizeof head;

    memcpy(&head, answer, sizeof head);
    assert_int_equal(head.InstanceCount, instances);
    assert_int_equal(head.Reserved, 0);
    for (uint32_t index = 0; index < instances; index++) {
        TRACE_PROVIDER_INSTANCE_INFO instance;
        size_t after = at + sizeof instance;

        assert_true(at + sizeof instance <= bytes);
        memcpy(&instance, answer + at, sizeof instance);
        assert_int_equal(instance.Flags, flags);
        assert_int_equal(instance.Pid, process_id);
        assert_int_equal(instance.EnableCount, wanted != NULL ? 1 : 0);
        if (wanted != NULL) {
            assert_true(after + sizeof *wanted <= bytes);
            assert_memory_equal(answer + after, wanted, sizeof *wanted);
            after += sizeof *wanted;
        }
        if (index + 1 == instances) {
            assert_int_equal(instance.NextOffset, 0);
            assert_int_equal(after, bytes);
        } else {
            assert_int_equal(instance.NextOffset, after - at);
        }
        at += instance.NextOffset;
    }
}

static void what_is_known_of_a_provider_is_a_chain_of_instances_and_enablements(void **state)
{
    uint8_t answer[ROOM];
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registrations[5];
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = EVENT_ENABLE_PROPERTY_TS_ID};
    TRACE_ENABLE_INFO wanted = {.IsEnabled = 1,
                                .Level = 3,
                                .LoggerId = (uint16_t)(session & 0xFF),
                                .EnableProperty = EVENT_ENABLE_PROPERTY_TS_ID,
                                .MatchAnyKeyword = 0x1122334455667788,
                                .MatchAllKeyword = 0x8877665544332211};
    uint32_t own_id = (uint32_t)getpid();
    uint32_t bytes = 77;

    (void)state;
    assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &bytes),
                     ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(bytes, 77);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3,
                                    wanted.MatchAnyKeyword, wanted.MatchAllKeyword, 0, &parameters),
                     ERROR_SUCCESS);
    /* R190: enabled beforehand, it is known without a process. */
    assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &bytes),
                     ERROR_SUCCESS);
    expect_instances(answer, bytes, 1, TRACE_PROVIDER_FLAG_PRE_ENABLE, 0, &wanted);
    for (uint32_t count = 1; count <= 5; count++) {
        registrations[count - 1] = register_as(&control_guid);
        assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &bytes),
                         ERROR_SUCCESS);
        expect_instances(answer, bytes, count, TRACE_PROVIDER_FLAG_LEGACY, own_id, &wanted);
    }
    /* Every size below is too small, says what is needed, and nothing behind it is written. */
    for (uint32_t room = 0; room < bytes; room++) {
        uint32_t needed = 0;

        memset(answer, UNTOUCHED, sizeof answer);
        assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, room, &needed),
                         ERROR_INSUFFICIENT_BUFFER);
        assert_int_equal(needed, bytes);
        for (uint32_t byte = room; byte <= bytes; byte++) {
            assert_int_equal(answer[byte], UNTOUCHED);
        }
    }
    stop_session(session, NULL);
    assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &bytes),
                     ERROR_SUCCESS);
    expect_instances(answer, bytes, 5, TRACE_PROVIDER_FLAG_LEGACY, own_id, NULL);
    for (uint32_t index = 0; index < 5; index++) {
        assert_int_equal(UnregisterTraceGuids(registrations[index]), ERROR_SUCCESS);
    }
    assert_int_equal(ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &bytes),
                     ERROR_WMI_GUID_NOT_FOUND);
}

static void groups_are_empty_loggers_are_64_and_bad_questions_are_refused(void **state)
{
    uint8_t answer[ROOM];
    etwas_guid guid = control_guid;
    uint32_t loggers = 0;
    uint32_t bytes = 77;

    (void)state;
    assert_int_equal(ask(TraceGroupQueryList, NULL, NULL, 0, &bytes), ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
    assert_int_equal(ask(TraceGroupQueryInfo, &guid, answer, sizeof answer, &bytes),
                     ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(ask(TraceMaxLoggersQuery, NULL, &loggers, sizeof loggers - 1, &bytes),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, sizeof loggers);
    assert_int_equal(loggers, 0);
    assert_int_equal(ask(TraceMaxLoggersQuery, NULL, &loggers, sizeof loggers, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(loggers, 64);

    bytes = 77;
    for (uint32_t question = 0; question < 32; question++) {
        bool known = question <= 2 || question == 12 || question == 13 || question == 19;

        assert_int_equal(EnumerateTraceGuidsEx((TRACE_QUERY_INFO_CLASS)question, &guid, sizeof guid,
                                               answer, sizeof answer, NULL),
                         ERROR_INVALID_PARAMETER);
        assert_int_equal(EnumerateTraceGuidsEx((TRACE_QUERY_INFO_CLASS)question, &guid, sizeof guid,
                                               NULL, 1, &bytes),
                         ERROR_INVALID_PARAMETER);
        if (!known) {
            assert_int_equal(EnumerateTraceGuidsEx((TRACE_QUERY_INFO_CLASS)question, &guid,
                                                   sizeof guid, answer, sizeof answer, &bytes),
                             ERROR_INVALID_PARAMETER);
        }
    }
    for (uint32_t which = 0; which < 2; which++) {
        TRACE_QUERY_INFO_CLASS question = which == 0 ? TraceGuidQueryInfo : TraceGroupQueryInfo;

        assert_int_equal(
            EnumerateTraceGuidsEx(question, NULL, sizeof guid, answer, sizeof answer, &bytes),
            ERROR_INVALID_PARAMETER);
        assert_int_equal(
            EnumerateTraceGuidsEx(question, &guid, sizeof guid - 1, answer, sizeof answer, &bytes),
            ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(bytes, 77);
}

/* ---- information classes --------------------------------------------------------------------- */

static void version_and_number_of_loggers_can_be_queried_and_nothing_can_be_set(void **state)
{
    TRACE_VERSION_INFO version = {0};
    uint8_t room[ROOM] = {0};
    uint32_t loggers = 0;
    uint32_t bytes = 77;
    etwas_trace_handle session = start_recorder();

    (void)state;
    assert_int_equal(TraceQueryInformation(0, TraceVersionInfo, &version, sizeof version, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(version.EtwTraceProcessingVersion, 1);
    assert_int_equal(
        TraceQueryInformation(session, TraceMaxLoggersQuery, &loggers, sizeof loggers, &bytes),
        ERROR_SUCCESS);
    assert_int_equal(loggers, 64);
    assert_int_equal(bytes, sizeof loggers);
    assert_int_equal(
        TraceQueryInformation(0, TraceVersionInfo, &version, sizeof version - 1, &bytes),
        ERROR_BAD_LENGTH);
    assert_int_equal(bytes, sizeof version);
    assert_int_equal(TraceQueryInformation(0, TraceMaxLoggersQuery, NULL, 0, NULL),
                     ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(0, TraceMaxLoggersQuery, NULL, 4, NULL),
                     ERROR_INVALID_PARAMETER);
    for (uint32_t class = 0; class < 32; class ++) {
        if (class != TraceVersionInfo && class != TraceMaxLoggersQuery) {
            assert_int_equal(
                TraceQueryInformation(session, (TRACE_INFO_CLASS) class, room, sizeof room, &bytes),
                ERROR_NOT_SUPPORTED);
        }
        assert_int_equal(TraceSetInformation(session, (TRACE_INFO_CLASS) class, room, sizeof room),
                         ERROR_NOT_SUPPORTED);
        assert_int_equal(TraceSetInformation(session, (TRACE_INFO_CLASS) class, NULL, 1),
                         ERROR_INVALID_PARAMETER);
    }
    stop_session(session, NULL);
}

/* ---- inside a callback ----------------------------------------------------------------------- */

static uint32_t codes_inside;

static uint32_t ask_everything(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                               void *buffer)
{
    TRACE_GUID_PROPERTIES item;
    TRACE_GUID_PROPERTIES *array[] = {&item};
    uint8_t answer[ROOM];
    uint32_t needed;
    uint32_t count;

    (void)request;
    (void)context;
    (void)bytes;
    (void)buffer;
    codes_inside = EnumerateTraceGuids(array, 1, &count);
    codes_inside |= ask(TraceGuidQueryInfo, &control_guid, answer, sizeof answer, &needed);
    codes_inside |= ask(TraceGuidQueryProcess, NULL, answer, sizeof answer, &needed);
    codes_inside |= TraceQueryInformation(0, TraceMaxLoggersQuery, answer, sizeof answer, &needed);
    return ERROR_SUCCESS;
}

static void a_callback_may_ask_all_of_it(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration;

    (void)state;
    codes_inside = 77;
    assert_int_equal(RegisterTraceGuidsA(ask_everything, NULL, &control_guid, 0, NULL, NULL, NULL,
                                         &registration),
                     ERROR_SUCCESS);
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(codes_inside, ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(c13_the_registered_providers_are_listed_with_who_enables_them),
        FOLDER_TEST(the_logger_id_of_a_provider_tells_controltrace_which_session_enables_it),
        FOLDER_TEST(every_logger_id_means_its_session_to_the_last),
        FOLDER_TEST(
            r190_the_list_has_what_is_enabled_beforehand_and_the_process_what_it_registered),
        FOLDER_TEST(what_is_known_of_a_provider_is_a_chain_of_instances_and_enablements),
        FOLDER_TEST(groups_are_empty_loggers_are_64_and_bad_questions_are_refused),
        FOLDER_TEST(version_and_number_of_loggers_can_be_queried_and_nothing_can_be_set),
        FOLDER_TEST(a_callback_may_ask_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
