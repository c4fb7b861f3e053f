/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Batches of random events for the tests of etwas_write_many, and the events of a file as bytes
 * that can be compared.
 */
#ifndef ETWAS_TESTS_PROVIDER_BATCHES_H
#define ETWAS_TESTS_PROVIDER_BATCHES_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>

#include "session/fixture.h"

enum {
    BATCH_PIECES = 6,
    BATCH_PAYLOAD = 900, /* the most bytes of one event */
};

/* Each payload begins so. */
struct batch_mark {
    uint64_t batch;
    uint32_t index;
    uint32_t count;
};

/* Sixteen events with all that they point to. */
struct batch {
    struct batch_mark marks[ETWAS_BATCH_EVENTS];
    etwas_batch_event events[ETWAS_BATCH_EVENTS];
    uint32_t count;
    struct batch_event {
        uint32_t kind;
        uint64_t handle;
        EVENT_DESCRIPTOR descriptor;
        etwas_guid activity;
        etwas_guid related;
        bool has_activity;
        bool has_related;
        EVENT_DATA_DESCRIPTOR data[BATCH_PIECES];
        uint32_t data_count;
        EVENT_INSTANCE_INFO instance;
        EVENT_INSTANCE_INFO parent;
        bool has_parent;
        union {
            EVENT_TRACE_HEADER trace;
            EVENT_INSTANCE_HEADER instance;
        } header;
        union {
            MOF_FIELD fields[BATCH_PIECES];
            uint8_t payload[BATCH_PAYLOAD];
        } rest; /* behind the header of an instance */
        struct {
            EVENT_TRACE_HEADER header;
            union {
                MOF_FIELD fields[BATCH_PIECES];
                uint8_t payload[BATCH_PAYLOAD];
            } rest;
        } trace;
    } parts[ETWAS_BATCH_EVENTS];
};

/* The providers of all batches: control_guid as a modern one, and first_class, second_class. */
struct batch_providers {
    REGHANDLE modern;
    etwas_trace_handle classic;
    TRACE_GUID_REGISTRATION classes[2];
};

void batch_providers_begin(struct batch_providers *providers);
void batch_providers_end(struct batch_providers *providers);

/*
 * Makes the batch of this number, always the same one. `kinds`: bits 1 << ETWAS_BATCH_KIND_*. Each
 * event's payload begins with its mark.
 */
void batch_make(struct batch *batch, const struct batch_providers *providers,
                etwas_trace_handle session, uint32_t kinds, uint64_t number);

/* Writes the same events, each by its own call. Returns the first code that is no success. */
uint32_t batch_write_singly(struct batch *batch);

/*
 * An event as it was read. Its content is everything but the stamp, the key, the times, the stack
 * and the processor.
 */
struct read_event {
    int64_t stamp;
    uint64_t times;     /* ProcessorTime, or KernelTime and UserTime */
    uint64_t key;       /* 0: none */
    uint64_t frames[2]; /* the innermost ones */
    uint32_t processor;
    struct batch_mark mark;
    uint32_t bytes;
    uint8_t content[BATCH_PAYLOAD + 4096] __attribute__((aligned(8)));
};

struct read_events {
    struct read_event *list;
    size_t count;
};

void batches_read(const char *path, struct read_events *events);

/*
 * Fails the test unless the events of each batch are neighbours on one processor, complete, in
 * order, and have one stamp.
 */
void expect_whole_batches(const struct read_events *events);

/*
 * The same for events of several threads, whose batches may lie between each other. Batches with
 * the number 0, which may be there many times, are left out.
 */
void expect_only_whole_batches(const struct read_events *events);

#endif
