/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A consumer of a running session: ProcessTrace in a thread of its own, which looks at every byte
 * of the events of writer.h and notes which it saw.
 */
#ifndef ETWAS_SUPPORT_CONSUMER_H
#define ETWAS_SUPPORT_CONSUMER_H

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/metadata.h"

struct consumer {
    etwas_trace_handle trace;
    pthread_t thread;
    uint32_t code; /* ProcessTrace's */

    /* Called in the consumer's thread before and behind its look at an event; NULL: nothing. */
    void (*before)(struct consumer *consumer);
    void (*behind)(struct consumer *consumer);
    void *context;

    uint64_t events;    /* of writers; atomic */
    uint64_t wrong;     /* odd, or changed */
    uint64_t backwards; /* stamps older than one before */
    int64_t newest;
    uint64_t lost_event_notices;
    uint64_t lost_buffer_notices;
    uint64_t lost_file_notices;
    uint64_t headers; /* events of the log file header's class */
    struct metadata described;
    uint64_t buffers;            /* buffer callbacks */
    uint64_t stop_after_buffers; /* the buffer callback wants no more after so many; 0: all */

    struct seen {
        uint32_t id;
        uint32_t number;
    } * seen;
    size_t capacity;
};

/* Opens a trace on the session; fails the test when OpenTrace does. */
void consumer_open(struct consumer *consumer, etwas_trace_handle session);

/* ProcessTrace in a thread. */
void consumer_start(struct consumer *consumer);

/* Waits for the thread, and closes the trace if it is still open. */
void consumer_join(struct consumer *consumer);
void consumer_free(struct consumer *consumer);

uint64_t consumer_events(const struct consumer *consumer);

/* Waits until the consumer has seen so many events; fails the test if that takes too long. */
void consumer_wait(const struct consumer *consumer, uint64_t events);

/*
 * Marks in the writers' memory what this consumer saw, on top of what is marked there. Fails the
 * test for an event that was never recorded, or that this consumer saw twice.
 */
void consumer_mark(const struct consumer *consumer, etwas_trace_handle session);

/* Forgets all marks of a session's writers. */
void consumers_unmark(etwas_trace_handle session);

/* How many recorded events of the session carry no mark. */
uint64_t consumers_missing(etwas_trace_handle session);

/* The consumer saw everything that was recorded, once, unchanged. */
void expect_consumer_is_exact(const struct consumer *consumer, etwas_trace_handle session);

#endif
