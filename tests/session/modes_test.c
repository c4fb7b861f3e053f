/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Logging modes: every bit alone, and every pair of bits.
 */
#include <stdbool.h>

#include "session/fixture.h"

enum {
    BITS = 32
};

/* The columns and rows of the documented matrix; 'x' is a pair that is not allowed. */
static const uint32_t matrix_modes[] = {
    EVENT_TRACE_FILE_MODE_SEQUENTIAL,     EVENT_TRACE_FILE_MODE_CIRCULAR,
    EVENT_TRACE_FILE_MODE_APPEND,         EVENT_TRACE_FILE_MODE_NEWFILE,
    EVENT_TRACE_FILE_MODE_PREALLOCATE,    EVENT_TRACE_REAL_TIME_MODE,
    EVENT_TRACE_BUFFERING_MODE,           EVENT_TRACE_PRIVATE_LOGGER_MODE,
    EVENT_TRACE_INDEPENDENT_SESSION_MODE,
};
enum {
    MATRIX = sizeof matrix_modes / sizeof matrix_modes[0]
};
/* NEWFILE with PRIVATE_LOGGER is allowed: where the documents differ, the older one wins. */
static const char matrix[MATRIX][MATRIX + 1] = {
    ".x.x..x..", /* SEQUENTIAL */
    "x.xx..x..", /* CIRCULAR */
    ".x.x.xxx.", /* APPEND */
    "xxx...x..", /* NEWFILE */
    ".......x.", /* PREALLOCATE */
    "..x...xx.", /* REAL_TIME */
    "xxxx.x...", /* BUFFERING */
    "..x.xx..x", /* PRIVATE_LOGGER */
    ".......x.", /* INDEPENDENT_SESSION */
};

static const uint32_t undefined_bits =
    0x00040000 | 0x00080000 | 0x00200000 | 0x20000000 | 0x40000000;

static bool has_forbidden_pair(uint32_t mode)
{
    for (int row = 0; row < MATRIX; row++) {
        for (int column = 0; column < MATRIX; column++) {
            if (matrix[row][column] == 'x' && (mode & matrix_modes[row]) != 0 &&
                (mode & matrix_modes[column]) != 0) {
                return true;
            }
        }
    }
    return (mode & EVENT_TRACE_USE_GLOBAL_SEQUENCE) != 0 &&
           (mode & EVENT_TRACE_USE_LOCAL_SEQUENCE) != 0;
}

static uint32_t expected_code(uint32_t mode)
{
    const uint32_t built = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_BUFFERING_MODE;

    if ((mode & undefined_bits) != 0 || has_forbidden_pair(mode)) {
        return ERROR_INVALID_PARAMETER;
    }
    /* It says something about a private session, so there must be one. */
    if ((mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0 &&
        (mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    /* R51 */
    if ((mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0 &&
        (mode & EVENT_TRACE_USE_PAGED_MEMORY) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    return (mode & ~built) != 0 ? ERROR_NOT_SUPPORTED : ERROR_SUCCESS;
}

static void expect_mode(uint32_t mode)
{
    uint32_t expected = expected_code(mode);
    etwas_trace_handle session = 77;
    struct block block;
    uint32_t code;

    prepare_block(&block, folder_path("f.etl"));
    block.properties.LogFileMode = mode;
    code = StartTraceA(&session, "mode", &block.properties);
    if (code != expected) {
        fail_msg("mode 0x%08x: code %u where %u is right", mode, code, expected);
    }
    assert_true((session != 0) == (code == ERROR_SUCCESS));
    if (session != 0) {
        assert_int_equal(block.properties.LogFileMode, mode);
        stop_session(session, NULL);
    }
}

static void the_matrix_is_symmetric(void **state)
{
    (void)state;
    for (int row = 0; row < MATRIX; row++) {
        for (int column = 0; column < MATRIX; column++) {
            assert_int_equal(matrix[row][column], matrix[column][row]);
        }
    }
}

static void every_mode_bit_alone_is_built_refused_or_unknown(void **state)
{
    (void)state;
    expect_mode(EVENT_TRACE_FILE_MODE_NONE);
    for (int bit = 0; bit < BITS; bit++) {
        expect_mode(UINT32_C(1) << bit);
    }
}

static void every_pair_of_modes_that_is_not_allowed_is_an_invalid_parameter(void **state)
{
    struct belongings before = count_belongings();

    (void)state;
    for (int first = 0; first < BITS; first++) {
        for (int second = 0; second < first; second++) {
            expect_mode(UINT32_C(1) << first | UINT32_C(1) << second);
        }
    }
    expect_mode(EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_LOGGER_MODE |
                EVENT_TRACE_PRIVATE_IN_PROC);
    expect_mode(UINT32_MAX);
    /* None of these starts, so nothing is left of them. */
    assert_nothing_gained(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix_is_symmetric),
        FOLDER_TEST(every_mode_bit_alone_is_built_refused_or_unknown),
        FOLDER_TEST(every_pair_of_modes_that_is_not_allowed_is_an_invalid_parameter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
