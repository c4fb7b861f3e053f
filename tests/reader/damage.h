/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of damage share: a sound file for each of them, and what must be said of it once
 * it is damaged. Each kind of damage is named with its place, costs no more than it must, and
 * everything else of the file is delivered.
 */
#ifndef ETWAS_TESTS_READER_DAMAGE_H
#define ETWAS_TESTS_READER_DAMAGE_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "builder.h"
#include "collect.h"

enum {
    B = 4096, /* bytes of a buffer */
    BUFFERS = 5,
    EVENTS_IN_BUFFER = 10
};

/* The file: buffer 0 and five data buffers of ten events each, from 1 on, on three processors. */
extern struct builder builder;

int damage_begin(void **state);
int damage_begin_compressed(void **state);
int damage_end(void **state);

#define DAMAGE_TEST(test) cmocka_unit_test_setup_teardown(test, damage_begin, damage_end)
#define COMPRESSED_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, damage_begin_compressed, damage_end)

/* Reads the file as it is now. */
void read_damaged(void);

/* All events but those numbered from `first` to `last` were delivered, in order. */
void assert_all_but(uint32_t first, uint32_t last);

/* The file is corrupt in this place only, and nothing but this was skipped. */
void assert_one_damage(etwas_damage_kind kind, uint64_t offset, uint64_t skipped);

#endif
