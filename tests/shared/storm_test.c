/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A storm of guests: eight processes whose threads and handlers log into one session, and are
 * killed, stopped, moved between processors and born again at random; twice a second the session is
 * stopped while they write and some of them stand still. Then each event that was acknowledged is
 * in the file, whole, once and in order, and the accounts are exact, but for what each killed
 * thread was about to be told.
 *
 * 1,000 guests are killed, or so many as ETWAS_TEST_KILLS says; without it for a minute at most.
 */
#include <ck_pr.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flush/drain.h"
#include "platform/wait.h"
#include "shared/guests.h"

enum {
    KILLS = 1000,
    LIVING = GUESTS,
    STEPS_A_ROUND = 200,
    LONGEST_STEP_US = 2000,
    STOPPED_AT_THE_END = 3,
    MOST_WAITS = 2000,
};

#define STORM_NS (UINT64_C(60) * 1000000000)
#define ROUND_NS (UINT64_C(1) * 500000000)
#define TIMEOUT_NS (UINT64_C(1) * 100000000)

static const etwas_session_options kinds[] = {
    {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
     .buffer_size_kb = 32,
     .minimum_buffers = 32,
     .maximum_buffers = 256,
     .flush_timer = 5},
    /* Too few: much is lost. */
    {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
     .buffer_size_kb = 4,
     .minimum_buffers = 4,
     .maximum_buffers = 12,
     .flush_timer = 5},
    {.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 8, .minimum_buffers = 48},
};

struct living {
    int child;
    uint32_t life;
    uint32_t slot;
    bool is_stopped;
};

struct round {
    const etwas_session_options *options;
    struct hosted hosted;
    struct guest_board *board;
    struct living living[LIVING];
    uint32_t lives;
    uint32_t kills;
};

static void bear(struct round *round, struct living *living)
{
    *living = (struct living){.life = round->lives++, .slot = host_take_slot(&round->hosted)};
    living->child = guest_process(&round->hosted, round->board, living->life, living->slot);
}

/* In the midst of a burst, if it comes to one soon. */
static void end(const struct round *round, struct living *living)
{
    const uint32_t *inside = &round->board->lives[living->life].inside;
    int status;

    for (int wait = 0; wait < MOST_WAITS && ck_pr_load_32(inside) == 0; wait++) {
        (void)sched_yield();
    }
    assert_int_equal(kill(living->child, SIGKILL), 0);
    assert_int_equal(waitpid(living->child, &status, 0), living->child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fail_msg("a guest ended with status %#x", (unsigned)status);
    }
}

static void stop_or_continue(struct living *living)
{
    living->is_stopped = !living->is_stopped;
    assert_int_equal(kill(living->child, living->is_stopped ? SIGSTOP : SIGCONT), 0);
}

/* One of its threads goes to one processor, or may go anywhere. */
static void move(const struct round *round, const struct living *living)
{
    const struct guest_tally *tally =
        &round->board->lives[living->life].threads[rand() % GUEST_LOGGERS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;

    if (ck_pr_load_32(&tally->thread_id) == 0) {
        return; /* it has not begun */
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)(rand() % processors), &set);
    if (rand() % 4 == 0) {
        for (long processor = 0; processor < processors; processor++) {
            CPU_SET((size_t)processor, &set);
        }
    }
    (void)sched_setaffinity((pid_t)tally->thread_id, sizeof set, &set);
}

static bool is_recorder(const struct round *round)
{
    return round->options->log_file_mode == EVENT_TRACE_BUFFERING_MODE;
}

/*
 * Log files are flushed by the timer: a flush that is asked for waits for those that stand still.
 */
static void take_snapshot(const struct round *round)
{
    if (is_recorder(round)) {
        assert_int_equal(etwas_snapshot(round->hosted.session, folder_path("log.etl")),
                         ERROR_SUCCESS);
    }
}

static void step(struct round *round)
{
    struct living *living = &round->living[rand() % LIVING];

    switch (rand() % 10) {
    case 0:
    case 1:
        end(round, living);
        host_died(&round->hosted, living->slot);
        round->kills++;
        bear(round, living);
        break;
    case 2:
    case 3:
        stop_or_continue(living);
        break;
    case 4:
        take_snapshot(round);
        break;
    default:
        move(round, living);
        break;
    }
    (void)usleep((useconds_t)(rand() % LONGEST_STEP_US));
}

/* All are killed first. */
static void end_without_guests(struct round *round, etwas_session_counts *counts)
{
    for (uint32_t index = 0; index < LIVING; index++) {
        end(round, &round->living[index]);
        host_died(&round->hosted, round->living[index].slot);
    }
    round->kills += LIVING;
    host_expect_none_leaked(&round->hosted);
    host_stop(&round->hosted, counts);
}

/* Guests that are not stopped write on until they are told that the session has ended. */
static void end_under_guests(struct round *round, etwas_session_counts *counts)
{
    for (uint32_t index = 0; index < STOPPED_AT_THE_END; index++) {
        if (!round->living[index].is_stopped) {
            stop_or_continue(&round->living[index]);
        }
    }
    etwas_drain_timeout_ns = TIMEOUT_NS; /* for those that are stopped in the midst of a record */
    host_stop(&round->hosted, counts);
    etwas_drain_timeout_ns = GUEST_TIMEOUT_NS;
    for (uint32_t index = 0; index < LIVING; index++) {
        end(round, &round->living[index]);
    }
}

static void expect_exact(const struct round *round, const etwas_session_counts *counts)
{
    struct guest_sum sum = guest_sum(round->board, round->lives);
    struct events snapshot;

    assert_int_equal(counts->quarantined_slots, 0);
    assert_int_equal(counts->damaged_buffers, 0);
    assert_in_range(counts->recorded + counts->overwritten + counts->lost,
                    sum.attempted - sum.threads, sum.attempted);
    assert_in_range(counts->recorded + counts->overwritten + counts->lost_abandoned, sum.recorded,
                    sum.recorded + sum.threads + counts->lost_abandoned);
    if (is_recorder(round)) {
        read_events(folder_path("log.etl"), 0, &snapshot);
        free_events(&snapshot);
        return;
    }
    assert_int_equal(guest_expect_file(folder_path("log.etl"), round->board, round->lives, true,
                                       counts->lost_abandoned),
                     counts->recorded);
}

/* Returns how many were killed. */
static uint32_t storm_once(struct guest_board *board, const etwas_session_options *options)
{
    const uint64_t end_ns = etwas_monotonic_ns() + ROUND_NS;
    struct round round = {.options = options, .board = board};
    etwas_session_counts counts;

    memset(board, 0, sizeof *board);
    board->has_payload = 1;
    board->has_handler = 1;
    board->dawdles = 1;
    host_start(&round.hosted, "storm", is_recorder(&round) ? NULL : folder_path("log.etl"),
               options);
    for (uint32_t index = 0; index < LIVING; index++) {
        bear(&round, &round.living[index]);
    }
    for (uint32_t steps = 0; steps < STEPS_A_ROUND && etwas_monotonic_ns() < end_ns; steps++) {
        step(&round);
    }
    take_snapshot(&round);
    if (rand() % 2 == 0) {
        end_without_guests(&round, &counts);
    } else {
        end_under_guests(&round, &counts);
    }
    expect_exact(&round, &counts);
    assert_int_equal(unlink(folder_path("log.etl")), 0);
    return round.kills;
}

static void whatever_becomes_of_guests_the_account_is_exact(void **state)
{
    const char *asked = getenv("ETWAS_TEST_KILLS");
    const long wanted = asked != NULL ? strtol(asked, NULL, 10) : KILLS;
    const uint64_t end_ns = asked != NULL ? UINT64_MAX : etwas_monotonic_ns() + STORM_NS;
    struct guest_board *board = guest_board_new();
    uint32_t rounds = 0;

    (void)state;
    host_or_skip();
    srand((unsigned)getpid());
    for (long kills = 0; kills < wanted && etwas_monotonic_ns() < end_ns; rounds++) {
        kills += storm_once(board, &kinds[rounds % (sizeof kinds / sizeof kinds[0])]);
    }
    guest_board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(whatever_becomes_of_guests_the_account_is_exact),
    };

    return cmocka_run_group_tests_name("a storm of guests", tests, hosts_setup, hosts_teardown);
}
