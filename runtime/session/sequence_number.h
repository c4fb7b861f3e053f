/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sequence numbers of messages (R110): 1, 2, 3, … in a session with
 * EVENT_TRACE_USE_LOCAL_SEQUENCE, or in the process for all sessions with
 * EVENT_TRACE_USE_GLOBAL_SEQUENCE. Other sessions do not number messages.
 *
 *     begin     the thread that starts the session, before its gates are open
 *     has,next  any writer. Lock-free: next retries only when another writer took a number.
 *               Async-signal-safe
 *     forget    a fork's child
 *
 * Every number is given once. Both words carry the generation of their session, so that a writer
 * that is delayed since the last session in this entry takes no number of this one. After
 * 4,294,967,295 the numbers begin again at 1.
 *
 * A number is taken before its message is published, because no single store can do both. So a lost
 * message leaves a gap in the numbers, by which a reader sees that it is missing.
 */
#ifndef ETWAS_SESSION_SEQUENCE_NUMBER_H
#define ETWAS_SESSION_SEQUENCE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A cache line: only the writers of numbered messages share it. */
struct etwas_sequence_numbers {
    uint64_t
        local; /* generation << 32 | the last number; generation 0: none of the session's own */
    uint32_t global; /* the generation, if numbers are the process's; else 0 */
} __attribute__((aligned(64)));

/* Begins the numbers of a session with this mode (EVENT_TRACE_USE_*_SEQUENCE). */
void etwas_sequence_numbers_begin(struct etwas_sequence_numbers *numbers, uint32_t generation,
                                  uint32_t log_file_mode);

/* Whether messages of this generation have numbers. */
bool etwas_sequence_numbers_has(const struct etwas_sequence_numbers *numbers, uint32_t generation);

/* The next number. 0: the session has ended meanwhile. */
uint32_t etwas_sequence_numbers_next(struct etwas_sequence_numbers *numbers, uint32_t generation);

/* The process's numbers begin again at 1. */
void etwas_sequence_numbers_forget(void);

/* So that tests need not take 4 billion numbers. */
void etwas_sequence_numbers_set(struct etwas_sequence_numbers *numbers, uint32_t last);

#endif
