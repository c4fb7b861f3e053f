/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Many of what processes share: sessions of one user up to their limit, sessions that enable one
 * provider, and providers.
 */
#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <etwas/shared.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

/* ---- sessions -------------------------------------------------------------------------------- */

enum {
    STARTERS = 4,
    STARTS = 20, /* of each: more than there may be */
};

static const etwas_session_options shared_recorder = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                                      .buffer_size_kb = 4,
                                                      .sharing = ETWAS_SHARING_USER};

static uint32_t start_numbered(uint32_t number, etwas_trace_handle *handle)
{
    char name[64];

    (void)snprintf(name, sizeof name, "many %d %u", getpid(), number);
    return etwas_start(name, NULL, &shared_recorder, handle);
}

/* Notes how many it was given; of these it stops one when it may. */
static int starter(void)
{
    etwas_trace_handle handles[STARTS];
    uint32_t count = 0;

    for (uint32_t number = 0; number < STARTS; number++) {
        uint32_t code = start_numbered(number, &handles[count]);

        CHECK_IN_CHILD(code == ERROR_SUCCESS || code == ERROR_NO_SYSTEM_RESOURCES);
        count += code == ERROR_SUCCESS;
    }
    ck_pr_add_32(&board->logged, count);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1) && count != 0);
    CHECK_IN_CHILD(etwas_stop(handles[0], NULL) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

/*
 * R46: they are 64 together, in whatever processes, also if several start at once. A session of one
 * process alone does not count for others.
 */
static void the_sessions_of_a_user_are_64(void **state)
{
    int starters[STARTERS];
    etwas_trace_handle handles[STARTERS];
    etwas_trace_handle handle;
    struct block block;
    uint32_t count;

    (void)state;
    for (uint32_t index = 0; index < STARTERS; index++) {
        starters[index] = start_program(starter);
    }
    assert_true(comes_to(&board->steps, STARTERS));
    assert_int_equal(board->logged, MOST_SESSIONS);
    assert_int_equal(query_all(&count), ERROR_SUCCESS);
    assert_int_equal(count, MOST_SESSIONS);
    assert_int_equal(start_numbered(0, &handle), ERROR_NO_SYSTEM_RESOURCES);
    prepare_block(&block, folder_path("refused.etl"));
    assert_int_equal(StartTraceA(&handle, "one too many", &block.properties),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(access(folder_path("refused.etl"), F_OK), -1);
    stop_session(start_recorder(), NULL);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 2 * STARTERS));
    for (uint32_t number = 0; number < STARTERS; number++) {
        assert_int_equal(start_numbered(number, &handles[number]), ERROR_SUCCESS);
    }
    assert_int_equal(start_numbered(STARTERS, &handle), ERROR_NO_SYSTEM_RESOURCES);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < STARTERS; index++) {
        stop_session(handles[index], NULL);
        assert_int_equal(exit_code_of(starters[index]), 0);
    }
}

/* ---- sessions of one provider ---------------------------------------------------------------- */

static const etwas_guid modern_guid = {0x3c5a1f20, 0x8e44, 0x4b1d, {1, 2, 3, 4, 5, 6, 7, 8}};

enum {
    LISTENERS = 8, /* of a modern provider */
    LEVELS = 5,
    EVENTS = 1000,
};

/* What the session of this number asks for. */
static uint8_t level_of(uint32_t number)
{
    return (uint8_t)(1 + number % LEVELS);
}

static uint64_t keywords_of(uint32_t number)
{
    return UINT64_C(0x11) << (number % 4);
}

/* Returns the descriptor of an event: each level with each single keyword, in turn. */
static EVENT_DESCRIPTOR descriptor_of(uint32_t event)
{
    return (EVENT_DESCRIPTOR){
        .Id = 1,
        .Level = (uint8_t)(1 + event % LEVELS),
        .Keyword = UINT64_C(1) << (event / LEVELS % LISTENERS),
    };
}

static bool is_wanted(uint32_t number, uint32_t event)
{
    const EVENT_DESCRIPTOR descriptor = descriptor_of(event);

    return descriptor.Level <= level_of(number) && (descriptor.Keyword & keywords_of(number)) != 0;
}

static char *file_of(uint32_t number)
{
    static char name[32];

    (void)snprintf(name, sizeof name, "listener.%u.etl", number);
    return name;
}

static uint32_t enable_modern(etwas_trace_handle session, uint32_t number)
{
    return EnableTraceEx2(session, &modern_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                          level_of(number), keywords_of(number), 0, 30000, NULL);
}

static uint32_t listener_number; /* of the program that is started next */

static int listener(void)
{
    const uint32_t number = listener_number;
    char name[32];
    struct block block;
    etwas_trace_handle session;

    (void)snprintf(name, sizeof name, "listener %u", number);
    prepare_block(&block, folder_path(file_of(number)));
    session = start_block(name, &block);
    CHECK_IN_CHILD(enable_modern(session, number) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return block.properties.EventsLost == 0 ? 0 : 1;
}

static int modern_program(void)
{
    REGHANDLE handle;

    CHECK_IN_CHILD(EventRegister(&modern_guid, NULL, NULL, &handle) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    for (uint32_t event = 0; event < EVENTS; event++) {
        const EVENT_DESCRIPTOR descriptor = descriptor_of(event);
        EVENT_DATA_DESCRIPTOR payload;

        EventDataDescCreate(&payload, &event, sizeof event);
        CHECK_IN_CHILD(EventWrite(handle, &descriptor, 1, &payload) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(EventUnregister(handle) == ERROR_SUCCESS);
    return 0;
}

/* The events that the session wants, in order, and no others. */
static void expect_wanted(uint32_t number)
{
    struct events events;
    uint32_t event = 0;

    read_events(folder_path(file_of(number)), 0, &events);
    for (size_t index = 0; index < events.count; index++, event++) {
        while (event < EVENTS && !is_wanted(number, event)) {
            event++;
        }
        assert_memory_equal(&events.items[index].record.EventHeader.ProviderId, &modern_guid,
                            sizeof modern_guid);
        assert_memory_equal(events.items[index].payload, &event, sizeof event);
    }
    for (; event < EVENTS; event++) {
        assert_false(is_wanted(number, event));
    }
    free_events(&events);
}

/* The ninth is refused, as in one process, and there may be one when another has gone. */
static void eight_sessions_of_eight_hosts_enable_one_provider(void **state)
{
    int provider = start_program(modern_program);
    int listeners[LISTENERS];
    etwas_trace_handle ninth;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    for (listener_number = 0; listener_number < LISTENERS; listener_number++) {
        listeners[listener_number] = start_program(listener);
    }
    assert_true(comes_to(&board->steps, LISTENERS));
    assert_int_equal(start_numbered(0, &ninth), ERROR_SUCCESS);
    assert_int_equal(enable_modern(ninth, 0), ERROR_NO_SYSTEM_RESOURCES);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(provider), 0);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t number = 0; number < LISTENERS; number++) {
        assert_int_equal(exit_code_of(listeners[number]), 0);
        expect_wanted(number);
    }
    assert_int_equal(enable_modern(ninth, 0), ERROR_SUCCESS);
    stop_session(ninth, NULL);
}

/* R192, across processes: events go to the session that enabled it last. */
static void a_classic_provider_is_taken_over(void **state)
{
    int provider = start_program(logging_program);
    etwas_trace_handle first = start_in_file("first", "first.etl");
    etwas_trace_handle second = start_in_file("second", "second.etl");
    uint64_t before;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enable_with_timeout(first, &control_guid, 30000), ERROR_SUCCESS);
    assert_true(comes_to(&board->logged, EVENTS));
    assert_int_equal(enable_with_timeout(second, &control_guid, 30000), ERROR_SUCCESS);
    /* One may have been on its way. */
    assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + EVENTS));
    before = counts_of(first).recorded;
    assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + EVENTS));
    assert_int_equal(counts_of(first).recorded, before);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    stop_session(first, NULL);
    stop_session(second, NULL);
    assert_int_equal(count_events(folder_path("first.etl")) +
                         count_events(folder_path("second.etl")),
                     board->logged);
}

/* R192: a program that comes later finds both, in whichever order the folder has them. */
static void a_late_classic_provider_goes_by_who_enabled_it_last(void **state)
{
    etwas_trace_handle sessions[2];

    (void)state;
    sessions[0] = start_in_file("first", "first.etl");
    sessions[1] = start_in_file("second", "second.etl");
    for (uint32_t round = 0; round < 4; round++) {
        const etwas_trace_handle last = sessions[round % 2];
        const etwas_trace_handle other = sessions[1 - round % 2];
        const uint64_t before = counts_of(other).recorded;
        int provider;

        assert_int_equal(enable_with_timeout(other, &control_guid, 0), ERROR_SUCCESS);
        assert_int_equal(enable_with_timeout(last, &control_guid, 0), ERROR_SUCCESS);
        provider = start_program(logging_program);
        assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + EVENTS));
        ck_pr_store_32(&board->end, 1);
        assert_int_equal(exit_code_of(provider), 0);
        ck_pr_store_32(&board->end, 0);
        assert_int_equal(counts_of(other).recorded, before);
    }
    stop_session(sessions[0], NULL);
    stop_session(sessions[1], NULL);
}

/* ---- providers ------------------------------------------------------------------------------- */

enum {
    CROWD = 20,
    OF_EACH = 10, /* providers of a process, if ETWAS_TEST_PROVIDERS says no other number … */
    MOST_OF_EACH = 51, /* … of at most these: a session enables 1,024 */
    MOST_PROVIDERS = CROWD * MOST_OF_EACH,
    LINE_BYTES = 4096,
};

static uint32_t of_each(void)
{
    const char *asked = getenv("ETWAS_TEST_PROVIDERS");
    uint32_t count = asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : OF_EACH;

    return count < MOST_OF_EACH ? count : MOST_OF_EACH;
}

static etwas_guid guid_of(uint32_t provider)
{
    return (etwas_guid){0xA0000000 + provider, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};
}

static void note_enabled(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                         uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    ck_pr_inc_32(is_enabled != 0 ? &board->enabled : &board->disabled);
}

/* Size of all, and the name. */
static void name_provider(REGHANDLE handle, uint32_t provider)
{
    uint8_t traits[64];
    uint16_t size = (uint16_t)(sizeof size + 1 +
                               (size_t)snprintf((char *)traits + sizeof size,
                                                sizeof traits - sizeof size, "Crowd.%u", provider));

    memcpy(traits, &size, sizeof size);
    CHECK_IN_CHILD(EventSetInformation(handle, EventProviderSetTraits, traits, size) ==
                   ERROR_SUCCESS);
}

static uint32_t crowd_number; /* of the program that is started next */

static int one_of_a_crowd(void)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 0x10};
    const uint32_t count = of_each();
    const uint32_t first = crowd_number * count;
    REGHANDLE handles[MOST_OF_EACH];

    for (uint32_t index = 0; index < count; index++) {
        const etwas_guid guid = guid_of(first + index);

        CHECK_IN_CHILD(EventRegister(&guid, note_enabled, NULL, &handles[index]) == ERROR_SUCCESS);
        name_provider(handles[index], first + index);
    }
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    for (uint32_t index = 0; index < count; index++) {
        CHECK_IN_CHILD(EventWrite(handles[index], &descriptor, 0, NULL) == ERROR_SUCCESS);
    }
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    for (uint32_t index = 0; index < count; index++) {
        CHECK_IN_CHILD(EventUnregister(handles[index]) == ERROR_SUCCESS);
    }
    return 0;
}

static void ask_of_all(etwas_trace_handle session, uint32_t control_code)
{
    for (uint32_t provider = 0; provider < CROWD * of_each(); provider++) {
        const etwas_guid guid = guid_of(provider);

        assert_int_equal(EnableTraceEx2(session, &guid, control_code, 4, 0x10, 0, 0, NULL),
                         ERROR_SUCCESS);
    }
}

/*
 * Checks that each provider has its name, as `etwas ps` shows them, and, if `is_enabled`, the
 * session that enables it.
 */
static void expect_shown(bool is_enabled)
{
    static char line[LINE_BYTES];
    static bool is_shown[MOST_PROVIDERS];
    FILE *shown = popen(ETWAS_TOOL " ps --json", "r");
    uint32_t count = 0;

    assert_non_null(shown);
    memset(is_shown, 0, sizeof is_shown);
    while (fgets(line, sizeof line, shown) != NULL) {
        const char *name = strstr(line, "\"provider\":\"Crowd.");
        uint32_t provider;

        if (name == NULL) {
            continue;
        }
        assert_int_equal(sscanf(name, "\"provider\":\"Crowd.%u\"", &provider), 1);
        assert_in_range(provider, 0, CROWD * of_each() - 1);
        assert_false(is_shown[provider]);
        assert_true((strstr(line, "\"session\":\"crowd\"") != NULL) == is_enabled);
        is_shown[provider] = true;
        count++;
    }
    assert_int_equal(pclose(shown), 0);
    assert_int_equal(count, CROWD * of_each());
}

static void many_providers_in_twenty_processes(void **state)
{
    const uint32_t providers = CROWD * of_each();
    int crowd[CROWD];
    etwas_trace_handle session;
    struct block block;
    struct events events;

    (void)state;

    for (crowd_number = 0; crowd_number < CROWD; crowd_number++) {
        crowd[crowd_number] = start_program(one_of_a_crowd);
    }
    assert_true(comes_to(&board->registered, CROWD));

    expect_shown(false);

    prepare_block(&block, folder_path("crowd.etl"));
    session = start_block("crowd", &block);
    ask_of_all(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER);

    assert_true(comes_to(&board->enabled, providers));

    expect_shown(true);

    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, CROWD));
    ask_of_all(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER);

    assert_true(comes_to(&board->disabled, providers));

    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < CROWD; index++) {
        assert_int_equal(exit_code_of(crowd[index]), 0);
    }
    read_events(folder_path("crowd.etl"), 0, &events);
    assert_int_equal(events.count, providers);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(the_sessions_of_a_user_are_64),
        PROGRAMS_TEST(eight_sessions_of_eight_hosts_enable_one_provider),
        PROGRAMS_TEST(a_classic_provider_is_taken_over),
        PROGRAMS_TEST(a_late_classic_provider_goes_by_who_enabled_it_last),
        PROGRAMS_TEST(many_providers_in_twenty_processes),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
