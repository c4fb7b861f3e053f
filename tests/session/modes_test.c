/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Logging modes: every bit alone, and every pair of bits (R16, R51, R77, and the page "Logging Mode
 * Constants").
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buffer/slot.h"
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
    /* R142: no session here is one that cannot be stopped. */
    const uint32_t refused = EVENT_TRACE_NONSTOPPABLE_MODE | EVENT_TRACE_SECURE_MODE |
                             EVENT_TRACE_DELAY_OPEN_FILE_MODE | EVENT_TRACE_ADD_HEADER_MODE |
                             EVENT_TRACE_RELOG_MODE | EVENT_TRACE_MODE_RESERVED;
    const uint32_t not_together = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_COMPRESSED_MODE;

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
        (mode & (EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_PRIVATE_LOGGER_MODE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    return (mode & refused) != 0 || (mode & not_together) == not_together ? ERROR_NOT_SUPPORTED
                                                                          : ERROR_SUCCESS;
}

/* The file that a session of this mode writes when it is given "f%d.etl". */
static const char *file_of(uint32_t mode)
{
    static char name[64];

    (void)snprintf(name, sizeof name, "f%s.etl",
                   (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0 ? "1" : "%d");
    if ((mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0) {
        size_t used = strlen(name);

        (void)snprintf(name + used, sizeof name - used, "_%d", (int)getpid());
    }
    return folder_path(name);
}

/* Everything that some mode needs is there: a size, BufferSize, the clock of APPEND, `%d`. */
static void expect_mode(uint32_t mode)
{
    uint32_t expected = expected_code(mode);
    etwas_trace_handle session = 77;
    struct block block;
    uint32_t code;

    /* Whether it starts depends on the user's rights to see the system: tests/system. */
    if (expected == ERROR_SUCCESS && (mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0) {
        return;
    }
    prepare_block(&block, folder_path("f%d.etl"));
    block.properties.LogFileMode = mode;
    block.properties.BufferSize = 4;
    block.properties.MaximumBuffers = 32;
    block.properties.Wnode.ClientContext = ETWAS_CLOCK_SYSTEM_TIME;
    block.properties.MaximumFileSize = (mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0 ? 1024 : 1;
    code = StartTraceA(&session, "mode", &block.properties);
    if (code != expected) {
        fail_msg("mode 0x%08x: code %u where %u is right", mode, code, expected);
    }
    assert_true((session != 0) == (code == ERROR_SUCCESS));
    if (session != 0) {
        assert_int_equal(block.properties.LogFileMode, mode);
        assert_int_equal(log_number(session, mode), ERROR_SUCCESS);
        stop_session(session, NULL);
        if ((mode & EVENT_TRACE_BUFFERING_MODE) == 0) {
            assert_int_equal(count_events(file_of(mode)), 1);
            assert_int_equal(unlink(file_of(mode)), 0);
        }
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

/* Each entry of the session table keeps its bookkeeping from its first session on. */
static void use_every_place(void)
{
    for (int start = 0; start < ETWAS_SESSION_ENTRIES; start++) {
        expect_mode(start < ETWAS_SESSIONS ? 0 : EVENT_TRACE_PRIVATE_LOGGER_MODE);
    }
}

static void every_pair_of_modes_that_is_not_allowed_is_an_invalid_parameter(void **state)
{
    struct belongings before;

    (void)state;
    use_every_place();
    before = count_belongings();
    for (int first = 0; first < BITS; first++) {
        for (int second = 0; second < first; second++) {
            expect_mode(UINT32_C(1) << first | UINT32_C(1) << second);
        }
    }
    expect_mode(EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_LOGGER_MODE |
                EVENT_TRACE_PRIVATE_IN_PROC);
    expect_mode(UINT32_MAX);
    /*
     * Nothing is left: not of those that were refused, and of the others only the file removed
     * above.
     */
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
