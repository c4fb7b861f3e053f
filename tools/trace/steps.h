/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_STEPS_H
#define ETWAS_TOOLS_TRACE_STEPS_H

/*
 * Steps of the wall clock: by how much it was set back while it stamped a file, as far as events
 * show it. Events of one thread come in the order in which they happened, so a stamp earlier than
 * the one before it follows a step. A step forward does not show.
 */

#include <etwas/evntcons.h>
#include <etwas/spans.h>
#include <stdint.h>

struct etwas_steps;

/* The steps seen up to a record. */
struct etwas_steps_mark {
    uint64_t ns;        /* all steps; one that two threads may have seen counts once */
    uint64_t thread_ns; /* those that the record's own thread saw */
    uint32_t thread;    /* 0xFFFFFFFF: the record does not say */
};

/* Returns NULL without memory. */
struct etwas_steps *etwas_steps_open(void);

/* Frees `steps`, which may be NULL. */
void etwas_steps_close(struct etwas_steps *steps);

/*
 * Adds a record with a raw TimeStamp. The same record may be added again. `steps` is NULL if
 * another clock stamped the file.
 */
struct etwas_steps_mark etwas_steps_add_record(struct etwas_steps *steps,
                                               const EVENT_RECORD *record);

/* Remembers that the record added last is the START of this span. `steps` may be NULL. */
void etwas_steps_begin(struct etwas_steps *steps, const etwas_span *span);

/*
 * Returns the least amount by which the clock was set back between a record and a later one of the
 * same file; UINT64_MAX if it is not known.
 */
uint64_t etwas_steps_between(const struct etwas_steps_mark *from,
                             const struct etwas_steps_mark *to);

/* Returns the same since the START of a span. */
uint64_t etwas_steps_since(const struct etwas_steps *steps, const etwas_span *span,
                           const struct etwas_steps_mark *to);

#endif
