/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Modern providers and several sessions: what a failure in one means to the others (R77); threads,
 * signal handlers and changes of settings at the same time; callbacks that write; fork.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "provider/modern.h"

enum {
    THREADS = 4,
    EVENTS = 5000,
};

/* ---- R77: a failure in one session ----------------------------------------------------------- */

/* One buffer of 4 KB that nobody empties. */
static etwas_trace_handle start_narrow(const char *name, uint32_t mode)
{
    const etwas_session_options options = {
        .log_file_mode = mode,
        .buffer_size_kb = 4,
        .maximum_buffers = 1,
        .flusher.no_thread = true,
    };

    return start_session(folder_path(name), &options);
}

/* Fills it, by a provider of its own. */
static void fill(etwas_trace_handle session)
{
    while (log_number(session, 1) == ERROR_SUCCESS) {
    }
}

static void r77_what_one_session_has_no_buffer_for_is_published_to_none(void **state)
{
    REGHANDLE provider = begin_modern(NULL);
    etwas_trace_handle wide[2];
    etwas_trace_handle narrow;
    uint64_t lost;

    (void)state;
    stay_on_one_processor();
    wide[0] = start_recorder();
    narrow = start_narrow("n.etl", 0);
    wide[1] = start_recorder();
    /* Enabled before and after the one that fails: the order does not matter. */
    enable_modern(wide[0], 0, 0, 0);
    enable_modern(narrow, 0, 0, 0);
    enable_modern(wide[1], 0, 0, 0);
    assert_int_equal(write_number(provider, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(counts_of(wide[0]).recorded, 1);
    assert_int_equal(counts_of(wide[1]).recorded, 1);
    fill(narrow);
    lost = counts_of(narrow).lost;
    for (uint32_t number = 0; number < 5; number++) {
        assert_int_equal(write_number(provider, 1, 1, number), ERROR_NOT_ENOUGH_MEMORY);
    }
    for (size_t index = 0; index < 2; index++) {
        assert_int_equal(counts_of(wide[index]).recorded, 1);
        assert_int_equal(counts_of(wide[index]).lost_withheld, 5);
        assert_int_equal(counts_of(wide[index]).lost, 5);
    }
    assert_int_equal(counts_of(narrow).lost, lost + 5);
    /* A session that does not want the event cannot fail. */
    enable_modern(narrow, 1, 0x100, 0);
    assert_int_equal(write_number(provider, 1, 1, 6), ERROR_SUCCESS);
    assert_int_equal(counts_of(wide[1]).recorded, 2);
    stop_session(narrow, NULL);
    stop_session(wide[0], NULL);
    stop_session(wide[1], NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    leave_one_processor();
}

static void r77_an_independent_session_that_fails_costs_the_others_nothing(void **state)
{
    REGHANDLE provider = begin_modern(NULL);
    etwas_trace_handle wide[2];
    etwas_trace_handle narrow;
    uint64_t lost;

    (void)state;
    wide[0] = start_recorder();
    narrow = start_narrow("n.etl", EVENT_TRACE_INDEPENDENT_SESSION_MODE);
    wide[1] = start_recorder();
    enable_modern(wide[0], 0, 0, 0);
    enable_modern(narrow, 0, 0, 0);
    enable_modern(wide[1], 0, 0, 0);
    fill(narrow);
    lost = counts_of(narrow).lost;
    for (uint32_t number = 0; number < 5; number++) {
        assert_int_equal(write_number(provider, 1, 1, number), ERROR_SUCCESS);
    }
    assert_int_equal(counts_of(wide[0]).recorded, 5);
    assert_int_equal(counts_of(wide[1]).recorded, 5);
    assert_int_equal(counts_of(narrow).lost, lost + 5);
    /* Alone, it says so. */
    stop_session(wide[0], NULL);
    stop_session(wide[1], NULL);
    assert_int_equal(write_number(provider, 1, 1, 6), ERROR_NOT_ENOUGH_MEMORY);
    stop_session(narrow, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ---- threads and signal handlers ------------------------------------------------------------- */

static REGHANDLE shared_provider;
static uint32_t quit;
static uint64_t from_handlers;
static uint64_t odd;

/* Its activity is its own, and the interrupted thread's is there again afterwards. */
static void write_in_handler(int signal_number)
{
    etwas_guid id = {9, 9, 9, {9}};

    (void)signal_number;
    (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id);
    if (write_number(shared_provider, 1, 1, 1) == ERROR_SUCCESS) {
        ck_pr_inc_64(&from_handlers);
    } else {
        ck_pr_inc_64(&odd);
    }
    (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &id);
}

static void *write_all(void *unused)
{
    (void)unused;
    for (uint32_t number = 0; number < EVENTS; number++) {
        etwas_guid mine = {number, 0, 0, {0}};
        etwas_guid found;

        memcpy(mine.Data4 + 4, &number, sizeof number);
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &mine);
        if (write_number(shared_provider, 1, 1, number) != ERROR_SUCCESS) {
            ck_pr_inc_64(&odd);
        }
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &found);
        if (memcmp(&mine, &found, sizeof mine) != 0) {
            ck_pr_inc_64(&odd);
        }
    }
    return NULL;
}

/* What it changes never keeps an event of level 1 and keyword 1 out. */
static void *change_all(void *session)
{
    uint32_t turn = 0;

    while (ck_pr_load_32(&quit) == 0) {
        if (EnableTraceEx2(*(etwas_trace_handle *)session, &control_guid,
                           EVENT_CONTROL_CODE_ENABLE_PROVIDER, (uint8_t)(1 + turn % 5),
                           turn % 3 != 0 ? turn | 1 : 0, turn % 2, 0, NULL) != ERROR_SUCCESS) {
            ck_pr_inc_64(&odd);
        }
        turn++;
    }
    return NULL;
}

static void threads_and_handlers_lose_nothing_while_settings_change(void **state)
{
    const etwas_session_options options = {.maximum_buffers = 4096};
    struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
    struct sigaction before;
    struct itimerval often = {{0, 500}, {0, 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    etwas_trace_handle sessions[2];
    etwas_session_counts counts;
    pthread_t threads[THREADS];
    pthread_t changer;

    (void)state;
    ck_pr_store_32(&quit, 0);
    ck_pr_store_64(&from_handlers, 0);
    ck_pr_store_64(&odd, 0);
    shared_provider = begin_modern(NULL);
    sessions[0] = start_session(folder_path("1.etl"), &options);
    sessions[1] = start_session(folder_path("2.etl"), &options);
    enable_modern(sessions[0], 1, 1, 0);
    enable_modern(sessions[1], 1, 1, 0);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_int_equal(pthread_create(&changer, NULL, change_all, &sessions[0]), 0);
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, write_all, NULL), 0);
    }
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    ck_pr_store_32(&quit, 1);
    assert_int_equal(pthread_join(changer, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(odd, 0);
    for (uint32_t index = 0; index < 2; index++) {
        stop_session(sessions[index], &counts);
        expect_nothing_lost(counts);
        assert_int_equal(counts.recorded, THREADS * EVENTS + from_handlers);
        assert_int_equal(count_modern(folder_path(index == 0 ? "1.etl" : "2.etl")),
                         counts.recorded);
    }
    assert_int_equal(EventUnregister(shared_provider), ERROR_SUCCESS);
}

/* ---- sessions and registrations that end meanwhile ------------------------------------------- */

static void *write_until_told(void *recorded)
{
    uint64_t *count = recorded;

    while (ck_pr_load_32(&quit) == 0) {
        uint32_t code = write_number(ck_pr_load_64(&shared_provider), 1, 1, 1);

        /* Shared slots: a writer that sleeps too long may cost a flight recorder a buffer. */
        if (code != ERROR_SUCCESS && code != ERROR_INVALID_HANDLE &&
            code != ERROR_NOT_ENOUGH_MEMORY) {
            ck_pr_inc_64(&odd);
        }
        ck_pr_inc_64(count);
    }
    return NULL;
}

static void sessions_and_registrations_may_end_while_writers_write(void **state)
{
    uint64_t written[THREADS] = {0};
    pthread_t threads[THREADS];

    (void)state;
    ck_pr_store_32(&quit, 0);
    ck_pr_store_64(&odd, 0);
    ck_pr_store_64(&shared_provider, begin_modern(NULL));
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, write_until_told, &written[index]),
                         0);
    }
    for (uint32_t turn = 0; turn < 100; turn++) {
        etwas_trace_handle session = start_recorder();
        REGHANDLE old = shared_provider;

        enable_modern(session, 0, 0, 0);
        if (turn % 2 != 0) {
            ck_pr_store_64(&shared_provider, begin_modern(NULL));
            assert_int_equal(EventUnregister(old), ERROR_SUCCESS);
        }
        while (counts_of(session).recorded == 0) {
        }
        stop_session(session, NULL);
    }
    /* A thread may have come to nothing so far. */
    for (uint32_t index = 0; index < THREADS; index++) {
        while (ck_pr_load_64(&written[index]) == 0) {
            (void)sched_yield();
        }
    }
    ck_pr_store_32(&quit, 1);
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    assert_int_equal(odd, 0);
    assert_int_equal(EventUnregister(shared_provider), ERROR_SUCCESS);
}

/* ---- callbacks that do something ------------------------------------------------------------- */

struct busy {
    REGHANDLE provider;
    uint32_t calls;
    uint32_t written;
};

/* Writes an event while it is enabled, and unregisters when it is not. */
static void write_or_leave(const etwas_guid *source, uint32_t is_enabled, uint8_t level,
                           uint64_t any, uint64_t all, EVENT_FILTER_DESCRIPTOR *filter,
                           void *context)
{
    struct busy *busy = context;

    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    busy->calls++;
    if (is_enabled != EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        busy->written += write_number(busy->provider, 1, 1, busy->calls) == ERROR_SUCCESS;
    } else {
        assert_int_equal(write_number(busy->provider, 1, 1, 1), ERROR_SUCCESS);
        assert_int_equal(EventUnregister(busy->provider), ERROR_SUCCESS);
    }
}

static void a_callback_may_write_events_and_unregister_itself(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct busy busy = {0};
    etwas_session_counts counts;

    (void)state;
    enable_modern(session, 0, 0, 0);
    /* At registration the callback has the handle already. */
    assert_int_equal(EventRegister(&control_guid, write_or_leave, &busy, &busy.provider),
                     ERROR_SUCCESS);
    assert_int_equal(busy.calls, 1);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0,
                                    0, INFINITELY, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(busy.calls, 2);
    /* If the caller waits, a thread of the library calls it. */
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
                                    0, 0, 60000, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(busy.calls, 3);
    assert_int_equal(busy.written, 3);
    stop_session(session, &counts);
    assert_int_equal(busy.calls, 4);
    assert_int_equal(counts.recorded, 3);
    assert_int_equal(EventUnregister(busy.provider), ERROR_INVALID_HANDLE);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void live_as_child(REGHANDLE provider, struct received *received, const etwas_guid *parents)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .flusher.no_thread = FIXTURE_SANITIZER};
    etwas_session_counts counts;
    etwas_trace_handle session;
    etwas_guid own;

    CHECK_IN_CHILD(!EventProviderEnabled(provider, 0, 0));
    CHECK_IN_CHILD(write_number(provider, 1, 1, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_start("child", NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(1, 1, 1, &control_guid, session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(received->calls == 2 && received->is_enabled == 1);
    CHECK_IN_CHILD(write_number(provider, 1, 1, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == 1);
    CHECK_IN_CHILD(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &own) == ERROR_SUCCESS);
    CHECK_IN_CHILD(memcmp(&own, parents, sizeof own) != 0);
    CHECK_IN_CHILD(EventUnregister(provider) == ERROR_SUCCESS);
    _exit(0);
}

static void a_forks_child_keeps_its_providers_and_nobody_enables_them(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct received received = {0};
    REGHANDLE provider = begin_modern(&received);
    etwas_guid id;
    pid_t child;

    (void)state;
    enable_modern(session, 0, 0, 0);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id), ERROR_SUCCESS);
    assert_int_equal(write_number(provider, 1, 1, 1), ERROR_SUCCESS);
    child = fork();
    if (child == 0) {
        /* The next id of either process has one number, and is not the same. */
        live_as_child(provider, &received, &id);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_int_equal(write_number(provider, 1, 1, 2), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_modern(folder_path("f.etl")), 2);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ---- a thread that is cancelled -------------------------------------------------------------- */

/* A callback that waits where a thread that is cancelled would end. */
struct waiting {
    sem_t inside;
    sem_t go_on;
    uint32_t returned;
};

static void wait_inside(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                        uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    struct waiting *waiting = context;

    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    if (is_enabled != EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        (void)sem_post(&waiting->inside);
        while (sem_wait(&waiting->go_on) != 0) {
        }
    }
    waiting->returned++;
}

static void *enable_from_a_thread(void *session)
{
    enable_modern(*(etwas_trace_handle *)session, 0, 0, 0);
    return NULL;
}

static void a_thread_that_is_cancelled_inside_a_callback_comes_out_of_it_first(void **state)
{
    struct waiting waiting = {.returned = 0};
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider;
    pthread_t thread;

    (void)state;
    assert_int_equal(sem_init(&waiting.inside, 0, 0), 0);
    assert_int_equal(sem_init(&waiting.go_on, 0, 0), 0);
    assert_int_equal(EventRegister(&control_guid, wait_inside, &waiting, &provider), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, enable_from_a_thread, &session), 0);
    while (sem_wait(&waiting.inside) != 0) {
    }
    assert_int_equal(pthread_cancel(thread), 0);
    (void)sem_post(&waiting.go_on);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiting.returned, 1);
    /* Both would wait for ever for a callback that does not come back. */
    stop_session(session, NULL);
    assert_int_equal(waiting.returned, 2);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    (void)sem_destroy(&waiting.inside);
    (void)sem_destroy(&waiting.go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r77_what_one_session_has_no_buffer_for_is_published_to_none),
        FOLDER_TEST(r77_an_independent_session_that_fails_costs_the_others_nothing),
        FOLDER_TEST(threads_and_handlers_lose_nothing_while_settings_change),
        FOLDER_TEST(sessions_and_registrations_may_end_while_writers_write),
        FOLDER_TEST(a_callback_may_write_events_and_unregister_itself),
        FOLDER_TEST(a_forks_child_keeps_its_providers_and_nobody_enables_them),
        FOLDER_TEST(a_thread_that_is_cancelled_inside_a_callback_comes_out_of_it_first),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
