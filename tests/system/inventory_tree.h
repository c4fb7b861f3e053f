/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A made-up machine: files beneath a folder of the test's own, and the inventory that is emitted
 * for them.
 */
#ifndef ETWAS_TESTS_INVENTORY_TREE_H
#define ETWAS_TESTS_INVENTORY_TREE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TOLD_MOST = 512,
};

struct emitted {
    uint8_t type;
    uint32_t bytes; /* of the payload */
    uint8_t *payload;
};

extern struct emitted emitted[TOLD_MOST];
extern size_t emitted_count;

/* cmocka's setup and teardown. */
int tree_begin(void **state);
int tree_end(void **state);

const char *tree_root(void);

/* Paths beneath the root; folders on the way are made. */
void tree_file(const char *path, const char *text);
void tree_folder(const char *path);
void tree_link(const char *path, const char *target);
void tree_fifo(const char *path);
void tree_hole(const char *path); /* a file of a terabyte */

/* Tells of the tree, or of another root; `told` is the answer. */
void emit_inventory(void);
void emit_root(const char *root, uint32_t room);

/* The only record of this type. */
const struct emitted *only(uint8_t type);
size_t count_emitted(uint8_t type);

uint32_t emitted_u16(const struct emitted *record, size_t offset);
uint32_t emitted_u32(const struct emitted *record, size_t offset);
uint64_t emitted_u64(const struct emitted *record, size_t offset);

/* The text of ASCII at the offset is this; returns the offset behind its 0. */
size_t expect_text(const struct emitted *record, size_t offset, const char *text);

#endif
