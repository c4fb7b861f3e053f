/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_SPANS_H
#define ETWAS_SPANS_H

/*
 * Spans: instances and activities from their START to their END. This header is a part of
 * <etwas/decode.h>, which states what holds for all of its functions.
 *
 *     etwas_spans_open(0, &spans);
 *     ... for each record, in the order of time:
 *         switch (etwas_spans_take(spans, record, trace, time, &span)) {
 *         case ETWAS_SPAN_END:
 *             ... it took time - span->start ...
 *         }
 *     etwas_spans_close(spans);
 *
 * An instance of a class (TraceEventInstance) begins with an event of type EVENT_TRACE_TYPE_START
 * and ends with one of EVENT_TRACE_TYPE_END. An activity of a provider, also of TraceLogging's,
 * begins and ends with the opcodes START and STOP, which are the same numbers. Its events have one
 * ActivityId that is not 0. Instances are distinguished by class, number, process and trace,
 * activities by provider, ActivityId and trace.
 *
 * The records that ETWAS_ENABLE_PROPERTY_COUNTERS (<etwas/etwas.h>) adds to the START and END of an
 * instance or activity are inside of it.
 *
 * The parent is the instance that the START names as parent, or the activity of its
 * RelatedActivityId, in any trace and of any provider: the one that began last. It is known while
 * it is open.
 *
 * Memory is bounded by the spans that are open at once. A START beyond the bound, or one of more
 * than 1,024 with the same ActivityId, is counted (ETWAS_SPANS_LEFT_OUT), and its END is then
 * unmatched. A second START of the same span replaces the first (ETWAS_SPANS_REPLACED).
 */

#include <etwas/evntcons.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

typedef struct etwas_spans etwas_spans;

/* The role of an event in a span. */
#define ETWAS_SPAN_NONE 0u
#define ETWAS_SPAN_START 1u
#define ETWAS_SPAN_INSIDE 2u /* another event of it */
#define ETWAS_SPAN_END 3u

typedef struct etwas_span {
    uint64_t number;       /* from 1, in the order of beginning; unique */
    uint64_t parent;       /* the parent's number; 0: none, or it is not open */
    etwas_guid guid;       /* the class of an instance, the provider of an activity */
    etwas_guid activity;   /* 0 for an instance */
    uint32_t instance;     /* 0 for an activity */
    uint32_t trace;        /* the caller's number of it */
    uint32_t place;        /* below the bound, and unique among the open spans */
    uint32_t parent_place; /* the parent's, if it has one */
    uint32_t process;      /* of the START; 0xFFFFFFFF: unknown */
    uint32_t thread;       /* of the START; 0xFFFFFFFF: unknown */
    uint32_t last_thread;  /* the thread of the previous event */
    int64_t start;         /* the caller's time of the START */
} etwas_span;

/*
 * Creates a set of spans. `most_open` bounds the number of spans that are open at once; 0:
 * 1,048,576. Free it with etwas_spans_close.
 *
 * ERROR_INVALID_PARAMETER: `spans` is NULL.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_spans_open(uint32_t most_open, etwas_spans **spans) ETWAS_API(etwas_spans_open);

/* Frees a set of spans. NULL is allowed. */
void etwas_spans_close(etwas_spans *spans) ETWAS_API(etwas_spans_close);

/*
 * Returns the role of the event, one of ETWAS_SPAN_*, and stores its span in *span. The span is
 * valid until the next call, also after its END; it is NULL for NONE. `trace` distinguishes traces
 * that are read as one time line. `time` is the caller's, in any unit. If an event's activity has
 * no span of the event's provider, the event is inside the span of that activity that began last.
 */
uint32_t etwas_spans_take(etwas_spans *spans, const EVENT_RECORD *record, uint32_t trace,
                          int64_t time, const etwas_span **span) ETWAS_API(etwas_spans_take);

/* The numbers of spans and events. */
#define ETWAS_SPANS_STARTED 0u /* spans that were added */
#define ETWAS_SPANS_ENDED 1u
#define ETWAS_SPANS_OPEN 2u      /* spans that are open now */
#define ETWAS_SPANS_REPLACED 3u  /* replaced by a second START of the same */
#define ETWAS_SPANS_UNMATCHED 4u /* ENDs with a START that was not seen, or left out */
#define ETWAS_SPANS_LEFT_OUT 5u  /* STARTs with too many open spans or without memory */

/* Returns one of these numbers, or 0 for another value of `what`. */
uint64_t etwas_spans_count(const etwas_spans *spans, uint32_t what) ETWAS_API(etwas_spans_count);

ETWAS_END_DECLS

#endif
