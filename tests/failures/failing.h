/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Calls of the system about log files that fail, come up short or do not return, by plan
 * (platform/file.h asks before each).
 */
#ifndef ETWAS_FAILURES_FAILING_H
#define ETWAS_FAILURES_FAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/file.h"

/* Kinds of calls, to be added up. */
#define FAILING(call) (1u << ETWAS_FILE_##call)
#define FAILING_ANY ((1u << ETWAS_FILE_OPERATIONS) - 1)

struct failing {
    uint32_t calls;  /* of these kinds */
    uint32_t after;  /* so many go well first */
    uint32_t most;   /* so many fail then; 0: all */
    uint32_t one_in; /* of these, by chance; 0: each */
    uint32_t seed;
    bool shortens; /* by chance a third does not fail, but comes up short or is interrupted */
    bool tears;    /* the first to fail, if it is a write, writes half of its bytes */
    int error;
};

/* From here on; what was planned before is forgotten. */
void fail_calls(const struct failing *plan);
void fail_no_more(void);

/* Since fail_calls: calls of these kinds, those that failed, and the kind of the first of them. */
uint32_t calls_asked(void);
uint32_t calls_failed(void);
enum etwas_log_file_call first_failed(void);

/*
 * The call of this kind after `after` more of them does not return before hang_release. As
 * fail_calls, instead of it.
 */
void hang_call(enum etwas_log_file_call call, uint32_t after);
bool hangs_now(void);
void hang_release(void);

/*
 * A fork takes the locks of all traces and sessions, and waits for a file that is being opened or
 * closed, but not for what hangs.
 */
void fork_while_it_hangs(void);

/* cmocka's teardown of a test in a folder (support/folder.h); ends what was planned too. */
int failing_teardown(void **state);

#define FAILING_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, failing_teardown)

#endif
