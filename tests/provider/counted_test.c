/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which instances have counters beside them, in which sessions, and that they are in the accounts.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "provider/counted.h"
#include "provider/modern.h"

static void nothing(void)
{
}

/* One instance of each class. Returns how many records the session has more. */
static uint64_t log_both(etwas_trace_handle session)
{
    uint64_t before = counts_of(session).recorded;

    log_around(session, 0, nothing);
    log_around(session, 1, nothing);
    return counts_of(session).recorded - before;
}

static void only_what_is_asked_for_is_counted(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle registration;

    (void)state;
    ask(session, &control_guid, COUNTED);
    registration = register_counted(); /* later than it was asked for */
    assert_int_equal(log_both(session), 8);
    ask(session, &control_guid, 0); /* enabling again replaces */
    assert_int_equal(log_both(session), 4);
    ask(session, &control_guid, COUNTED | EVENT_ENABLE_PROPERTY_SID);
    assert_int_equal(log_both(session), 8);
    ask_no_more(session, &control_guid);
    assert_int_equal(log_both(session), 4);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    registration = register_counted();
    assert_int_equal(log_both(session), 4);
    stop_session(session, NULL);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void a_class_can_be_asked_for_alone(void **state)
{
    etwas_trace_handle registration = register_counted();
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_session_counts counts;
    struct readings readings;

    (void)state;
    ask(session, &control_guid, 0);
    ask(session, &second_class, COUNTED);
    assert_int_equal(log_both(session), 6);
    ask(session, &control_guid, 0); /* leaves the class alone */
    assert_int_equal(log_both(session), 6);
    ask_no_more(session, &second_class);
    assert_int_equal(log_both(session), 4);
    stop_session(session, &counts);
    read_counted(folder_path("f.etl"), &counts, &readings);
    assert_int_equal(readings.count, 4);
    for (size_t index = 0; index < readings.count; index++) {
        assert_memory_equal(&readings.list[index].counters.guid, &second_class, 16);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void another_session_has_none(void **state)
{
    etwas_trace_handle registration = register_counted();
    etwas_trace_handle asking = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle other = start_session(folder_path("g.etl"), NULL);

    (void)state;
    ask(asking, &control_guid, COUNTED);
    assert_int_equal(log_both(other), 4);
    assert_int_equal(log_both(asking), 8);
    ask(other, &control_guid, COUNTED); /* a class is counted for one */
    assert_int_equal(log_both(other), 8);
    assert_int_equal(log_both(asking), 4);
    stop_session(other, NULL);
    assert_int_equal(log_both(asking), 4);
    stop_session(asking, NULL);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void of_several_sessions_of_an_activity_those_have_it_that_ask(void **state)
{
    static const EVENT_DESCRIPTOR start = {.Opcode = EVENT_TRACE_TYPE_START};
    static const EVENT_DESCRIPTOR stop = {.Opcode = EVENT_TRACE_TYPE_END};
    static const etwas_guid activity = {1, 2, 3, {4}};
    static const char *const names[] = {"a.etl", "b.etl", "c.etl"};
    static const uint32_t asked[] = {COUNTED, 0, COUNTED | EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE};
    REGHANDLE provider = begin_modern(NULL);
    etwas_trace_handle sessions[3];

    (void)state;
    for (int index = 0; index < 3; index++) {
        sessions[index] = start_session(folder_path(names[index]), NULL);
        ask(sessions[index], &control_guid, asked[index]);
    }
    assert_int_equal(EventWriteTransfer(provider, &start, &activity, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(provider, &stop, &activity, NULL, 0, NULL), ERROR_SUCCESS);
    for (int index = 0; index < 3; index++) {
        etwas_session_counts counts;
        struct readings readings;

        stop_session(sessions[index], &counts);
        read_counted(folder_path(names[index]), &counts, &readings);
        assert_int_equal(readings.count, index == 1 ? 0 : 2);
        assert_int_equal(readings.events.count, index == 1 ? 2 : 4);
        free_counted(&readings);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* The GUIDs of both, as the record has them. */
static void parents_of_counted_classes_stay_what_they_are(void **state)
{
    etwas_trace_handle registration = register_counted();
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    EVENT_INSTANCE_INFO parent = new_instance(0);
    EVENT_INSTANCE_INFO child = new_instance(1);
    etwas_session_counts counts;
    struct readings readings;

    (void)state;
    ask(session, &first_class, COUNTED);
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_START, &child, &parent), ERROR_SUCCESS);
    ask_no_more(session, &first_class);
    ask(session, &second_class, COUNTED);
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &child, &parent), ERROR_SUCCESS);
    stop_session(session, &counts);
    read_counted(folder_path("f.etl"), &counts, &readings);
    assert_int_equal(readings.events.count, 3);
    assert_int_equal(readings.count, 1);
    assert_int_equal(readings.list[0].counters.type, EVENT_TRACE_TYPE_END);
    for (size_t index = 0; index < 3; index += 2) {
        const struct event *event = &readings.events.items[index];

        assert_memory_equal(&event->record.EventHeader.ProviderId, &second_class, 16);
        assert_memory_equal(&event->instance.ParentGuid, &first_class, 16);
        assert_int_equal(event->instance.ParentInstanceId, parent.InstanceId);
        assert_int_equal(event->instance.InstanceId, child.InstanceId);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void what_is_refused_is_not_counted(void **state)
{
    const etwas_session_options small = {.buffer_size_kb = 4};
    etwas_trace_handle registration = register_counted();
    etwas_trace_handle session = start_session(folder_path("f.etl"), &small);
    EVENT_INSTANCE_INFO instance = new_instance(0);
    struct {
        EVENT_INSTANCE_HEADER header;
        uint8_t payload[8 * 1024];
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};

    (void)state;
    ask(session, &control_guid, COUNTED);
    event.header.Class.Type = EVENT_TRACE_TYPE_START;
    assert_int_equal(TraceEventInstance(session, &event.header, &instance, NULL), ERROR_MORE_DATA);
    event.header.Class.Type = EVENT_TRACE_TYPE_END;
    assert_int_equal(TraceEventInstance(session, &event.header, &instance, NULL), ERROR_MORE_DATA);
    event.header.Size = sizeof event.header - 1;
    assert_int_equal(TraceEventInstance(session, &event.header, &instance, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(counts_of(session).recorded, 0);
    stop_session(session, NULL);
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &instance, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &instance, NULL), ERROR_INVALID_HANDLE);
}

enum {
    THREADS = 4,
    ROUNDS = 5000,
};

struct worker {
    pthread_t thread;
    etwas_trace_handle session;
    uint64_t attempted;
    uint64_t wrong;
};

/*
 * A START that is lost has no reading behind it; an END that could be recorded always has one
 * before.
 */
static void *log_rounds(void *argument)
{
    struct worker *worker = argument;

    for (int round = 0; round < ROUNDS; round++) {
        EVENT_INSTANCE_INFO instance;
        uint32_t code;

        (void)CreateTraceInstanceId(counted_classes[0].RegHandle, &instance);
        code = log_of(worker->session, EVENT_TRACE_TYPE_START, &instance, NULL);
        worker->wrong += code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY;
        worker->attempted += code == ERROR_SUCCESS ? 2 : 1;
        code = log_of(worker->session, EVENT_TRACE_TYPE_END, &instance, NULL);
        worker->wrong += code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY;
        worker->attempted += 2;
    }
    return NULL;
}

static uint64_t work_together(etwas_trace_handle session)
{
    struct worker workers[THREADS] = {{.session = session}};
    uint64_t attempted = 0;

    for (int index = 0; index < THREADS; index++) {
        workers[index].session = session;
        assert_int_equal(pthread_create(&workers[index].thread, NULL, log_rounds, &workers[index]),
                         0);
    }
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(workers[index].thread, NULL), 0);
        assert_int_equal(workers[index].wrong, 0);
        attempted += workers[index].attempted;
    }
    return attempted;
}

static void the_accounts_are_exact_with_losses_and_without(void **state)
{
    static const etwas_session_options options[] = {
        {.buffer_size_kb = 4,
         .minimum_buffers = 2,
         .maximum_buffers = 8,
         .flusher = {.no_thread = true}},
        {.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4},
        {.buffer_size_kb = 64, .process_times = true},
    };
    etwas_trace_handle registration = register_counted();

    (void)state;
    for (int index = 0; index < 3; index++) {
        etwas_trace_handle session =
            start_session(index != 1 ? folder_path("f.etl") : NULL, &options[index]);
        etwas_session_counts counts;
        uint64_t attempted;

        ask(session, &control_guid, COUNTED);
        attempted = work_together(session);
        stop_session(session, &counts);
        assert_true(attempted == counts.recorded + counts.overwritten + counts.lost);
        assert_int_equal(counts.lost, counts.lost_no_buffer);
        if (index == 0) {
            assert_true(counts.lost > 0);
        } else if (index == 1) {
            assert_true(counts.overwritten > 0);
        }
    }
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* No call fails because somebody asks for counters, or does no more, at that moment. */
static void asking_while_instances_are_logged_disturbs_none(void **state)
{
    const etwas_session_options recorder = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle registration = register_counted();
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct worker worker = {.session = session};
    etwas_session_counts counts;

    (void)state;
    assert_int_equal(pthread_create(&worker.thread, NULL, log_rounds, &worker), 0);
    for (int round = 0; round < 2000; round++) {
        ask(session, &control_guid, round % 2 == 0 ? COUNTED : 0);
    }
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.wrong, 0);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 0);
    assert_in_range(counts.recorded + counts.overwritten, 2 * ROUNDS, 4 * ROUNDS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(only_what_is_asked_for_is_counted),
        FOLDER_TEST(a_class_can_be_asked_for_alone),
        FOLDER_TEST(another_session_has_none),
        FOLDER_TEST(of_several_sessions_of_an_activity_those_have_it_that_ask),
        FOLDER_TEST(parents_of_counted_classes_stay_what_they_are),
        FOLDER_TEST(what_is_refused_is_not_counted),
        FOLDER_TEST(the_accounts_are_exact_with_losses_and_without),
        FOLDER_TEST(asking_while_instances_are_logged_disturbs_none),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
