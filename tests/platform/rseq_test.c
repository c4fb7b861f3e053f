/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The general restartable sequence: every way it can end, and what it copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "platform/sequence.h"
#include "support/alarm.h"

enum {
    KINDS = 2, /* commit by a store, by an exchange */
    OLD = 1000,
    NEW = 2000
};

static enum etwas_rseq_result run_uninterrupted(const struct etwas_rseq_sequence *sequence)
{
    enum etwas_rseq_result result = run(sequence);

    while (result == ETWAS_RSEQ_ABORTED) {
        result = run(sequence);
    }
    return result;
}

static void skip_without_sequences(void)
{
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
}

/* Each test stays on one processor. */
static cpu_set_t everywhere;
static uint32_t here;

static int stay(void **state)
{
    cpu_set_t one;

    (void)state;
    if (sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) {
        return -1;
    }
    here = etwas_processor_query();
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static int move_freely(void **state)
{
    (void)state;
    etwas_rseq_trap = ETWAS_RSEQ_TRAP_NONE;
    return sched_setaffinity(0, sizeof everywhere, &everywhere);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

enum {
    CHECKS = 3,
    COPIES = 3,
    COPY_BYTES = 300
};

/* A sequence with some of everything, on words and memory of its own. */
struct example {
    struct etwas_rseq_sequence sequence;
    struct etwas_rseq_check checks[CHECKS];
    struct etwas_rseq_copy copies[COPIES];
    uint64_t words[CHECKS];
    uint64_t target;
    uint8_t from[COPY_BYTES];
    uint8_t to[COPIES][COPY_BYTES];
};

static void example_prepare(struct example *example, uint32_t kind)
{
    memset(example, 0, sizeof *example);
    for (uint32_t index = 0; index < CHECKS; index++) {
        example->words[index] = UINT64_C(0x0123456789abcdef) * (index + 1);
        example->checks[index].word = &example->words[index];
        example->checks[index].expected = example->words[index];
    }
    for (uint32_t index = 0; index < COPY_BYTES; index++) {
        example->from[index] = (uint8_t)(index * 7 + 1) | 1; /* never 0 */
    }
    for (uint32_t index = 0; index < COPIES; index++) {
        example->copies[index].to = example->to[index];
        example->copies[index].from = example->from;
        example->copies[index].bytes = COPY_BYTES - index * 100;
    }
    example->target = OLD;
    example->sequence.checks = example->checks;
    example->sequence.check_count = CHECKS;
    example->sequence.copies = example->copies;
    example->sequence.copy_count = COPIES;
    example->sequence.target = &example->target;
    /* A store does not look at what it replaces. */
    example->sequence.expected = kind == 1 ? OLD : 5;
    example->sequence.value = NEW;
    example->sequence.processor = here;
    example->sequence.exchange = kind;
}

static void expect_copied(const struct example *example)
{
    static const uint8_t zeros[COPY_BYTES];

    for (uint32_t index = 0; index < COPIES; index++) {
        uint64_t bytes = example->copies[index].bytes;

        assert_memory_equal(example->to[index], example->from, bytes);
        assert_memory_equal(example->to[index] + bytes, zeros, COPY_BYTES - bytes);
    }
}

static void expect_untouched(const struct example *example)
{
    static const uint8_t zeros[COPY_BYTES];

    for (uint32_t index = 0; index < COPIES; index++) {
        assert_memory_equal(example->to[index], zeros, COPY_BYTES);
    }
    assert_int_equal(example->target, OLD);
}

static void a_sequence_commits_with_any_number_of_checks_and_copies(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    for (uint32_t turn = 0; turn < KINDS * (CHECKS + 1) * (COPIES + 1); turn++) {
        example_prepare(&example, turn % KINDS);
        example.sequence.check_count = turn / KINDS % (CHECKS + 1);
        example.sequence.copy_count = turn / KINDS / (CHECKS + 1);
        for (uint64_t index = example.sequence.copy_count; index < COPIES; index++) {
            example.copies[index].bytes = 0;
        }
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_COMMITTED);
        assert_int_equal(example.target, NEW);
        expect_copied(&example);
    }
}

static void on_another_processor_nothing_happens(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        example_prepare(&example, kind);
        example.sequence.processor = here + 1;
        /* The processor is asked first. */
        example.words[0]++;
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_MOVED);
        expect_untouched(&example);
    }
}

/* Also where the difference is a single bit in either half of the word. */
static void a_check_that_fails_ends_the_sequence_before_its_copies(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    for (uint32_t turn = 0; turn < KINDS * CHECKS * 64; turn++) {
        example_prepare(&example, turn % KINDS);
        example.words[turn / KINDS % CHECKS] ^= UINT64_C(1) << turn / KINDS / CHECKS;
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_CHANGED);
        expect_untouched(&example);
    }
}

static void an_exchange_that_finds_another_value_leaves_it(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    for (uint32_t bit = 0; bit < 64; bit++) {
        example_prepare(&example, 1);
        example.sequence.expected = OLD ^ UINT64_C(1) << bit;
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_CHANGED);
        assert_int_equal(example.target, OLD);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum {
    EVERY_SIZE = 300,
    LARGEST = 1 << 20,
    MARGIN = 64
};

static void expect_copy(uint8_t *to, const uint8_t *from, size_t bytes, uint32_t kind)
{
    struct etwas_rseq_copy copy = {.to = to + MARGIN, .from = from, .bytes = bytes};
    uint64_t target = OLD;
    struct etwas_rseq_sequence sequence = {.copies = &copy,
                                           .copy_count = 1,
                                           .target = &target,
                                           .expected = OLD,
                                           .value = NEW,
                                           .processor = here,
                                           .exchange = kind};

    memset(to, 0xee, bytes + (size_t)2 * MARGIN);
    assert_int_equal(run_uninterrupted(&sequence), ETWAS_RSEQ_COMMITTED);
    assert_memory_equal(to + MARGIN, from, bytes);
    for (size_t index = 0; index < MARGIN; index++) {
        assert_int_equal(to[index], 0xee);
        assert_int_equal(to[MARGIN + bytes + index], 0xee);
    }
}

static void copies_of_any_size_and_place_arrive_whole_and_touch_nothing_else(void **state)
{
    static const size_t large[] = {511,  512,   513,   1000,  4095,   4096,
                                   4097, 65535, 65536, 65537, LARGEST};
    uint8_t *from;
    uint8_t *to;

    (void)state;
    skip_without_sequences();
    from = malloc(LARGEST + MARGIN);
    to = malloc(LARGEST + 4 * MARGIN);
    assert_non_null(from);
    assert_non_null(to);
    for (size_t index = 0; index < LARGEST + MARGIN; index++) {
        from[index] = (uint8_t)(index * 31 + (index >> 8));
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        for (size_t bytes = 0; bytes <= EVERY_SIZE; bytes++) {
            for (size_t place = 0; place < 64; place++) {
                expect_copy(to + place, from + (place * 5 + bytes) % 16, bytes, kind);
            }
        }
        for (size_t index = 0; index < sizeof large / sizeof large[0]; index++) {
            expect_copy(to + index * 13 % 64, from + index * 3 % 16, large[index], kind);
        }
    }
    free(from);
    free(to);
}

static void copies_are_made_in_their_order(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        example_prepare(&example, kind);
        for (uint32_t index = 0; index < COPIES; index++) {
            example.copies[index].bytes = COPY_BYTES;
            example.copies[index].from = index == 0 ? example.from : example.to[index - 1];
        }
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_COMMITTED);
        expect_copied(&example);
    }
}

/* ---- a signal at a known point --------------------------------------------------------------- */

static uint32_t trapped;
static const struct etwas_rseq_sequence *nested;
static enum etwas_rseq_result nested_result;

static void on_trap(int number)
{
    (void)number;
    ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
    trapped++;
    if (trapped > 100) {
        abort(); /* a brk that does not abort its sequence comes again for ever */
    }
    if (nested != NULL) {
        nested_result = run_uninterrupted(nested);
    }
}

static enum etwas_rseq_result run_trapped(const struct etwas_rseq_sequence *sequence,
                                          uint32_t point)
{
    enum etwas_rseq_result result;

    ck_pr_store_32(&etwas_rseq_trap, point);
    result = run(sequence);
    /* Something else may have been faster than the trap. */
    while (result == ETWAS_RSEQ_ABORTED && trapped == 0) {
        result = run(sequence);
    }
    ck_pr_store_32(&etwas_rseq_trap, ETWAS_RSEQ_TRAP_NONE);
    return result;
}

/* What was done when the signal came, by the specification's steps. */
static void expect_interrupted(const struct example *example, uint32_t point)
{
    assert_int_equal(example->target, OLD);
    switch (point) {
    case ETWAS_RSEQ_TRAP_COPIED:
        expect_copied(example);
        break;
    case ETWAS_RSEQ_TRAP_MIDDLE:
        assert_int_equal(example->to[0][0], example->from[0]);
        assert_int_equal(example->to[0][COPY_BYTES - 1], 0);
        assert_int_equal(example->to[1][0], 0);
        break;
    default:
        expect_untouched(example);
    }
}

static void a_signal_at_any_point_aborts_the_sequence_and_the_next_try_commits(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    handle_signal(SIGTRAP, on_trap);
    for (uint32_t turn = 0; turn < KINDS * ETWAS_RSEQ_TRAP_MIDDLE; turn++) {
        uint32_t point = ETWAS_RSEQ_TRAP_ARMED + turn / KINDS;

        example_prepare(&example, turn % KINDS);
        trapped = 0;
        assert_int_equal(run_trapped(&example.sequence, point), ETWAS_RSEQ_ABORTED);
        assert_int_equal(trapped, 1);
        expect_interrupted(&example, point);
        assert_int_equal(run_uninterrupted(&example.sequence), ETWAS_RSEQ_COMMITTED);
        assert_int_equal(example.target, NEW);
        expect_copied(&example);
    }
}

/* The points stand where the specification says: what ends before one does not come to it. */
static void a_sequence_that_ends_before_a_point_is_not_interrupted_there(void **state)
{
    struct example example;

    (void)state;
    skip_without_sequences();
    handle_signal(SIGTRAP, on_trap);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        trapped = 0;
        example_prepare(&example, kind);
        example.sequence.processor = here + 1;
        assert_int_equal(run_trapped(&example.sequence, ETWAS_RSEQ_TRAP_ON), ETWAS_RSEQ_MOVED);
        example_prepare(&example, kind);
        example.words[CHECKS - 1]++;
        assert_int_equal(run_trapped(&example.sequence, ETWAS_RSEQ_TRAP_CHECKED),
                         ETWAS_RSEQ_CHANGED);
        expect_untouched(&example);
        assert_int_equal(trapped, 0);
        /* And the wrong processor is not noticed before the first. */
        example_prepare(&example, kind);
        example.sequence.processor = here + 1;
        assert_int_equal(run_trapped(&example.sequence, ETWAS_RSEQ_TRAP_ARMED), ETWAS_RSEQ_ABORTED);
        assert_int_equal(trapped, 1);
    }
}

/* The nested one leaves its own descriptor behind: the kernel has already taken the outer one's. */
static void a_handler_runs_a_sequence_inside_a_sequence(void **state)
{
    struct example outer;
    struct example inner;

    (void)state;
    skip_without_sequences();
    handle_signal(SIGTRAP, on_trap);
    for (uint32_t turn = 0; turn < KINDS * KINDS * ETWAS_RSEQ_TRAP_MIDDLE; turn++) {
        uint32_t point = ETWAS_RSEQ_TRAP_ARMED + turn / KINDS / KINDS;

        example_prepare(&outer, turn % KINDS);
        example_prepare(&inner, turn / KINDS % KINDS);
        trapped = 0;
        nested = &inner.sequence;
        assert_int_equal(run_trapped(&outer.sequence, point), ETWAS_RSEQ_ABORTED);
        nested = NULL;
        assert_int_equal(trapped, 1);
        assert_int_equal(nested_result, ETWAS_RSEQ_COMMITTED);
        assert_int_equal(inner.target, NEW);
        expect_copied(&inner);
        expect_interrupted(&outer, point);
    }
}

#define SEQUENCE_TEST(test) cmocka_unit_test_setup_teardown(test, stay, move_freely)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEQUENCE_TEST(a_sequence_commits_with_any_number_of_checks_and_copies),
        SEQUENCE_TEST(on_another_processor_nothing_happens),
        SEQUENCE_TEST(a_check_that_fails_ends_the_sequence_before_its_copies),
        SEQUENCE_TEST(an_exchange_that_finds_another_value_leaves_it),
        SEQUENCE_TEST(copies_of_any_size_and_place_arrive_whole_and_touch_nothing_else),
        SEQUENCE_TEST(copies_are_made_in_their_order),
        SEQUENCE_TEST(a_signal_at_any_point_aborts_the_sequence_and_the_next_try_commits),
        SEQUENCE_TEST(a_sequence_that_ends_before_a_point_is_not_interrupted_there),
        SEQUENCE_TEST(a_handler_runs_a_sequence_inside_a_sequence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
