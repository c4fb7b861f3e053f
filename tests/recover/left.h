/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a crash-safe session left, as bytes to be changed, and what is recovered of it.
 */
#ifndef ETWAS_TESTS_RECOVER_LEFT_H
#define ETWAS_TESTS_RECOVER_LEFT_H

#include <etwas/winerror.h>
#include <string.h>

#include "session/fixture.h"
#include "shared/layout.h"

enum {
    LEFT_EVENTS = 240, /* numbers from 0 on, of one slot */
    LEFT_RECORD_BYTES = 56,
};

/* A copy of the mapping of a flight recorder with buffers of 4 KB. */
struct left {
    uint8_t *bytes;
    size_t size;
    struct etwas_shared_head *head;
};

struct left left_with_events(void);
void left_free(struct left *left);

uint8_t *left_table(const struct left *left, enum etwas_shared_table_name name);

/* Where the event of this number is. */
uint8_t *left_record(const struct left *left, uint64_t number);

/* Recovers what is in the test's file `left` to `after.etl`. Asserts success. */
etwas_recovered left_recover_file(void);

/* The same of the bytes, which are freed. */
etwas_recovered left_recover(struct left *left);

/* All of the numbers but these, in ascending order, are in the file, in order. */
void left_expect(const uint64_t *missing, size_t count);

#endif
