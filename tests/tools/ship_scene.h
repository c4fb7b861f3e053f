/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of cutting share: events of every kind, each with a number, and rows read back out
 * of a block.
 */
#ifndef ETWAS_TESTS_TOOLS_SHIP_SCENE_H
#define ETWAS_TESTS_TOOLS_SHIP_SCENE_H

#include "ship/read/block.h"
#include "ship/schema/columns.h"
#include "support/folder.h"
#include "support/start.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Describes the classes and messages, and registers the providers, once in a process. */
void scene_begin(void);

/* Has the providers' events go to the session, too. */
void scene_enable(etwas_trace_handle session);

/*
 * Writes the event of this number: classic, of an instance, of a described message, of one that
 * nothing describes, TraceLogging, or modern without a description, by turns. Returns the code.
 */
uint32_t scene_write(etwas_trace_handle session, uint64_t number);

/*
 * An event of a class that nothing describes until scene_describe_late; 8 bytes and `more` beyond.
 */
uint32_t scene_write_late(etwas_trace_handle session, uint64_t number, uint32_t more);
/* Called so from now on. */
void scene_describe_late(const char *name);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Columns for an old server. */
struct etwas_ship_block block_open(void);
void block_close(struct etwas_ship_block *block);

/* The bytes that would be sent, of events and then of buffers; the caller frees them. */
uint8_t *block_bytes(const struct etwas_ship_block *block, size_t *bytes);

/* ---- rows ------------------------------------------------------------------------------------ */

struct shipped_pair {
    const char *key; /* not terminated */
    size_t key_bytes;
    const uint8_t *value; /* 8 bytes, or of a text so many: */
    size_t value_bytes;
};

enum {
    MOST_PAIRS = 4200,
};

struct shipped_pairs {
    size_t count;
    struct shipped_pair list[MOST_PAIRS];
};

struct shipped_bytes {
    const uint8_t *data;
    size_t bytes;
};

/* An event's row. */
struct shipped_event {
    uint16_t day, cpu, id;
    uint8_t type, level;
    int64_t time;
    uint32_t error, part, pos, pid, tid, instance, parent;
    uint64_t session, buffer, keyword;
    uint8_t class_guid[16], provider[16], activity[16], related[16]; /* as they are sent */
    struct shipped_bytes host, name, payload;
    struct shipped_pairs ints, reals, texts;
};

/* Where in a block's rows the next one is. */
struct rows {
    const struct etwas_columns *columns;
    uint32_t row;
    size_t at[ETWAS_SHIP_MOST_COLUMNS];      /* in the strings */
    size_t keys_at[ETWAS_SHIP_MOST_COLUMNS]; /* in the keys */
    uint64_t pairs[ETWAS_SHIP_MOST_COLUMNS];
};

void rows_begin(struct rows *rows, const struct etwas_columns *columns);
bool rows_next_event(struct rows *rows, struct shipped_event *event);

/* A row of buffers: a value of a column of u64, u32, u16 or u8. */
uint64_t buffer_value(const struct etwas_columns *buffers, uint32_t row, uint32_t column);

/* Is there an int of this key? */
bool has_int(const struct shipped_event *event, const char *key, int64_t *value);
bool has_real(const struct shipped_event *event, const char *key, double *value);
/* As a string of the test's own, until the next call; NULL: there is none. */
const char *text_of(const struct shipped_event *event, const char *key);
const char *name_of(const struct shipped_event *event);

/* The number that scene_write gave the event. */
uint64_t number_of(const struct shipped_event *event);

#endif
