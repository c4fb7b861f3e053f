/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_SPANS_H
#define ETWAS_SPANS_H

/*
 * Spans: what instances and activities are from their START to their END. A part of <etwas/decode.h>,
 * which says what holds for all of its functions.
 *
 *     etwas_spans_open(0, &spans);
 *     ... for each record, in the order of time:
 *         switch (etwas_spans_take(spans, record, trace, time, &span)) {
 *         case ETWAS_SPAN_END:
 *             ... it took time - span->start ...
 *         }
 *     etwas_spans_close(spans);
 *
 * An instance of a class (TraceEventInstance) begins with an event of type EVENT_TRACE_TYPE_START and
 * ends with one of EVENT_TRACE_TYPE_END; an activity of a provider, TraceLogging's too, with the opcodes
 * START and STOP, which are the same numbers, under one ActivityId that is not 0. Instances are told
 * apart by class, number, process and trace, activities by provider, ActivityId and trace.
 *
 * What ETWAS_ENABLE_PROPERTY_COUNTERS (<etwas/etwas.h>) put beside the START and END of an instance or
 * activity is inside of it.
 *
 * A parent is the instance that the START names as such, or the activity of its RelatedActivityId, in
 * whatever trace and of whatever provider: the one that began last. It is known while it is open.
 *
 * What is kept is bounded by the spans that are open at once. A START beyond that, or one of more than
 * 1,024 with the same ActivityId, is counted (ETWAS_SPANS_LEFT_OUT), and its END is then unmatched. A
 * second START of the same takes the place of the first (ETWAS_SPANS_REPLACED).
 */

#include <etwas/evntcons.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

typedef struct etwas_spans etwas_spans;

/* What an event is to a span. */
#define ETWAS_SPAN_NONE 0u
#define ETWAS_SPAN_START 1u
#define ETWAS_SPAN_INSIDE 2u /* another event of it */
#define ETWAS_SPAN_END 3u

typedef struct etwas_span {
    uint64_t number;       /* from 1, as they began; none has that of another */
    uint64_t parent;       /* a number; 0: none, or one that is not open */
    etwas_guid guid;       /* the class of an instance, the provider of an activity */
    etwas_guid activity;   /* 0 of an instance */
    uint32_t instance;     /* 0 of an activity */
    uint32_t trace;        /* as the caller numbers them */
    uint32_t place;        /* below the bound; of all that are open each has another */
    uint32_t parent_place; /* the parent's, if it has one */
    uint32_t process;      /* of the START; 0xFFFFFFFF: it does not say */
    uint32_t thread;       /* likewise */
    uint32_t last_thread;  /* of the event before: where it was until now */
    int64_t start;         /* the caller's time of it */
} etwas_span;

/*
 * `most_open` bounds the spans that are open at once, 0: 1,048,576. ERROR_INVALID_PARAMETER for NULL,
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_spans_open(uint32_t most_open, etwas_spans **spans) ETWAS_API(etwas_spans_open);

/* NULL is allowed. */
void etwas_spans_close(etwas_spans *spans) ETWAS_API(etwas_spans_close);

/*
 * Which of ETWAS_SPAN_* the event is, and of which span: *span is valid until the next call, after its
 * END too; NULL for NONE. `trace` tells apart what is read as one time line; `time` is the caller's, in
 * any unit. An event of an activity whose provider has no such span is inside the one that began last.
 */
uint32_t etwas_spans_take(etwas_spans *spans, const EVENT_RECORD *record, uint32_t trace,
                          int64_t time, const etwas_span **span) ETWAS_API(etwas_spans_take);

/* How many there were of each. */
#define ETWAS_SPANS_STARTED 0u /* that were taken in */
#define ETWAS_SPANS_ENDED 1u
#define ETWAS_SPANS_OPEN 2u      /* now */
#define ETWAS_SPANS_REPLACED 3u  /* by a second START of the same */
#define ETWAS_SPANS_UNMATCHED 4u /* ENDs whose START was not seen, or left out */
#define ETWAS_SPANS_LEFT_OUT 5u  /* STARTs: too many are open, or there is no memory */

/* 0 for another number. */
uint64_t etwas_spans_count(const etwas_spans *spans, uint32_t what) ETWAS_API(etwas_spans_count);

ETWAS_END_DECLS

#endif
