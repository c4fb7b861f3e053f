/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A row of Google Benchmark that times calls of TraceEvent, TraceEventInstance or TraceMessage.
 */
#ifndef ETWAS_BENCH_CALL_H
#define ETWAS_BENCH_CALL_H

#include <stdint.h>

enum bench_call_entry {
    BENCH_CALL_INSTANCE,
    BENCH_CALL_PARENT,       /* the instance has a parent */
    BENCH_CALL_EVENT,        /* TraceEvent */
    BENCH_CALL_FIELDS,       /* the payload is two fields of 8 bytes, elsewhere in memory */
    BENCH_CALL_WRITE,        /* EventWrite with one block of data */
    BENCH_CALL_STACK,        /* the same at a depth, for a session that takes stacks */
    BENCH_CALL_COUNTED,      /* START of an instance; its thread's counters follow it */
    BENCH_CALL_MESSAGE,      /* TraceMessage with two arguments, GUID, time stamp and ids */
    BENCH_CALL_TRACELOGGING, /* TraceLoggingWrite of 8 bytes and 4 */
    BENCH_CALL_MANY,         /* etwas_write_many of instances */
    BENCH_CALL_MANY_WRITE,   /* the same of EventWrite's events */
};

enum bench_call_mode {
    BENCH_CALL_BUFFERING,   /* a flight recorder that has wrapped */
    BENCH_CALL_FILE,        /* a log file, written between the batches */
    BENCH_CALL_FILE_THREAD, /* the same with a flusher thread */
    BENCH_CALL_STOPPED,     /* the session has stopped */
    BENCH_CALL_ONE_SLOT,    /* a flight recorder with one slot for all processors */
    BENCH_CALL_TIMES,       /* one whose records have the times of their thread */
    BENCH_CALL_CRASH_SAFE,  /* one whose buffers outlive the process */
    BENCH_CALL_CLASSES,     /* one with retention classes; the events belong to one */
    BENCH_CALL_TWO,         /* two flight recorders that both take the events */
};

struct bench_call {
    char name[64];
    enum bench_call_entry entry;
    enum bench_call_mode mode;
    uint32_t protocol;
    uint32_t clock;
    uint32_t payload_bytes; /* at most BENCH_CALL_LARGEST_PAYLOAD */
    uint32_t buffers;
    uint32_t buffer_kb; /* 0: 64 */
    uint32_t batch;     /* the events of one call of etwas_write_many */
};

enum {
    BENCH_CALL_LARGEST_PAYLOAD = 16384,
    BENCH_CALL_BUFFERS = 16, /* 1 MB */
    BENCH_CALL_FRAMES = 16,  /* of a stack; the harness may add some */
};

/* Adds a copy of `call` to the rows. */
void bench_call_register(const struct bench_call *call);

#endif
