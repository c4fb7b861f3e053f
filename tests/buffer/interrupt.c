/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/interrupt.h"

#include <ck_pr.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "buffer/owner.h"
#include "buffer/pool.h"
#include "platform/processor.h"
#include "platform/rseq.h"
#include "support/inside.h"
#include "support/readback.h"

static _Thread_local struct interruptions *volatile mine;
static uint64_t aborted;

uint32_t sequence_first_point(enum sequence_step step)
{
    (void)step;
    return 0;
}

uint32_t sequence_last_point(enum sequence_step step)
{
    return step == STEP_PUBLISH || step == STEP_QUICK ? 5 : 4;
}

bool sequence_happens(enum sequence_step step, bool buffering)
{
    switch (step) {
    case STEP_CLOSE:
        return buffering;
    case STEP_GROW:
    case STEP_LOST:
        return !buffering;
    default:
        return step != STEP_QUICK || ETWAS_RSEQ;
    }
}

const char *sequence_step_name(enum sequence_step step)
{
    static const char *const names[STEPS] = {"PUBLISH", "QUICK", "CLAIM", "ADOPT",
                                             "CLOSE",   "GROW",  "LOST"};

    return names[step];
}

void choose_tests(int argument_count, char **arguments)
{
    if (argument_count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
}

void skip_without_sequences(void)
{
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
}

/* ---- the trap -------------------------------------------------------------------------------- */

enum {
    WRITER_PERIOD = 12, /* the kinds of support/writer.h come by turns of 2, 3 and 4 */
    NOT_NOW = UINT16_MAX
};

/* The point at which to interrupt the step that is about to run. */
static uint32_t next_point(struct interruptions *plan)
{
    uint32_t first = sequence_first_point(plan->step);
    uint32_t points = sequence_last_point(plan->step) - first + 1;
    /* A quick sequence that is aborted is not tried again: the event goes the general way. */
    bool always = plan->always || plan->step == STEP_QUICK;
    uint32_t turn = always ? plan->seen : plan->seen / 2;
    bool now = (always || plan->seen % 2 == 0) && plan->seen >= 2 * plan->skip;

    if (plan->step == STEP_QUICK) {
        turn /= WRITER_PERIOD; /* each point in all kinds of a writer's events */
    }
    plan->seen++;
    if (!now || (plan->most != 0 && plan->total >= plan->most)) {
        return NOT_NOW;
    }
    return plan->point != TAKE_TURNS ? plan->point : first + turn % points;
}

static void fire(struct interruptions *plan, uint32_t point)
{
    plan->fired[point]++;
    plan->total++;
    if (plan->act != NULL) {
        mine = NULL;
        plan->act(plan->context);
        mine = plan;
    }
}

/*
 * A trap outside a sequence, which did not lead to an abort point, shall not come again: on aarch64
 * the thread still stands before it.
 */
static void pass_trap(ucontext_t *context)
{
#if defined(__aarch64__)
    const uint32_t trap = 0xd4200020; /* brk 1 */
    uint32_t next;

    memcpy(&next, (const void *)(uintptr_t)context->uc_mcontext.pc, sizeof next);
    if (next == trap) {
        context->uc_mcontext.pc += sizeof trap;
    }
#else
    (void)context;
#endif
}

static void on_trap(int number, siginfo_t *information, void *context)
{
    struct interruptions *plan = mine;
    int before = errno;
    uint32_t point;

    (void)number;
    (void)information;
    pass_trap(context);
    ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
    if (plan == NULL || plan->armed == 0) {
        return; /* set for another thread, which misses it now */
    }
    point = plan->armed - 1;
    plan->armed = 0;
    fire(plan, point);
    errno = before;
}

void interruptions_prepare(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_trap;
    /* The handler may log, and come to a point that another thread has set. */
    action.sa_flags = SA_NODEFER | SA_RESTART | SA_SIGINFO;
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
}

void interruptions_begin(struct interruptions *interruptions)
{
    interruptions->pool = inside_of(interruptions->session)->buffers.pool;
    memset(interruptions->fired, 0, sizeof interruptions->fired);
    interruptions->total = 0;
    interruptions->seen = 0;
    interruptions->armed = 0;
    etwas_quick_is_off = interruptions->step == STEP_PUBLISH;
    mine = interruptions;
}

void interruptions_end(void)
{
    mine = NULL;
    etwas_quick_is_off = false;
    ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
}

void interruptions_arm_quick(void)
{
    struct interruptions *plan = mine;

    if (plan != NULL && plan->step == STEP_QUICK) {
        uint32_t point = next_point(plan);

        plan->armed = point != NOT_NOW ? point + 1 : 0;
        ck_pr_store_32(&etwas_rseq_trap,
                       point != NOT_NOW ? FIRST_QUICK_POINT - 1 + point : ETWAS_RSEQ_TRAP_NONE);
    }
}

/* ---- the wrapped sequence -------------------------------------------------------------------- */

#if ETWAS_RSEQ

enum etwas_rseq_result __real_etwas_rseq_run(const struct etwas_rseq_sequence *sequence);
enum etwas_rseq_result __wrap_etwas_rseq_run(const struct etwas_rseq_sequence *sequence);

static bool lies_in(const void *address, const void *start, uint64_t bytes)
{
    return (uintptr_t)address >= (uintptr_t)start && (uintptr_t)address < (uintptr_t)start + bytes;
}

/* What the sequence commits says which step it is. */
static enum sequence_step step_of(const struct etwas_pool *pool,
                                  const struct etwas_rseq_sequence *sequence)
{
    if (lies_in(sequence->target, pool->owners, pool->layout.capacity * sizeof *pool->owners)) {
        return etwas_owner_state(sequence->value) == ETWAS_OWNER_CLOSED ? STEP_CLOSE : STEP_CLAIM;
    }
    if (lies_in(sequence->target, pool->slots, (etwas_slot_count + 1) * sizeof *pool->slots) &&
        ((uintptr_t)sequence->target - (uintptr_t)pool->slots) % sizeof *pool->slots >=
            offsetof(struct etwas_slot, counters)) {
        return STEP_LOST;
    }
    if (sequence->target == &pool->words->allocated) {
        return STEP_GROW;
    }
    return etwas_word_count(sequence->value) == 0 ? STEP_ADOPT : STEP_PUBLISH;
}

enum etwas_rseq_result __wrap_etwas_rseq_run(const struct etwas_rseq_sequence *sequence)
{
    struct interruptions *plan = mine;
    enum etwas_rseq_result result;
    uint32_t point = NOT_NOW;

    if (plan != NULL && plan->step != STEP_QUICK && step_of(plan->pool, sequence) == plan->step) {
        point = next_point(plan);
    }
    if (point == 0) {
        fire(plan, 0);
    }
    if (point == NOT_NOW || point == 0) {
        result = __real_etwas_rseq_run(sequence);
    } else {
        plan->armed = point + 1;
        ck_pr_store_32(&etwas_rseq_trap, point);
        result = __real_etwas_rseq_run(sequence);
        ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
        plan->armed = 0;
    }
    if (result == ETWAS_RSEQ_ABORTED) {
        ck_pr_inc_64(&aborted);
    }
    return result;
}

#endif

uint64_t sequences_aborted(void)
{
    uint64_t count = ck_pr_load_64(&aborted);

    ck_pr_sub_64(&aborted, count);
    return count;
}

/* ---- reading back ---------------------------------------------------------------------------- */

static void expect_right(const struct readback *result)
{
    if (result->wrong != 0) {
        fail_msg("%llu events are wrong; first: %s", (unsigned long long)result->wrong,
                 result->first_wrong);
    }
    assert_int_equal(result->unexpected, 0);
}

void expect_file_reads_back(etwas_trace_handle session, const char *path,
                            const etwas_session_counts *counts)
{
    struct readback result;

    expect_exact_account(session, counts);
    read_back(session, path, &result);
    expect_right(&result);
    assert_int_equal(result.missing, 0);
    assert_int_equal(result.damages, 0);
    assert_false(result.unfinished);
    assert_int_equal(result.events, counts->recorded);
    assert_int_equal(result.events_lost, counts->lost);
}

void expect_recorder_is_exact(etwas_trace_handle session, const char *path)
{
    etwas_session_counts counts = counts_of(session);
    struct readback result;

    expect_exact_account(session, &counts);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    walk_back(session, path, true, &result);
    expect_right(&result);
    assert_int_equal(result.events, counts.recorded);
    assert_int_equal(result.missing, counts.overwritten);
}

/* ---- places ---------------------------------------------------------------------------------- */

static etwas_trace_handle fillers[ETWAS_SESSIONS];
static uint32_t filler_count;

void entries_fill(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4,
                                           .flusher.no_thread = true};

    for (filler_count = 0; filler_count < ETWAS_SESSIONS - 1; filler_count++) {
        fillers[filler_count] = start_session(NULL, &options);
    }
}

void entries_empty(void)
{
    while (filler_count != 0) {
        stop_session(fillers[--filler_count], NULL);
    }
}
