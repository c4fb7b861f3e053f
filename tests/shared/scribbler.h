/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that writes what it likes into a session's mapping: nonsense, and what might be true.
 */
#ifndef ETWAS_TESTS_SHARED_SCRIBBLER_H
#define ETWAS_TESTS_SHARED_SCRIBBLER_H

#include <stdint.h>

/* In memory that it shares with the test. */
struct scribbles {
    uint64_t count;
};

struct scribbles *scribbles_new(void);
void scribbles_free(struct scribbles *scribbles);

/*
 * Writes into the mapping until the process is killed. What it writes follows from the seed, but
 * for what it finds there.
 */
_Noreturn void scribble(int descriptor, uint64_t seed, struct scribbles *scribbles);

#endif
