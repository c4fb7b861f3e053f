/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Windows that are passed on to all other recorders, faster than these answer: a few threads ask,
 * and the windows that wait are joined.
 */
#include "sharing/propagate.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "clock/clock.h"
#include "session/fixture.h"

enum {
    WINDOWS = 200,
    STEP = 1000, /* between the moments of two, ns */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_snapshot_all_options all_options[WINDOWS]; /* under it, as what follows */
static uint32_t options_count;
static uint32_t asking;
static uint32_t most_asking;
static sem_t has_begun;
static sem_t may_end;

uint32_t __wrap_etwas_snapshot_all_of(const struct etwas_snapshot_all_options *options,
                                      etwas_snapshot_callback each, void *context);

/* The others take their time. */
uint32_t __wrap_etwas_snapshot_all_of(const struct etwas_snapshot_all_options *options,
                                      etwas_snapshot_callback each, void *context)
{
    (void)each;
    (void)context;
    (void)pthread_mutex_lock(&lock);
    all_options[options_count++] = *options;
    asking++;
    most_asking = asking > most_asking ? asking : most_asking;
    (void)pthread_mutex_unlock(&lock);
    (void)sem_post(&has_begun);
    (void)sem_wait(&may_end);
    (void)pthread_mutex_lock(&lock);
    asking--;
    (void)pthread_mutex_unlock(&lock);
    return ERROR_SUCCESS;
}

static uint64_t passed_on(etwas_trace_handle session)
{
    etwas_trigger_counts counts;

    assert_int_equal(etwas_trigger_query(session, &counts), ERROR_SUCCESS);
    return counts.passed_on;
}

/* Some reach back further than those before them. */
static struct etwas_snapshot_window window_of(int64_t first, int number)
{
    const int64_t trigger = first + (int64_t)number * STEP;

    return (struct etwas_snapshot_window){
        .begin = trigger - (number % 3 == 0 ? 10 : 3) * STEP,
        .trigger = trigger,
    };
}

static bool is_covered(int64_t begin, int64_t moment)
{
    for (uint32_t index = 0; index < options_count; index++) {
        const struct etwas_snapshot_all_options *options = &all_options[index];

        if (options->moment >= moment && options->moment - (int64_t)options->before_ns <= begin) {
            return true;
        }
    }
    return false;
}

static void windows_that_come_faster_than_others_answer_are_joined_and_counted(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct etwas_held_session held;
    etwas_wchar name[64];
    int64_t first;

    (void)state;
    (void)sem_init(&has_begun, 0, 0);
    (void)sem_init(&may_end, 0, 0);
    options_count = 0;
    most_asking = 0;
    assert_int_equal(etwas_session_hold(session, &held), ERROR_SUCCESS);
    etwas_session_release(&held);
    assert_int_equal(held.session->configuration.clock, ETWAS_CLOCK_KIND_QPC);
    first = etwas_clock_now(ETWAS_CLOCK_KIND_QPC) - (int64_t)WINDOWS * STEP;
    for (int number = 0; number < WINDOWS; number++) {
        const struct etwas_snapshot_window window = window_of(first, number);

        etwas_propagate(held.session, wide_of(folder_path("w/f.etl"), name, 64), &window);
        if (number < ETWAS_PROPAGATE_THREADS) {
            (void)sem_wait(&has_begun);
        }
    }
    for (int number = 0; number < WINDOWS; number++) {
        (void)sem_post(&may_end);
    }
    while (passed_on(session) != WINDOWS) {
        (void)usleep(1000);
    }
    assert_int_equal(most_asking, ETWAS_PROPAGATE_THREADS);
    assert_int_equal(options_count, ETWAS_PROPAGATE_THREADS + 1);
    for (int number = 0; number < WINDOWS; number++) {
        const struct etwas_snapshot_window window = window_of(first, number);

        assert_true(is_covered(window.begin, window.trigger));
    }
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(windows_that_come_faster_than_others_answer_are_joined_and_counted),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
