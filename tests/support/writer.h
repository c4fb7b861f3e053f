/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writers log events, and store what the library returned for each. Every byte of an event follows
 * from its writer and its number. readback.h compares that with a file.
 *
 * An event is TraceEvent or, with a class, every second one TraceEventInstance, by turns without
 * and with a parent; every third gathers its payload from MOF fields. Writer and number are in the
 * header, so that events without a payload count too:
 *
 *     TraceEvent            Guid: Data1 = writer, Data4 = number
 *     TraceEventInstance    InstanceId = writer, number (writer_instance_id)
 *
 * The library has a quick way for plain instance events without a parent: number 13 is one.
 */
#ifndef ETWAS_SUPPORT_WRITER_H
#define ETWAS_SUPPORT_WRITER_H

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum writer_result {
    WRITER_RECORDED,
    WRITER_LOST,
    WRITER_REFUSED,
    WRITER_ODD
};

struct writer_event {
    uint32_t payload_bytes;
    uint8_t result;
    uint8_t seen; /* how often the last reading back found it */
};

struct writer_options {
    etwas_trace_handle session;
    etwas_handle class_handle; /* NULL: no instance events */
    uint64_t events;           /* at most this many; 0: a million */
    uint32_t largest_payload;  /* 0..65,487 (65,463 with a class); most are below 256 bytes */
    bool even_sizes;           /* all sizes up to the largest are equally likely */
    bool pauses; /* a thread that lost an event gives the flusher 0.1 ms, instead of losing more */
};

struct writer {
    struct writer_options options;
    uint32_t id;
    uint32_t last_code;
    uint64_t attempted;
    uint64_t recorded; /* ERROR_SUCCESS */
    uint64_t lost;     /* ERROR_NOT_ENOUGH_MEMORY */
    uint64_t refused;  /* ERROR_INVALID_HANDLE */
    uint64_t odd_codes;
    struct writer_event *events;
    uint8_t *scratch;
    uint32_t *end; /* of a thread: not 0 when it shall end */
    struct writer *next;
};

enum {
    WRITER_NUMBER_BITS = 20,
    WRITER_LARGEST_ID = (1 << (32 - WRITER_NUMBER_BITS)) - 1
};

static inline uint32_t writer_instance_id(uint32_t id, uint64_t number)
{
    return id << WRITER_NUMBER_BITS | (uint32_t)number;
}

static inline bool writer_has_parent(uint64_t number)
{
    return number % 4 == 3;
}

/* A class for instance events, registered once in a process. */
etwas_handle writer_class(void);

/* A writer for one thread or one signal handler. Freed by writers_forget. */
struct writer *writer_new(const struct writer_options *options);

/*
 * Logs the next event and returns TraceEvent's code; ERROR_MORE_DATA when `events` are logged.
 * Async-signal-safe (each handler with a writer of its own).
 */
uint32_t writer_log(struct writer *writer);

/* The same with a payload of exactly this many bytes. */
uint32_t writer_log_bytes(struct writer *writer, uint32_t payload_bytes);

/* How many events it has logged so far; also while it writes. */
uint64_t writer_progress(const struct writer *writer);

/* The writer with this id; NULL: none. */
struct writer *writer_find(uint32_t id);

/* All writers; follow `next`. */
struct writer *writer_first(void);

/* The bytes an event of this writer and number has. */
void writer_payload(uint32_t id, uint64_t number, uint8_t *payload, uint32_t bytes);

struct writer_totals {
    uint64_t attempted;
    uint64_t recorded;
    uint64_t lost;
    uint64_t refused;
    uint64_t odd_codes;
};

/* Returns the sums over all writers of a session. Call it when they have ended. */
struct writer_totals writers_totals(etwas_trace_handle session);

void writers_forget(void);

/* ---- threads, each with a writer ------------------------------------------------------------- */

enum {
    WRITERS_MOST = 64
};

struct writers {
    struct writer *list[WRITERS_MOST];
    pthread_t threads[WRITERS_MOST];
    uint32_t count;
    uint32_t end;
};

/*
 * Starts `count` threads that log until they have logged options->events, or the session refuses.
 */
void writers_start(struct writers *writers, uint32_t count, const struct writer_options *options);
/* Asks all of them to end, without waiting. */
void writers_end(struct writers *writers);
void writers_join(struct writers *writers);

#endif
