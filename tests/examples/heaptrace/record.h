/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the program `known` writes down about its own heap calls: sections, each a run of calls that
 * one thread makes with nothing between them. heaptrace must have exactly these, in this order.
 */
#ifndef ETWAS_TESTS_HEAPTRACE_RECORD_H
#define ETWAS_TESTS_HEAPTRACE_RECORD_H

enum {
    MOST_ROUNDS = 500
};

#pragma GCC visibility push(default)

/* Makes one section: `rounds` times each of the ten functions, failures and NULLs included. */
void record_section(const char *name);

/* How many rounds a section has from now on; 1 before the first call. */
void record_rounds(int rounds);

/* Where this process writes its sections, at its very end. */
void record_to(const char *path);

/* Writes them now. */
void record_write(void);

#pragma GCC visibility pop

#endif
