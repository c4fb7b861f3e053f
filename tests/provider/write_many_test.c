/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_write_many: a batch records what single calls would, whole or not at all, and each event is
 * accounted for.
 */
#include "provider/batches.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/alarm.h"

enum {
    ALL_KINDS =
        1 << ETWAS_BATCH_KIND_WRITE | 1 << ETWAS_BATCH_KIND_TRACE | 1 << ETWAS_BATCH_KIND_INSTANCE,
    WRITES = 1 << ETWAS_BATCH_KIND_WRITE,
    BATCHES = 400,
    THREADS = 3,
    THREAD_BATCHES = 1500,
};

/* How a session is set up, and which events it gets. */
struct setup {
    etwas_session_options options;
    uint32_t kinds;
    uint32_t property; /* EnableProperty */
    uint8_t level;
    uint64_t any;
};

static void enable(etwas_trace_handle session, const struct setup *setup)
{
    const ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                                .EnableProperty = setup->property};

    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    setup->level, setup->any, 0, 0xFFFFFFFF,
                                    (ENABLE_TRACE_PARAMETERS *)(uintptr_t)&parameters),
                     ERROR_SUCCESS);
}

/* Writes the same batches in one way or the other, and reads them back. */
static void write_and_read(const struct setup *setup, bool singly, struct read_events *events)
{
    const char *path = folder_path(singly ? "singly.etl" : "many.etl");
    struct batch *batch = malloc(sizeof *batch);
    struct batch_providers providers;
    etwas_session_counts counts;
    etwas_trace_handle session;

    assert_non_null(batch);
    batch_providers_begin(&providers);
    session = start_session(path, &setup->options);
    enable(session, setup);
    for (uint64_t number = 1; number <= BATCHES; number++) {
        uint32_t refused = 99;
        uint32_t bytes = 99;

        batch_make(batch, &providers, session, setup->kinds, number);
        wait_for_room(session);
        assert_int_equal(singly ? batch_write_singly(batch)
                                : etwas_write_many(batch->events, batch->count, &refused, &bytes),
                         ERROR_SUCCESS);
        assert_int_equal(refused, 99);
        assert_int_equal(bytes, 99);
    }
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    batch_providers_end(&providers);
    batches_read(path, events);
    assert_int_equal(counts.recorded, events->count);
    free(batch);
}

static uint32_t has_property(const struct setup *setup, uint32_t property)
{
    return setup->property & property;
}

/* What the content leaves out: keys that differ, times and stacks of one moment. */
static void expect_own_items(const struct setup *setup, const struct read_events *events)
{
    uint64_t last_times = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct read_event *event = &events->list[index];
        const EVENT_HEADER *header = (const EVENT_HEADER *)(const void *)event->content;
        bool is_write = (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0;
        bool has_key = has_property(setup, EVENT_ENABLE_PROPERTY_EVENT_KEY) != 0 && is_write;
        bool has_stack = has_property(setup, EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0 && is_write;

        assert_int_equal(event->key != 0, has_key);
        for (size_t before = index > 20 ? index - 20 : 0; has_key && before < index; before++) {
            assert_true(events->list[before].key != event->key);
        }
        assert_int_equal(event->frames[0] != 0 && event->frames[1] != 0, has_stack);
        if (!setup->options.process_times) {
            assert_int_equal(event->times, 0);
        } else if (event->mark.index != 0) {
            assert_int_equal(event->times, last_times);
        }
        last_times = event->times;
    }
    assert_true(!setup->options.process_times || last_times != 0);
}

static void expect_same_events(const struct read_events *many, const struct read_events *singly)
{
    assert_int_equal(many->count, singly->count);
    for (size_t index = 0; index < many->count; index++) {
        assert_int_equal(many->list[index].bytes, singly->list[index].bytes);
        assert_memory_equal(many->list[index].content, singly->list[index].content,
                            many->list[index].bytes);
    }
}

static void expect_same(const struct setup *setup)
{
    struct read_events many;
    struct read_events singly;

    write_and_read(setup, false, &many);
    write_and_read(setup, true, &singly);
    expect_same_events(&many, &singly);
    expect_own_items(setup, &many);
    if (setup->level == 0 && setup->any == 0) {
        expect_whole_batches(&many);
    }
    free(many.list);
    free(singly.list);
}

static void a_batch_records_what_single_calls_do(void **state)
{
    static const uint32_t clocks[] = {ETWAS_CLOCK_TSC, ETWAS_CLOCK_QPC, ETWAS_CLOCK_SYSTEM_TIME};

    (void)state;
    for (uint32_t kind = ETWAS_BATCH_KIND_WRITE; kind <= ETWAS_BATCH_KIND_INSTANCE; kind++) {
        expect_same(&(struct setup){.options = {.clock = clocks[kind % 3], .buffer_size_kb = 32},
                                    .kinds = 1u << kind});
    }
    for (uint32_t index = 0; index < sizeof clocks / sizeof clocks[0]; index++) {
        expect_same(&(struct setup){.options = {.clock = clocks[index], .buffer_size_kb = 16},
                                    .kinds = ALL_KINDS});
    }
}

static void a_batch_follows_levels_keywords_and_properties(void **state)
{
    const etwas_session_options options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 64};
    static const uint32_t properties[] = {
        EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID,
        EVENT_ENABLE_PROPERTY_EVENT_KEY | EVENT_ENABLE_PROPERTY_PROCESS_START_KEY,
        EVENT_ENABLE_PROPERTY_STACK_TRACE,
    };

    (void)state;
    expect_same(&(struct setup){.options = options, .kinds = ALL_KINDS, .level = 3, .any = 2});
    for (uint32_t index = 0; index < sizeof properties / sizeof properties[0]; index++) {
        expect_same(
            &(struct setup){.options = options, .kinds = ALL_KINDS, .property = properties[index]});
    }
}

static void r106_a_batch_has_times(void **state)
{
    (void)state;
    expect_same(&(struct setup){
        .options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 32, .process_times = true},
        .kinds = ALL_KINDS});
}

static void a_batch_has_one_slot_where_the_session_has(void **state)
{
    (void)state;
    if (sessions_have_sequences()) {
        skip();
    }
    expect_same(
        &(struct setup){.options = {.clock = ETWAS_CLOCK_QPC,
                                    .buffer_size_kb = 32,
                                    .log_file_mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING},
                        .kinds = ALL_KINDS});
}

static void a_batch_lies_in_the_class_of_its_first_event(void **state)
{
    const etwas_retention_class class = {.level = 4, .share_percent = 50};
    struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC,
                                      .buffer_size_kb = 32,
                                      .classes = &class,
                                      .class_count = 1},
                          .kinds = ALL_KINDS};

    (void)state;
    expect_same(&setup);
}

/* Large events of the class come first in some batches, and are not kept with those of others. */
static void a_recorder_keeps_a_batch_with_the_class_of_its_first_event(void **state)
{
    enum {
        FIRST = 200,
        LATER = 6000
    };
    const etwas_retention_class class = {.level = 2, .share_percent = 50};
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 16,
                                           .minimum_buffers = 16,
                                           .maximum_buffers = 16,
                                           .classes = &class,
                                           .class_count = 1};
    struct batch_providers providers;
    struct read_events events;
    etwas_trace_handle session;
    uint64_t kept = 0;

    (void)state;
    batch_providers_begin(&providers);
    session = start_session(NULL, &options);
    for (uint64_t number = 1; number <= LATER; number++) {
        struct {
            EVENT_TRACE_HEADER header;
            struct batch_mark mark;
        } parts[2];
        etwas_batch_event both[2];

        for (uint32_t index = 0; index < 2; index++) {
            parts[index].header =
                (EVENT_TRACE_HEADER){.Size = sizeof parts[0],
                                     .Class.Level = number <= FIRST && index == 0 ? 1 : 4,
                                     .Guid = event_class};
            parts[index].header.Flags = WNODE_FLAG_TRACED_GUID;
            parts[index].mark = (struct batch_mark){number, index, 2};
            both[index] = etwas_batch_trace(session, &parts[index].header);
        }
        assert_int_equal(etwas_write_many(both, 2, NULL, NULL), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, folder_path("kept.etl")), ERROR_SUCCESS);
    stop_session(session, NULL);
    batch_providers_end(&providers);
    batches_read(folder_path("kept.etl"), &events);
    for (size_t index = 0; index < events.count; index++) {
        kept += events.list[index].mark.batch <= FIRST;
    }
    assert_int_equal(kept, 2 * FIRST);
    free(events.list);
}

/* ---- several sessions ------------------------------------------------------------------------ */

/* One session takes all events, one some, one with stacks; each batch is whole in each. */
static void each_session_records_its_part_of_a_batch(void **state)
{
    const struct setup setups[] = {
        {.options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 32}},
        {.options = {.clock = ETWAS_CLOCK_SYSTEM_TIME, .buffer_size_kb = 32}, .level = 3},
        {.options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 64},
         .property = EVENT_ENABLE_PROPERTY_STACK_TRACE},
    };
    const char *paths[] = {"all.etl", "some.etl", "stacks.etl"};
    struct batch *batch = malloc(sizeof *batch);
    struct batch_providers providers;
    etwas_trace_handle sessions[3];
    uint64_t written[3] = {0};

    (void)state;
    assert_non_null(batch);
    batch_providers_begin(&providers);
    for (int index = 0; index < 3; index++) {
        sessions[index] = start_session(folder_path(paths[index]), &setups[index].options);
        enable(sessions[index], &setups[index]);
    }
    for (uint64_t number = 1; number <= BATCHES; number++) {
        batch_make(batch, &providers, sessions[0],
                   1 << ETWAS_BATCH_KIND_WRITE | 1 << ETWAS_BATCH_KIND_INSTANCE, number);
        for (uint32_t index = 0; index < batch->count; index++) {
            bool is_write = batch->parts[index].kind == ETWAS_BATCH_KIND_WRITE;

            written[0]++;
            written[1] += is_write && batch->parts[index].descriptor.Level <= 3;
            written[2] += is_write;
        }
        for (int index = 0; index < 3; index++) {
            wait_for_room(sessions[index]);
        }
        assert_int_equal(etwas_write_many(batch->events, batch->count, NULL, NULL), ERROR_SUCCESS);
    }
    for (int index = 0; index < 3; index++) {
        struct read_events events;
        etwas_session_counts counts;

        stop_session(sessions[index], &counts);
        expect_nothing_lost(counts);
        batches_read(folder_path(paths[index]), &events);
        assert_int_equal(events.count, written[index]);
        for (size_t at = 1; at < events.count; at++) {
            const struct read_event *last = &events.list[at - 1];

            if (events.list[at].mark.batch == last->mark.batch) {
                assert_int_equal(events.list[at].stamp, last->stamp);
                assert_true(events.list[at].mark.index > last->mark.index);
            }
        }
        free(events.list);
    }
    batch_providers_end(&providers);
    free(batch);
}

/* ---- many at once, with signals, and with losses --------------------------------------------- */

struct logger {
    const struct batch_providers *providers;
    etwas_trace_handle session;
    uint64_t first_number;
    uint64_t recorded;
    uint64_t lost;
    pthread_t thread;
};

static _Thread_local struct {
    struct batch *batch;
    uint64_t recorded;
    uint64_t lost;
} handled;

static void count_result(uint32_t code, uint32_t events, uint64_t *recorded, uint64_t *lost)
{
    *(code == ERROR_SUCCESS ? recorded : lost) += events;
}

static void write_in_handler(int number)
{
    struct batch *batch = handled.batch;

    (void)number;
    if (batch != NULL) {
        count_result(etwas_write_many(batch->events, batch->count, NULL, NULL), batch->count,
                     &handled.recorded, &handled.lost);
    }
}

static void *log_batches(void *argument)
{
    struct logger *logger = argument;
    struct batch *batch = malloc(sizeof *batch);
    struct batch *of_handler = malloc(sizeof *of_handler);
    timer_t timer;

    batch_make(of_handler, logger->providers, logger->session, ALL_KINDS, 0);
    handled.batch = of_handler;
    timer = start_alarms(FIXTURE_SANITIZER ? 5000000 : 50000);
    for (uint64_t number = 1; number <= THREAD_BATCHES; number++) {
        batch_make(batch, logger->providers, logger->session, ALL_KINDS,
                   logger->first_number + number);
        count_result(etwas_write_many(batch->events, batch->count, NULL, NULL), batch->count,
                     &logger->recorded, &logger->lost);
    }
    end_alarms(timer);
    handled.batch = NULL;
    logger->recorded += handled.recorded;
    logger->lost += handled.lost;
    free(of_handler);
    free(batch);
    return NULL;
}

static void batches_of_threads_and_handlers_are_whole(void **state)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_TSC,
                                            .buffer_size_kb = 16,
                                            .minimum_buffers = 8,
                                            .maximum_buffers = 12}};
    struct logger loggers[THREADS];
    struct batch_providers providers;
    etwas_session_counts counts;
    struct read_events events;
    etwas_trace_handle session;
    uint64_t recorded = 0;
    uint64_t lost = 0;

    (void)state;
    handle_signal(SIGALRM, write_in_handler);
    batch_providers_begin(&providers);
    session = start_session(folder_path("threads.etl"), &setup.options);
    enable(session, &setup);
    for (uint64_t index = 0; index < THREADS; index++) {
        loggers[index] = (struct logger){&providers, session, index * 1000000 + 1, 0, 0, 0};
        assert_int_equal(pthread_create(&loggers[index].thread, NULL, log_batches, &loggers[index]),
                         0);
    }
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(loggers[index].thread, NULL), 0);
        recorded += loggers[index].recorded;
        lost += loggers[index].lost;
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, recorded);
    assert_int_equal(counts.lost, lost);
    batch_providers_end(&providers);
    batches_read(folder_path("threads.etl"), &events);
    assert_int_equal(events.count, recorded);
    expect_only_whole_batches(&events);
    free(events.list);
}

/* ---- events of no provider ------------------------------------------------------------------- */

/* EventRegister failed, or another thread has unregistered the provider: the handle is 0. */
static void an_event_of_no_provider_goes_nowhere(void **state)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 8}};
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    const EVENT_TRACE_HEADER trace = {.Size = sizeof trace, .Flags = WNODE_FLAG_TRACED_GUID};
    struct batch_providers providers;
    etwas_session_counts counts;
    etwas_batch_event events[3];
    etwas_trace_handle session;
    uint64_t recorded = 0;

    (void)state;
    batch_providers_begin(&providers);
    session = start_session(folder_path("none.etl"), &setup.options);
    enable(session, &setup);
    for (uint32_t order = 0; order < 27; order++) {
        uint32_t rest = order;

        for (int index = 0; index < 3; index++) {
            events[index] = rest % 3 == 2 ? etwas_batch_trace(session, &trace)
                                          : etwas_batch_write(rest % 3 == 1 ? providers.modern : 0,
                                                              &descriptor, NULL, NULL, 0, NULL);
            recorded += rest % 3 != 0;
            rest /= 3;
        }
        wait_for_room(session);
        assert_int_equal(etwas_write_many(events, 3, NULL, NULL), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, recorded);
    assert_int_equal(counts.lost, 0);
    batch_providers_end(&providers);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void nothing_of_a_refused_batch_is_recorded(void **state)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 8},
                                .kinds = ALL_KINDS};
    struct batch *batch = malloc(sizeof *batch);
    etwas_batch_event changed[ETWAS_BATCH_EVENTS + 1];
    struct batch_providers providers;
    etwas_session_counts counts;
    etwas_trace_handle session;
    etwas_trace_handle stopped;
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    const EVENT_TRACE_HEADER trace = {.Size = sizeof trace, .Flags = WNODE_FLAG_TRACED_GUID};
    const EVENT_INSTANCE_HEADER own = {.Size = sizeof own, .Flags = WNODE_FLAG_TRACED_GUID};
    const EVENT_INSTANCE_HEADER small = {.Size = sizeof small - 1, .Flags = WNODE_FLAG_TRACED_GUID};
    uint32_t refused;

    (void)state;
    assert_non_null(batch);
    batch_providers_begin(&providers);
    stopped = start_session(folder_path("stopped.etl"), &setup.options);
    stop_session(stopped, NULL);
    session = start_session(folder_path("refused.etl"), &setup.options);
    enable(session, &setup);
    for (uint64_t number = 1; number <= BATCHES; number++) {
        const EVENT_INSTANCE_INFO unknown = {NULL, 1};
        const EVENT_INSTANCE_INFO known = {providers.classes[0].RegHandle, 1};
        const struct {
            etwas_batch_event event;
            uint32_t code;
        } ways[] = {
            {{.handle = session}, ERROR_INVALID_PARAMETER},
            {etwas_batch_write(providers.modern, NULL, NULL, NULL, 0, NULL),
             ERROR_INVALID_PARAMETER},
            {etwas_batch_write(providers.modern, &descriptor, NULL, NULL, 1, NULL),
             ERROR_INVALID_PARAMETER},
            {etwas_batch_write(providers.modern + (1 << 20), &descriptor, NULL, NULL, 0, NULL),
             ERROR_INVALID_HANDLE},
            {etwas_batch_trace(session, NULL), ERROR_INVALID_PARAMETER},
            {etwas_batch_trace(0, &trace), ERROR_INVALID_PARAMETER},
            {etwas_batch_trace(stopped, &trace), ERROR_INVALID_HANDLE},
            {etwas_batch_trace(providers.modern, &trace), ERROR_INVALID_HANDLE},
            {etwas_batch_instance(session, NULL, &known, NULL), ERROR_INVALID_PARAMETER},
            {etwas_batch_instance(session, &own, NULL, NULL), ERROR_INVALID_PARAMETER},
            {etwas_batch_instance(session, &own, &unknown, NULL), ERROR_INVALID_PARAMETER},
            {etwas_batch_instance(session, &small, &known, NULL), ERROR_INVALID_PARAMETER},
            {etwas_batch_instance(session, &own, &known, &unknown), ERROR_INVALID_HANDLE},
            {etwas_batch_instance(providers.modern, &own, &known, NULL), ERROR_INVALID_HANDLE},
        };
        uint32_t way = (uint32_t)(number % (sizeof ways / sizeof ways[0]));
        uint32_t at;

        batch_make(batch, &providers, session, number % 2 == 0 ? ALL_KINDS : WRITES, number);
        at = (uint32_t)(number / 7) % batch->count;
        memcpy(changed, batch->events, sizeof batch->events);
        changed[at] = ways[way].event;
        refused = 99;
        assert_int_equal(etwas_write_many(changed, batch->count, &refused, NULL), ways[way].code);
        assert_int_equal(refused, at);
    }
    assert_int_equal(etwas_write_many(changed, ETWAS_BATCH_EVENTS + 1, &refused, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(refused, ETWAS_BATCH_EVENTS);
    assert_int_equal(etwas_write_many(NULL, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_write_many(NULL, 0, NULL, NULL), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 0);
    assert_int_equal(counts.lost, 0);
    batch_providers_end(&providers);
    free(batch);
}

static struct batch *batch_of_child;
static uint32_t classic_index;

static int write_in_child(void)
{
    uint32_t refused = 99;

    CHECK_IN_CHILD(etwas_write_many(batch_of_child->events, batch_of_child->count, &refused,
                                    NULL) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(refused == classic_index);
    return 0;
}

/* A session's handle is not valid there, as in a single call. */
static void a_child_of_fork_writes_nothing(void **state)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC}};
    struct batch_providers providers;
    etwas_session_counts counts;
    etwas_trace_handle session;

    (void)state;
    batch_of_child = malloc(sizeof *batch_of_child);
    assert_non_null(batch_of_child);
    batch_providers_begin(&providers);
    session = start_session(folder_path("child.etl"), &setup.options);
    enable(session, &setup);
    batch_make(batch_of_child, &providers, session, ALL_KINDS, 5);
    for (classic_index = 0; batch_of_child->parts[classic_index].kind == ETWAS_BATCH_KIND_WRITE;) {
        classic_index++;
    }
    assert_true(classic_index < batch_of_child->count);
    expect_in_child(write_in_child);
    assert_int_equal(etwas_write_many(batch_of_child->events, batch_of_child->count, NULL, NULL),
                     ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, batch_of_child->count);
    batch_providers_end(&providers);
    free(batch_of_child);
}

/* A batch that exactly fills an empty buffer fits; with 8 bytes more it does not. */
static void expect_lost_with_its_size(uint32_t buffer_kb)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC, .buffer_size_kb = buffer_kb},
                                .kinds = ALL_KINDS};
    const uint32_t room = buffer_kb * 1024 - 72;
    static uint8_t data[32768];
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    struct batch_providers providers;
    etwas_session_counts counts;
    etwas_trace_handle session;

    batch_providers_begin(&providers);
    session = start_session(folder_path("large.etl"), &setup.options);
    enable(session, &setup);
    for (uint32_t more = 0; more <= 8; more += 8) {
        EVENT_DATA_DESCRIPTOR pieces[2];
        etwas_batch_event events[2];
        uint32_t bytes = 0;

        EventDataDescCreate(&pieces[0], data, 1000);
        EventDataDescCreate(&pieces[1], data, room - 1000 - 160 + more);
        for (int index = 0; index < 2; index++) {
            events[index] =
                etwas_batch_write(providers.modern, &descriptor, NULL, NULL, 1, &pieces[index]);
        }
        wait_for_room(session);
        assert_int_equal(etwas_write_many(events, 2, NULL, &bytes),
                         more == 0 ? ERROR_SUCCESS : ERROR_MORE_DATA);
        assert_int_equal(bytes, more == 0 ? 0 : room + 8);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(counts.lost, 2);
    batch_providers_end(&providers);
}

static void a_batch_that_fits_no_buffer_is_lost_with_its_size(void **state)
{
    (void)state;
    expect_lost_with_its_size(4);
    expect_lost_with_its_size(8);
    expect_lost_with_its_size(32);
}

/* Handle 0 is a provider that is not registered: its events go nowhere, and disturb no others. */
static void handle_0_goes_nowhere_wherever_it_stands(void **state)
{
    const struct setup setup = {.options = {.clock = ETWAS_CLOCK_QPC}};
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    const EVENT_TRACE_HEADER trace = {.Size = sizeof trace, .Flags = WNODE_FLAG_TRACED_GUID};
    const etwas_batch_event nowhere = etwas_batch_write(0, &descriptor, NULL, NULL, 0, NULL);
    etwas_trace_handle sessions[2];
    struct batch_providers providers;
    etwas_session_counts counts;

    (void)state;
    batch_providers_begin(&providers);
    for (int index = 0; index < 2; index++) {
        sessions[index] =
            start_session(folder_path(index == 0 ? "0.etl" : "1.etl"), &setup.options);
    }
    for (int place = 0; place < 3; place++) {
        const etwas_batch_event first = etwas_batch_trace(sessions[0], &trace);
        const etwas_batch_event second = etwas_batch_trace(sessions[1], &trace);
        const etwas_batch_event ways[3][3] = {
            {nowhere, first, second}, {first, nowhere, second}, {first, second, nowhere}};

        assert_int_equal(etwas_write_many(ways[place], 3, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(etwas_write_many(&nowhere, 1, NULL, NULL), ERROR_SUCCESS);
    }
    for (int index = 0; index < 2; index++) {
        stop_session(sessions[index], &counts);
        assert_int_equal(counts.recorded, 3);
    }
    batch_providers_end(&providers);
}

/* R77: an independent session that has no buffer gives no error if another one has the event. */
static void r77_an_independent_session_without_room_gives_no_error(void **state)
{
    const struct setup plain = {.options = {.clock = ETWAS_CLOCK_QPC}};
    const struct setup narrow = {.options = {.log_file_mode = EVENT_TRACE_INDEPENDENT_SESSION_MODE,
                                             .clock = ETWAS_CLOCK_QPC,
                                             .buffer_size_kb = 4,
                                             .minimum_buffers = 2,
                                             .maximum_buffers = 2,
                                             .flusher.no_thread = true}};
    static const uint8_t data[1000];
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    EVENT_DATA_DESCRIPTOR piece;
    etwas_batch_event events[3];
    struct batch_providers providers;
    etwas_trace_handle sessions[2];
    etwas_session_counts counts;

    (void)state;
    batch_providers_begin(&providers);
    sessions[0] = start_session(folder_path("plain.etl"), &plain.options);
    sessions[1] = start_session(folder_path("narrow.etl"), &narrow.options);
    enable(sessions[0], &plain);
    enable(sessions[1], &narrow);
    EventDataDescCreate(&piece, data, sizeof data);
    for (int index = 0; index < 3; index++) {
        events[index] = etwas_batch_write(providers.modern, &descriptor, NULL, NULL, 1, &piece);
    }
    for (int turn = 0; turn < 40; turn++) {
        assert_int_equal(etwas_write_many(events, 3, NULL, NULL), ERROR_SUCCESS);
    }
    stop_session(sessions[0], &counts);
    assert_int_equal(counts.recorded, 120);
    stop_session(sessions[1], &counts);
    assert_true(counts.lost != 0);
    assert_int_equal(counts.lost % 3, 0);
    assert_int_equal(counts.recorded + counts.lost, 120);
    batch_providers_end(&providers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_batch_records_what_single_calls_do),
        FOLDER_TEST(a_batch_follows_levels_keywords_and_properties),
        FOLDER_TEST(r106_a_batch_has_times),
        FOLDER_TEST(a_batch_has_one_slot_where_the_session_has),
        FOLDER_TEST(a_batch_lies_in_the_class_of_its_first_event),
        FOLDER_TEST(a_recorder_keeps_a_batch_with_the_class_of_its_first_event),
        FOLDER_TEST(each_session_records_its_part_of_a_batch),
        FOLDER_TEST(batches_of_threads_and_handlers_are_whole),
        FOLDER_TEST(an_event_of_no_provider_goes_nowhere),
        FOLDER_TEST(nothing_of_a_refused_batch_is_recorded),
        FOLDER_TEST(handle_0_goes_nowhere_wherever_it_stands),
        FOLDER_TEST(r77_an_independent_session_without_room_gives_no_error),
        FOLDER_TEST(a_child_of_fork_writes_nothing),
        FOLDER_TEST(a_batch_that_fits_no_buffer_is_lost_with_its_size),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
