/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A child that does something with a crash-safe session and is stepped through by its parent
 * (support/step.h). What a process that is killed leaves is what it has stored by then: before each
 * instruction of the child a copy of its mapping is recovered, and some children are really killed.
 * The account has to be exact each time: every event that was acknowledged is there once, or
 * counted.
 *
 * Where nothing that lasts has changed since the last recovery, the result is the same, and it is
 * left out. In long ways only every so many changes are recovered; ETWAS_TEST_EACH_INSTRUCTION=1
 * recovers all of them, kills more children, and takes minutes.
 */
#ifndef ETWAS_TESTS_RECOVER_STEPPED_H
#define ETWAS_TESTS_RECOVER_STEPPED_H

#include <etwas/etwas.h>

#include "session/fixture.h"

enum {
    STEPPED_RECORDS = 3, /* of these events fit into a buffer */
    STEPPED_PAYLOAD_BYTES = 1200,
};

/* Whose slots the child's events go to. */
enum stepped_slots {
    STEPPED_SEQUENCES, /* those of processors, by restartable sequences */
    STEPPED_EXTRA,     /* the extra one beside them, of a thread that has none */
    STEPPED_SHARED,    /* those of processors, shared */
    STEPPED_ONE,       /* the only one */
};

struct stepped_case {
    const char *what;
    bool has_file;     /* else it is a recorder, which has begun to overwrite */
    bool has_parts;    /* the file is one of a new-file set */
    uint32_t stride;   /* so manieth changes are looked at */
    void (*run)(void); /* in the child; what is stepped through */
};

/*
 * Skips a test of a long way under a sanitizer, whose own instructions would be stepped through,
 * too.
 */
void stepped_is_long(void);

/*
 * Does it once stepped through and killed at its end, and what is short also killed on the way.
 * Skips the test where tracing is forbidden. Slots that cannot be had here are left out.
 */
void stepped_through(const struct stepped_case *one, enum stepped_slots slots);

/* ---- for the child ---- */

extern etwas_trace_handle stepped_session;

/* Logs the next number, and acknowledges it. False: it was lost, which is acknowledged too. */
bool stepped_log(void);

/* Describes a class, and acknowledges that. */
void stepped_describe(void);

#endif
