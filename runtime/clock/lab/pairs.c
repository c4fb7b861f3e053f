/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Two threads, each on its own processor, exchange stamps of one clock through shared memory. So
 * etwas_lab_pairs compares each processor with every other one.
 *
 * Every second round is fenced: the far stamp is certainly taken between the near ones, and the
 * bounds of the offset hold (bounds.h). The others read the clock as a session does, without a
 * fence of their own, and count handovers (bounds.h). So a counter that is read early shows there,
 * and disturbs no bound.
 *
 *     thread                  may
 *     near (the caller)       store `to_far`, load `to_near`; makes one request at a time
 *     far (a thread)          store `to_near`, load `to_far`; answers the last request
 *
 * Ordering
 *     PUT   stamp, fence_store, turn: a thread that sees a turn sees its stamp. The stamp is the
 *           value that was read, so the clock has been read before the turn can be seen.
 *     TAKE  turn, fence_load, stamp: the other side of PUT, both ways.
 *     ASK   turn seen, etwas_lab_fence, clock: in fenced rounds the clock is not read ahead of the
 *           turn that it waits for. PUT and ASK put `sent` before `answered` before `received`.
 *
 * Progress. Neither side blocks the other: it spins briefly, then yields the processor, then
 * sleeps. Near abandons a request after a while; a late answer has an old turn and is ignored. Far
 * waits until it is requested to stop.
 *
 * Pairs are left out if a thread cannot be pinned to a processor, or the processor was removed
 * meanwhile. They are also left out if a thread was preempted for so long that one kind of round
 * was never completed.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdlib.h>
#include <time.h>

#include "clock/lab/bounds.h"
#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"

enum {
    /* Two lines, because processors also fetch the neighbour of a line that they miss. */
    APART_BYTES = 128,
    QUICK_SPINS = 256,  /* an answer takes about this long */
    SPINS = 1024,       /* after these the other thread does not run: yield */
    YIELDS = 4096,      /* after these yielding does not help: sleep */
    ROUNDS_AT_ONCE = 64 /* between checks of the time */
};

static const uint64_t pair_timeout_ns = 200000000;
static const uint64_t total_timeout_ns =
    1000000000; /* for all pairs, in addition to four times their budget */
static const struct timespec nap = {.tv_nsec = 50000};

/* What near requests: the low bits of a turn. The rest is a unique number. */
enum {
    ASK_FENCED, /* read the clock, not before this request */
    ASK_PLAIN,  /* read the clock */
    ASK_PIN,    /* move to the processor in `stamp`; the answer is 1 on success */
    ASK_WHERE,  /* answer with the processor that runs the thread */
    ASK_STOP,   /* return; no answer */
    ASK_BITS = 3,
    ASK_MASK = (1 << ASK_BITS) - 1
};

struct mailbox {
    alignas(APART_BYTES) uint64_t turn;
    uint64_t stamp;
};

struct table {
    struct mailbox to_far;
    struct mailbox to_near;
    alignas(APART_BYTES) int64_t (*read)(void);
    /*
     * Only near uses the members from here on: far would have to wait for a line that near writes.
     */
    alignas(APART_BYTES) uint64_t number; /* of the last turn requested */
    double tick_ns;
    double quantum; /* by how many ticks the clock moves at once */
};

/* ---- mailboxes ------------------------------------------------------------------------------- */

static inline void mailbox_put(struct mailbox *mailbox, uint64_t turn, int64_t stamp)
{
    ck_pr_store_64(&mailbox->stamp, (uint64_t)stamp);
    ck_pr_fence_store(); /* PUT */
    ck_pr_store_64(&mailbox->turn, turn);
}

/* Reads the stamp of a turn that was seen. */
static inline int64_t mailbox_take(const struct mailbox *mailbox)
{
    ck_pr_fence_load(); /* TAKE */
    return (int64_t)ck_pr_load_64(&mailbox->stamp);
}

/* Waits one step for the other thread: the longer it has waited, the longer the step. */
static void pairs_pause(uint32_t step)
{
    if (step < SPINS) {
        ck_pr_stall();
    } else if (step < SPINS + YIELDS) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&nap, NULL);
    }
}

/* Waits for the first turn that is not `turn`, and returns it. */
static uint64_t mailbox_await_other_turn(const struct mailbox *mailbox, uint64_t turn)
{
    uint64_t seen;

    for (uint32_t spin = 0; spin < QUICK_SPINS; spin++) {
        seen = ck_pr_load_64(&mailbox->turn);
        if (seen != turn) {
            return seen;
        }
    }
    for (uint32_t step = 0; (seen = ck_pr_load_64(&mailbox->turn)) == turn;) {
        pairs_pause(step);
        step += step < SPINS + YIELDS;
    }
    return seen;
}

/* Waits for `turn`. Returns false if it did not come by `end_ns`. */
static bool mailbox_await_turn(const struct mailbox *mailbox, uint64_t turn, uint64_t end_ns)
{
    for (uint32_t spin = 0; spin < QUICK_SPINS; spin++) {
        if (ck_pr_load_64(&mailbox->turn) == turn) {
            return true;
        }
    }
    for (uint32_t step = 0; ck_pr_load_64(&mailbox->turn) != turn;) {
        pairs_pause(step);
        if (step >= SPINS && etwas_lab_now_ns() >= end_ns) {
            return ck_pr_load_64(&mailbox->turn) == turn;
        }
        step += step < SPINS + YIELDS;
    }
    return true;
}

/* ---- far ------------------------------------------------------------------------------------- */

static void *pairs_answer_thread(void *argument)
{
    struct table *table = argument;
    uint64_t turn = 0;

    for (;;) {
        int64_t stamp = 0;

        turn = mailbox_await_other_turn(&table->to_far, turn);
        switch (turn & ASK_MASK) {
        case ASK_FENCED:
            etwas_lab_fence(); /* ASK */
            stamp = table->read();
            break;
        case ASK_PLAIN:
            stamp = table->read();
            break;
        case ASK_PIN:
            stamp = etwas_lab_pin((uint32_t)mailbox_take(&table->to_far));
            break;
        case ASK_WHERE:
            stamp = sched_getcpu();
            break;
        default:
            return NULL;
        }
        mailbox_put(&table->to_near, turn, stamp);
    }
}

/* ---- near ------------------------------------------------------------------------------------ */

static inline uint64_t pairs_next_turn(struct table *table, uint64_t ask)
{
    return (++table->number << ASK_BITS) | ask;
}

static bool pairs_ask(struct table *table, uint64_t ask, int64_t value, uint64_t end_ns,
                      int64_t *result)
{
    uint64_t turn = pairs_next_turn(table, ask);

    mailbox_put(&table->to_far, turn, value);
    if (!mailbox_await_turn(&table->to_near, turn, end_ns)) {
        return false;
    }
    *result = mailbox_take(&table->to_near);
    return true;
}

static bool pairs_play_fenced(struct table *table, uint64_t end_ns, struct etwas_lab_bounds *bounds)
{
    uint64_t turn = pairs_next_turn(table, ASK_FENCED);
    struct etwas_lab_round round;

    etwas_lab_fence(); /* only to make the round trip shorter */
    round.sent = table->read();
    mailbox_put(&table->to_far, turn, round.sent);
    if (!mailbox_await_turn(&table->to_near, turn, end_ns)) {
        return false;
    }
    etwas_lab_fence(); /* ASK */
    round.received = table->read();
    round.answered = mailbox_take(&table->to_near);
    etwas_lab_bounds_add(bounds, &round);
    return true;
}

static bool pairs_play_plain(struct table *table, uint64_t end_ns,
                             struct etwas_lab_handovers *handovers)
{
    uint64_t turn = pairs_next_turn(table, ASK_PLAIN);
    struct etwas_lab_round round;

    round.sent = table->read();
    mailbox_put(&table->to_far, turn, round.sent);
    if (!mailbox_await_turn(&table->to_near, turn, end_ns)) {
        return false;
    }
    round.received = table->read();
    round.answered = mailbox_take(&table->to_near);
    etwas_lab_handover_add(handovers, round.sent, round.answered);
    etwas_lab_handover_add(handovers, round.answered, round.received);
    return true;
}

/* Makes at least one pass of rounds, however short the budget. */
static void pairs_play(struct table *table, uint64_t budget_ns, uint64_t end_ns,
                       struct etwas_lab_bounds *bounds, struct etwas_lab_handovers *handovers)
{
    uint64_t begin_ns = etwas_lab_now_ns();

    do {
        for (int round = 0; round < ROUNDS_AT_ONCE; round += 2) {
            if (!pairs_play_fenced(table, end_ns, bounds) ||
                !pairs_play_plain(table, end_ns, handovers)) {
                return;
            }
        }
    } while (etwas_lab_now_ns() < begin_ns + budget_ns);
}

/* Compares a pair. Near runs on its processor already. Returns false if the pair is left out. */
static bool pairs_compare_one(struct table *table, uint64_t budget_ns, uint64_t last_ns,
                              etwas_clock_offset *offset)
{
    uint64_t end_ns = etwas_lab_now_ns() + budget_ns + pair_timeout_ns;
    struct etwas_lab_bounds bounds = {0};
    struct etwas_lab_handovers handovers = {0};
    int64_t far;

    end_ns = end_ns < last_ns ? end_ns : last_ns;
    if (!pairs_ask(table, ASK_PIN, offset->other, end_ns, &far) || far != 1) {
        return false;
    }
    pairs_play(table, budget_ns, end_ns, &bounds, &handovers);
    /* The threads of a processor that is switched off are moved elsewhere. */
    if (bounds.rounds == 0 || handovers.count == 0 ||
        !pairs_ask(table, ASK_WHERE, 0, etwas_lab_now_ns() + pair_timeout_ns, &far) ||
        far != offset->other || (uint32_t)sched_getcpu() != offset->processor) {
        return false;
    }
    etwas_lab_bounds_report(&bounds, table->tick_ns, table->quantum, offset);
    etwas_lab_handover_report(&handovers, table->tick_ns, offset);
    return true;
}

static void pairs_compare_all(struct table *table, const struct etwas_lab_cpus *cpus,
                              uint64_t budget_ns, etwas_clock_source_report *report)
{
    uint64_t share_ns = budget_ns / etwas_lab_pair_count(cpus->count);
    uint64_t last_ns = etwas_lab_now_ns() + 4 * budget_ns + total_timeout_ns;

    for (uint32_t near = 0; near + 1 < cpus->count; near++) {
        if (!etwas_lab_pin(cpus->numbers[near])) {
            continue;
        }
        for (uint32_t far = near + 1; far < cpus->count && etwas_lab_now_ns() < last_ns; far++) {
            etwas_clock_offset *offset = &report->offsets[report->offset_count];

            *offset =
                (etwas_clock_offset){.processor = cpus->numbers[near], .other = cpus->numbers[far]};
            report->offset_count += pairs_compare_one(table, share_ns, last_ns, offset);
        }
    }
}

/*
 * Returns by how many ticks the clock moves at once. A clock that is derived from the counter moves
 * no more often than the counter, however fine its ticks are.
 */
static double pairs_step_ticks(const struct etwas_lab_source *clock)
{
    double own = etwas_lab_quantum(clock->read);
    double beneath = etwas_lab_counter_step_ns() / clock->tick_ns;

    return own > beneath ? own : beneath;
}

static uint32_t pairs_compare_with_thread(const struct etwas_lab_source *clock,
                                          const struct etwas_lab_cpus *cpus, uint64_t budget_ns,
                                          etwas_clock_source_report *report)
{
    struct table table = {
        .read = clock->read,
        .tick_ns = clock->tick_ns,
        .quantum = pairs_step_ticks(clock),
    };
    pthread_t far;

    if (pthread_create(&far, NULL, pairs_answer_thread, &table) != 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    pairs_compare_all(&table, cpus, budget_ns, report);
    mailbox_put(&table.to_far, pairs_next_turn(&table, ASK_STOP), 0);
    (void)pthread_join(far, NULL);
    return ERROR_SUCCESS;
}

uint32_t etwas_lab_pairs(uint32_t source, const struct etwas_lab_cpus *cpus, uint64_t budget_ns,
                         etwas_clock_source_report *report)
{
    const struct etwas_lab_source *clock = etwas_lab_source(source);
    uint64_t pairs = etwas_lab_pair_count(cpus->count);
    struct etwas_lab_cpus before;
    uint32_t code;

    report->offset_count = 0;
    report->offsets_left_out = 0;
    report->offsets = NULL;
    if (pairs == 0 || !clock->available || clock->follows_thread) {
        return ERROR_SUCCESS;
    }
    code = etwas_lab_cpus_read(&before);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    report->offsets = calloc(pairs, sizeof *report->offsets);
    if (report->offsets == NULL) {
        etwas_lab_cpus_free(&before);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = pairs_compare_with_thread(clock, cpus, budget_ns, report);
    report->offsets_left_out = (uint32_t)(pairs - report->offset_count);
    (void)etwas_lab_unpin(&before);
    etwas_lab_cpus_free(&before);
    return code;
}
