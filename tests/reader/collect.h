/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Runs ProcessTrace on files and keeps what the callbacks got, for the tests to look at. */
#ifndef ETWAS_TESTS_READER_COLLECT_H
#define ETWAS_TESTS_READER_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

enum {
    COLLECT_EVENTS = 4096,
    COLLECT_DAMAGES = 256,
    COLLECT_PAYLOAD = 64,
    COLLECT_ITEMS = 4,
    COLLECT_ITEM_BYTES = 40,
};

struct collected_event {
    EVENT_HEADER header;
    EVENT_TRACE classic; /* instead of header, in the old format */
    ETW_BUFFER_CONTEXT context;
    void *user_context;
    uint16_t item_count;
    EVENT_HEADER_EXTENDED_DATA_ITEM items[COLLECT_ITEMS];
    uint8_t item_data[COLLECT_ITEMS][COLLECT_ITEM_BYTES];
    uint32_t payload_bytes;
    uint8_t payload[COLLECT_PAYLOAD];
    uint32_t number; /* the payload's first u32 */
};

struct collected_buffer {
    uint32_t buffers_read;
    uint32_t buffer_bytes;
    uint32_t filled;
    int64_t current_time;
    size_t events_before; /* how many events had come */
};

/* Everything of one run; only counts grow beyond the arrays. */
struct collected {
    struct collected_event events[COLLECT_EVENTS];
    size_t event_count;
    size_t per_type[256]; /* by header type, which only the old format tells */
    struct collected_buffer buffers[COLLECT_EVENTS];
    size_t buffer_count;
    etwas_damage damages[COLLECT_DAMAGES];
    size_t events_before[COLLECT_DAMAGES]; /* how many events had come before each damage */
    size_t damage_count;
    uint64_t checksum; /* of every byte given: makes a sanitizer look at each */
    etwas_trace_information information;
    uint32_t code;
};

/* The one collection; run_* empties it first. */
extern struct collected collected;

/* Opens the files, processes them together, closes them. Mode: PROCESS_TRACE_MODE_* bits. */
void run_files(const char *const *paths, uint32_t count, uint32_t mode, etwas_filetime *start,
               etwas_filetime *end);

/* One file as EVENT_RECORDs. */
void run_file(const char *path);

/* Opens with the collecting callbacks, reports damage to the collection. */
etwas_trace_handle open_collecting(const char *path, uint32_t mode);

void forget_collected(void);

/* How many damages of this kind came. */
size_t damages_of(etwas_damage_kind kind);

etwas_filetime filetime_of(int64_t value);

#endif
