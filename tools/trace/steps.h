/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_STEPS_H
#define ETWAS_TOOLS_TRACE_STEPS_H

/*
 * By how much the wall clock was set back while it stamped a file, as far as its events show: those
 * of one thread come in the order in which they were, so a stamp that is earlier than the one
 * before is after a step. A step forward shows in none.
 */

#include <etwas/evntcons.h>
#include <etwas/spans.h>
#include <stdint.h>

struct etwas_steps;

/* What was seen up to a record. */
struct etwas_steps_mark {
    uint64_t ns; /* of all steps; two threads that may have seen the same one count it once */
    uint64_t thread_ns; /* of those that its own thread saw */
    uint32_t thread;    /* 0xFFFFFFFF: the record does not say */
};

/* NULL: no memory. */
struct etwas_steps *etwas_steps_open(void);

/* NULL is allowed. */
void etwas_steps_close(struct etwas_steps *steps);

/*
 * Takes a record, whose TimeStamp is raw; once or several times. `steps` NULL: the file is stamped
 * by another clock.
 */
struct etwas_steps_mark etwas_steps_add_record(struct etwas_steps *steps,
                                               const EVENT_RECORD *record);

/* Remembers the record that was taken last as the START of this span. `steps` may be NULL. */
void etwas_steps_begin(struct etwas_steps *steps, const etwas_span *span);

/*
 * From one record to a later one of the same file: by so much at least the clock was set back.
 * UINT64_MAX: not known.
 */
uint64_t etwas_steps_between(const struct etwas_steps_mark *from,
                             const struct etwas_steps_mark *to);

/* The same from the START of a span. */
uint64_t etwas_steps_since(const struct etwas_steps *steps, const etwas_span *span,
                           const struct etwas_steps_mark *to);

#endif
