/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of modern providers share: registering, enabling, one event with a number, and
 * events read back with the reader and with the walker.
 */
#ifndef ETWAS_TESTS_PROVIDER_MODERN_H
#define ETWAS_TESTS_PROVIDER_MODERN_H

#include <etwas/evntcons.h>
#include <etwas/evntprov.h>

#include "session/fixture.h"
#include "support/metadata.h"

#define INFINITELY 0xFFFFFFFFu

extern const etwas_guid own_activity;
extern const etwas_guid other_activity;
extern const etwas_guid no_activity; /* zeroes */

/* Something in each member. */
extern const EVENT_DESCRIPTOR full_descriptor;

void expect_guid(const etwas_guid *guid, const etwas_guid *expected);

/* What a callback was told last, and how often it was called. */
struct received {
    uint32_t calls;
    etwas_guid source;
    uint32_t is_enabled;
    uint8_t level;
    uint64_t any;
    uint64_t all;
    EVENT_FILTER_DESCRIPTOR *filter;
};

/* Registers control_guid; `received` may be NULL: no callback. */
REGHANDLE begin_modern(struct received *received);

/* EnableTraceEx2 for control_guid, which waits; fails the test unless it succeeds. */
void enable_modern(etwas_trace_handle session, uint8_t level, uint64_t any, uint64_t all);
void disable_modern(etwas_trace_handle session);

/*
 * The same with every level and keyword, and with an EnableProperty and filters; what it returns.
 */
uint32_t enable_asking(etwas_trace_handle session, uint32_t property,
                       EVENT_FILTER_DESCRIPTOR *filters, uint32_t count);

/* EventWrite of 8 bytes with this level and keyword. Async-signal-safe. */
uint32_t write_number(REGHANDLE provider, uint8_t level, uint64_t keyword, uint64_t number);

enum {
    MODERN_ITEMS = 9
};

/* An event as the reader gives it, and what the walker found in the same place of the file. */
struct modern_event {
    EVENT_HEADER header;
    uint32_t item_count;
    struct {
        uint16_t type;
        uint16_t bytes;
        uint8_t data[256]; /* the first of them */
    } items[MODERN_ITEMS];
    uint32_t bytes;
    uint8_t *data;
    bool walked; /* the walker found it, too */
};

struct modern_events {
    struct modern_event *list;
    size_t count;
};

/*
 * Reads a file with ProcessTrace and with the walker, and fails the test unless both found the same
 * events of modern providers, the file breaks no rule, and there are no other events in it but for
 * the images of sessions that take stacks.
 */
void read_modern(const char *path, struct modern_events *events);
void free_modern(struct modern_events *events);

/* A session with a file, f.etl, that this provider writes to, all levels and keywords. */
struct trace {
    etwas_trace_handle session;
    REGHANDLE provider;
};

struct trace begin_trace(uint32_t buffer_kb);

/* Stops and unregisters, and reads the file. */
void end_trace(const struct trace *trace, struct modern_events *events);

/* How many; each must be one of write_number. */
size_t count_modern(const char *path);

#endif
