/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_SPAN_C_H
#define ETWAS_TRACELOGGING_SPAN_C_H

/*
 * Spans in C: an activity from its Start event to its Stop event. This header is a part of
 * <etwas/TraceLoggingActivity.h>; C++ has classes there.
 *
 *     TraceLoggingSpanStart(request, shop, "Request", TraceLoggingString(path));
 *     ... other events, and spans inside of it ...
 *     TraceLoggingSpanStop(request, "Request", TraceLoggingUInt32(status));
 *
 * Start is the declaration of a variable `request`. If a session may request its event, it gives
 * the span an id of its own and writes the event with that id and opcode 1. Stop writes one with
 * opcode 2. The arguments are those of TraceLoggingWrite. Stop has the level and the keywords of
 * Start; a level above 0 replaces the level, and keywords are added. If no session requested the
 * span when it started, it has no id, and Stop writes nothing: a load and a branch each.
 *
 * The parent of a span, which `etwas spans` shows it inside of, is found in one of two ways:
 *
 *     TraceLoggingSpanStart       The parent is the thread's activity, as of another span. From
 *                                 Start to Stop the span is the thread's activity: every event of
 *                                 the thread that names no activity has its id, also events of
 *                                 other providers. The same thread calls Stop, in the reverse order
 *                                 of the starts. A span without a Stop, as by a return in between,
 *                                 stays the thread's activity.
 *     TraceLoggingSpanStartChild  The parent is named by its id, `&order.id`, or NULL: none. The
 *                                 thread's activity does not change, and any thread may call Stop.
 *                                 For events inside of it: TraceLoggingWriteActivity with its id.
 *
 * One thread at a time uses a span. Neither call takes a lock or allocates memory, and both are
 * async-signal-safe.
 */

#ifndef __cplusplus

#include <etwas/TraceLoggingProvider.h>

#include <stdbool.h>
#include <string.h>

/* A span. Programs use only its id, after Start; it may be copied to where Stop is called. */
typedef struct TraceLoggingSpan {
    etwas_guid id;                  /* all 0: no session requested it */
    etwas_guid before;              /* the parent's id, or all 0 */
    TraceLoggingHProvider provider; /* NULL: Stop writes nothing */
    uint64_t keyword;               /* of the Start event, as the next one */
    uint8_t level;
    bool is_threads; /* it is the thread's activity */
} TraceLoggingSpan;

#define TraceLoggingSpanStart(span, providerHandle, ...)                                           \
    TraceLoggingSpan span = ETWAS_TRACELOGGING_SPAN_START(                                         \
        providerHandle, NULL, true, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)
#define TraceLoggingSpanStartChild(span, providerHandle, pParentId, ...)                           \
    TraceLoggingSpan span = ETWAS_TRACELOGGING_SPAN_START(                                         \
        providerHandle, pParentId, false, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)
#define TraceLoggingSpanStop(span, ...)                                                            \
    ETWAS_TRACELOGGING_SPAN_STOP(span, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)

/* ---- common parts of the macros -------------------------------------------------------------- */

/* Gives it an id, and makes it the thread's activity or the child of `parent`. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_span_start(TraceLoggingSpan *span,
                                                             TraceLoggingHProvider provider,
                                                             const EVENT_DESCRIPTOR *descriptor,
                                                             const etwas_guid *parent,
                                                             bool is_threads)
{
    (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &span->id);
    if (is_threads) {
        span->before = span->id;
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &span->before);
    } else if (parent != NULL) {
        span->before = *parent;
    }
    span->provider = provider;
    span->keyword = descriptor->Keyword;
    span->level = descriptor->Level;
    span->is_threads = is_threads;
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_span_stop(TraceLoggingSpan *span)
{
    if (span->is_threads) {
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &span->before);
    }
    span->provider = NULL;
}

/* The id that the Start event names as related; NULL: none. */
ETWAS_TRACELOGGING_INLINE const etwas_guid *etwas_tracelogging_span_parent(
    const TraceLoggingSpan *span)
{
    static const etwas_guid none;

    return memcmp(&span->before, &none, sizeof none) != 0 ? &span->before : NULL;
}

/* The Stop event's descriptor: its own values in addition to those of Start. */
ETWAS_TRACELOGGING_INLINE EVENT_DESCRIPTOR
etwas_tracelogging_span_descriptor(const TraceLoggingSpan *span, EVENT_DESCRIPTOR descriptor)
{
    descriptor.Keyword |= span->keyword;
    descriptor.Level = descriptor.Level != 0 ? descriptor.Level : span->level;
    return descriptor;
}

/* The span, as an expression. The first of the dots is ignored. */
#define ETWAS_TRACELOGGING_SPAN_START(handle, parent, threads, event_name, ...)                    \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_SPAN_START, ETWAS_TRACELOGGING_KIND(__VA_ARGS__))   \
    (handle, parent, threads, event_name, __VA_ARGS__)
#define ETWAS_TRACELOGGING_SPAN_START_bare(...)                                                    \
    __extension__({                                                                                \
        ETWAS_TRACELOGGING_WRITE_bare(~);                                                          \
        (TraceLoggingSpan){.provider = NULL};                                                      \
    })
#define ETWAS_TRACELOGGING_SPAN_START_lists(handle, parent, threads, event_name, ...)              \
    __extension__({                                                                                \
        ETWAS_TRACELOGGING_DESCRIBE(etwas_tracelogging_event, 5, WINEVENT_OPCODE_START, 0,         \
                                    event_name, __VA_ARGS__);                                      \
        const TraceLoggingHProvider etwas_tracelogging_to = (handle);                              \
        TraceLoggingSpan etwas_tracelogging_span = {.provider = NULL};                             \
        if (TraceLoggingProviderEnabled(etwas_tracelogging_to,                                     \
                                        etwas_tracelogging_event.descriptor.Level,                 \
                                        etwas_tracelogging_event.descriptor.Keyword)) {            \
            etwas_tracelogging_span_start(&etwas_tracelogging_span, etwas_tracelogging_to,         \
                                          &etwas_tracelogging_event.descriptor, parent, threads);  \
            {                                                                                      \
                ETWAS_TRACELOGGING_SEND(0, 0, &etwas_tracelogging_span.id,                         \
                                        etwas_tracelogging_span_parent(&etwas_tracelogging_span),  \
                                        __VA_ARGS__)                                               \
            }                                                                                      \
        }                                                                                          \
        etwas_tracelogging_span;                                                                   \
    })

#define ETWAS_TRACELOGGING_SPAN_STOP(span, event_name, ...)                                        \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_SPAN_STOP, ETWAS_TRACELOGGING_KIND(__VA_ARGS__))    \
    (span, event_name, __VA_ARGS__)
#define ETWAS_TRACELOGGING_SPAN_STOP_bare(...) ETWAS_TRACELOGGING_WRITE_bare(~)
#define ETWAS_TRACELOGGING_SPAN_STOP_lists(span, event_name, ...)                                  \
    do {                                                                                           \
        ETWAS_TRACELOGGING_DESCRIBE(etwas_tracelogging_event, 0, WINEVENT_OPCODE_STOP, 0,          \
                                    event_name, __VA_ARGS__);                                      \
        TraceLoggingSpan *const etwas_tracelogging_span = &(span);                                 \
        const TraceLoggingHProvider etwas_tracelogging_to = etwas_tracelogging_span->provider;     \
        if (__builtin_expect(etwas_tracelogging_to != NULL, 0)) {                                  \
            const EVENT_DESCRIPTOR etwas_tracelogging_descriptor =                                 \
                etwas_tracelogging_span_descriptor(etwas_tracelogging_span,                        \
                                                   etwas_tracelogging_event.descriptor);           \
            if (TraceLoggingProviderEnabled(etwas_tracelogging_to,                                 \
                                            etwas_tracelogging_descriptor.Level,                   \
                                            etwas_tracelogging_descriptor.Keyword)) {              \
                ETWAS_TRACELOGGING_SEND_AS(&etwas_tracelogging_descriptor, 0, 0,                   \
                                           &etwas_tracelogging_span->id, NULL, __VA_ARGS__)        \
            }                                                                                      \
            etwas_tracelogging_span_stop(etwas_tracelogging_span);                                 \
        }                                                                                          \
    } while (0)

/* ---- what only C++ has ----------------------------------------------------------------------- */

/* Gives one sentence in place of the compiler's error about an unknown name. */
#define ETWAS_TRACELOGGING_ONLY_CPP                                                                \
    _Pragma("GCC error \"TraceLogging: this is C++; in C it is TraceLoggingSpanStart and Stop\"")
#define TraceLoggingActivity ETWAS_TRACELOGGING_ONLY_CPP
#define TraceLoggingThreadActivity ETWAS_TRACELOGGING_ONLY_CPP
#define TraceLoggingWriteStart(...) ETWAS_TRACELOGGING_ONLY_CPP
#define TraceLoggingWriteTagged(...) ETWAS_TRACELOGGING_ONLY_CPP
#define TraceLoggingWriteStop(...) ETWAS_TRACELOGGING_ONLY_CPP

#endif

#endif
