/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_MANY_H
#define ETWAS_TRACELOGGING_MANY_H

/*
 * Several events of one moment in one call: etwas_write_many with events of TraceLogging. This
 * header is a part of <etwas/TraceLoggingProvider.h>.
 *
 *     ETWAS_TRACELOGGING_MANY(shop,
 *         ("Parsed", TraceLoggingUInt32(bytes)),
 *         ("Order", TraceLoggingLevel(WINEVENT_LEVEL_INFO), TraceLoggingString(name)));
 *
 * Up to 16 events follow the provider. Each is in parentheses, with its name and the arguments that
 * TraceLoggingWrite has. They get one time stamp, and a session records all that it requests of
 * them or none (batch.h). An event that no session requests is left out, and its arguments are not
 * evaluated. A batch that no session requests costs a load and a branch, not one for each event.
 *
 * ETWAS_TRACELOGGING_MANY_ACTIVITY has two GUID pointers behind each name, as
 * TraceLoggingWriteActivity has. So one call ends a phase and begins the next one:
 *
 *     ETWAS_TRACELOGGING_MANY_ACTIVITY(shop,
 *         ("Parse", &parse, NULL, TraceLoggingOpcode(WINEVENT_OPCODE_STOP)),
 *         ("Query", &query, &order, TraceLoggingOpcode(WINEVENT_OPCODE_START)));
 *
 * Both are statements without a value, thread-safe and async-signal-safe. The lengths of an event's
 * strings are read before the next event's arguments are evaluated, the data at the end. So two
 * events must not use one buffer that a call fills anew, as that of inet_ntoa.
 */

#include <etwas/TraceLoggingProvider.h>
#include <etwas/batch.h>

#define ETWAS_TRACELOGGING_MANY(provider, ...)                                                     \
    ETWAS_TRACELOGGING_MANY_AS(ETWAS_TRACELOGGING_PLAIN, provider, __VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_ACTIVITY(provider, ...)                                            \
    ETWAS_TRACELOGGING_MANY_AS(ETWAS_TRACELOGGING_ACTIVITY, provider, __VA_ARGS__)

/* ---- the events of a batch ------------------------------------------------------------------- */

/* The number of events, 1 to 16; if there are more, the 17th event. */
#define ETWAS_TRACELOGGING_EVENTS(...)                                                             \
    ETWAS_TRACELOGGING_EVENTS_NOW(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, \
                                  1, ~)
#define ETWAS_TRACELOGGING_EVENTS_NOW(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, \
                                      e15, e16, count, ...)                                        \
    count

/*
 * EACH_EVENT(form, macro, a, b, ...) is form(macro, N, a) form(macro, N - 1, b) ... The forms below
 * make macro(N, activity, related, name, arguments...) of it. The first argument is ignored.
 */
#define ETWAS_TRACELOGGING_EACH_EVENT(form, macro, ...)                                            \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_EVENTS_, ETWAS_TRACELOGGING_EVENTS(__VA_ARGS__))    \
    (form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_1(form, macro, a) form(macro, 1, a)
#define ETWAS_TRACELOGGING_EVENTS_2(form, macro, a, ...)                                           \
    form(macro, 2, a) ETWAS_TRACELOGGING_EVENTS_1(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_3(form, macro, a, ...)                                           \
    form(macro, 3, a) ETWAS_TRACELOGGING_EVENTS_2(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_4(form, macro, a, ...)                                           \
    form(macro, 4, a) ETWAS_TRACELOGGING_EVENTS_3(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_5(form, macro, a, ...)                                           \
    form(macro, 5, a) ETWAS_TRACELOGGING_EVENTS_4(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_6(form, macro, a, ...)                                           \
    form(macro, 6, a) ETWAS_TRACELOGGING_EVENTS_5(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_7(form, macro, a, ...)                                           \
    form(macro, 7, a) ETWAS_TRACELOGGING_EVENTS_6(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_8(form, macro, a, ...)                                           \
    form(macro, 8, a) ETWAS_TRACELOGGING_EVENTS_7(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_9(form, macro, a, ...)                                           \
    form(macro, 9, a) ETWAS_TRACELOGGING_EVENTS_8(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_10(form, macro, a, ...)                                          \
    form(macro, 10, a) ETWAS_TRACELOGGING_EVENTS_9(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_11(form, macro, a, ...)                                          \
    form(macro, 11, a) ETWAS_TRACELOGGING_EVENTS_10(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_12(form, macro, a, ...)                                          \
    form(macro, 12, a) ETWAS_TRACELOGGING_EVENTS_11(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_13(form, macro, a, ...)                                          \
    form(macro, 13, a) ETWAS_TRACELOGGING_EVENTS_12(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_14(form, macro, a, ...)                                          \
    form(macro, 14, a) ETWAS_TRACELOGGING_EVENTS_13(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_15(form, macro, a, ...)                                          \
    form(macro, 15, a) ETWAS_TRACELOGGING_EVENTS_14(form, macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_EVENTS_16(form, macro, a, ...)                                          \
    form(macro, 16, a) ETWAS_TRACELOGGING_EVENTS_15(form, macro, __VA_ARGS__)

#define ETWAS_TRACELOGGING_PLAIN(macro, number, event)                                             \
    ETWAS_TRACELOGGING_PLAIN_NOW(macro, number, ETWAS_TRACELOGGING_OPEN event)
#define ETWAS_TRACELOGGING_PLAIN_NOW(macro, number, ...)                                           \
    macro(number, NULL, NULL, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)
#define ETWAS_TRACELOGGING_ACTIVITY(macro, number, event)                                          \
    ETWAS_TRACELOGGING_ACTIVITY_NOW(macro, number, ETWAS_TRACELOGGING_OPEN event)
#define ETWAS_TRACELOGGING_ACTIVITY_NOW(macro, number, ...)                                        \
    ETWAS_TRACELOGGING_ACTIVITY_OF(macro, number, __VA_ARGS__)
#define ETWAS_TRACELOGGING_ACTIVITY_OF(macro, number, event_name, activity, ...)                   \
    macro(number, activity, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), event_name, __VA_ARGS__)

/* ---- what is refused ------------------------------------------------------------------------- */

/*
 * Is `_lists`; `_bare` if an event has a bare value; `_crowd` if there are more than 16 events, or
 * one is not in parentheses.
 */
#define ETWAS_TRACELOGGING_MANY_KIND(form, ...)                                                    \
    ETWAS_TRACELOGGING_MANY_KIND_OF(ETWAS_TRACELOGGING_EVENTS(__VA_ARGS__))(form, __VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_KIND_OF(count)                                                     \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PAIR count, _crowd, _few, ~)
#define ETWAS_TRACELOGGING_LAST_crowd(form, ...) _crowd
#define ETWAS_TRACELOGGING_LAST_few(form, ...)                                                     \
    ETWAS_TRACELOGGING_SECOND(                                                                     \
        ~ETWAS_TRACELOGGING_EACH_EVENT(ETWAS_TRACELOGGING_EVENT_KIND, form, __VA_ARGS__), _lists,  \
        ~)
#define ETWAS_TRACELOGGING_EVENT_KIND(form, number, event)                                         \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PAIR event, _event, _no_event, ~)(form, event)
#define ETWAS_TRACELOGGING_LAST_no_event(form, event) , _crowd
#define ETWAS_TRACELOGGING_LAST_event(form, event) form(ETWAS_TRACELOGGING_EVENT_BARE, ~, event)
#define ETWAS_TRACELOGGING_EVENT_BARE(number, activity, related, event_name, ...)                  \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_EVENT, ETWAS_TRACELOGGING_KIND(__VA_ARGS__))
#define ETWAS_TRACELOGGING_EVENT_lists
#define ETWAS_TRACELOGGING_EVENT_bare , _bare

#define ETWAS_TRACELOGGING_MANY_AS(form, provider, ...)                                            \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_MANY,                                               \
                            ETWAS_TRACELOGGING_MANY_KIND(form, __VA_ARGS__))                       \
    (form, provider, __VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_bare(...) ETWAS_TRACELOGGING_WRITE_bare(~)
#define ETWAS_TRACELOGGING_MANY_crowd(...)                                                         \
    do {                                                                                           \
        ETWAS_STATIC_ASSERT(0,                                                                     \
                            "TraceLogging: a batch has at most 16 events, each in parentheses");   \
    } while (0)

/* ---- writing --------------------------------------------------------------------------------- */

#define ETWAS_TRACELOGGING_MANY_lists(form, provider, ...)                                         \
    do {                                                                                           \
        ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_DESCRIBE, __VA_ARGS__)         \
        const TraceLoggingHProvider etwas_tracelogging_to = (provider);                            \
        const uint32_t etwas_tracelogging_limit =                                                  \
            __atomic_load_n(&etwas_tracelogging_to->level_limit, __ATOMIC_RELAXED);                \
        if (__builtin_expect(                                                                      \
                0 ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_BELOW, __VA_ARGS__), \
                0)) {                                                                              \
            const uint32_t etwas_tracelogging_wanted = 0 ETWAS_TRACELOGGING_EACH_EVENT(            \
                form, ETWAS_TRACELOGGING_MANY_WANTED, __VA_ARGS__);                                \
            if (etwas_tracelogging_wanted != 0) {                                                  \
                etwas_batch_event                                                                  \
                    etwas_tracelogging_events[ETWAS_TRACELOGGING_EVENTS(__VA_ARGS__)];             \
                struct etwas_tracelogging_batch etwas_tracelogging_batch = {                       \
                    etwas_tracelogging_to, etwas_tracelogging_events};                             \
                ETWAS_TRACELOGGING_MANY_ADD_ALL(form, __VA_ARGS__);                                \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define ETWAS_TRACELOGGING_MANY_DESCRIBE(number, activity, related, event_name, ...)               \
    ETWAS_TRACELOGGING_DESCRIBE(etwas_tracelogging_event_##number, 5, 0, 0, event_name,            \
                                __VA_ARGS__);
/* Compilers make one comparison, that of the lowest level, of those of all events. */
#define ETWAS_TRACELOGGING_MANY_BELOW(number, activity, related, ...)                              \
    || etwas_tracelogging_event_##number.descriptor.Level < etwas_tracelogging_limit
#define ETWAS_TRACELOGGING_MANY_WANTED(number, activity, related, ...)                             \
    | (uint32_t)TraceLoggingProviderEnabled(etwas_tracelogging_to,                                 \
                                            etwas_tracelogging_event_##number.descriptor.Level,    \
                                            etwas_tracelogging_event_##number.descriptor.Keyword)  \
            << number

/* The events so far, and their provider. */
struct etwas_tracelogging_batch {
    TraceLoggingHProvider provider;
    etwas_batch_event *next;
};

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_batch_begin(
    struct etwas_tracelogging_batch *batch, struct etwas_tracelogging_list *list,
    const EVENT_DESCRIPTOR *descriptor, const struct etwas_tracelogging_item *schema,
    const etwas_guid *activity, const etwas_guid *related)
{
    *batch->next = etwas_batch_write(__atomic_load_n(&batch->provider->handle, __ATOMIC_RELAXED),
                                     descriptor, activity, related, 0, list->next);
    etwas_tracelogging_add_items(list, batch->provider, schema);
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_batch_end(
    struct etwas_tracelogging_batch *batch, const struct etwas_tracelogging_list *list)
{
    batch->next->data_count =
        (uint32_t)(list->next - (const EVENT_DATA_DESCRIPTOR *)batch->next->data);
    batch->next++;
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_batch_write(
    const struct etwas_tracelogging_batch *batch, const etwas_batch_event *events)
{
    (void)etwas_write_many(events, (uint32_t)(batch->next - events), NULL, NULL);
}

#ifdef __cplusplus
/* One expression, whose temporaries live until the batch is written. */
#define ETWAS_TRACELOGGING_MANY_ADD_ALL(form, ...)                                                 \
    (void)0 ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_ADD, __VA_ARGS__),         \
        etwas_tracelogging_batch_write(&etwas_tracelogging_batch, etwas_tracelogging_events)
#define ETWAS_TRACELOGGING_MANY_ADD(number, activity, related, event_name, ...)                    \
    , (void)((etwas_tracelogging_wanted >> number & 1) != 0 &&                                     \
             (etwas_tracelogging_batched(                                                          \
                  &etwas_tracelogging_batch, &etwas_tracelogging_event_##number.descriptor,        \
                  &etwas_tracelogging_event_##number.item, activity,                               \
                  related ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_OBJECT, __VA_ARGS__)),        \
              true))

/* What the data descriptors of an event need besides its objects. */
template <typename... Objects> struct etwas_tracelogging_batched {
    static constexpr unsigned blocks = (2 + ... + Objects::blocks);
    ETWAS_TRACELOGGING_CHECK_BLOCKS(blocks);
    EVENT_DATA_DESCRIPTOR data[blocks];
    alignas(8) uint8_t kept[ETWAS_TRACELOGGING_VALUE_BYTES * (1 + sizeof...(Objects))];

    etwas_tracelogging_batched(struct etwas_tracelogging_batch *batch,
                               const EVENT_DESCRIPTOR *descriptor,
                               const struct etwas_tracelogging_item *schema,
                               const etwas_guid *activity, const etwas_guid *related,
                               const Objects &...objects)
    {
        etwas_tracelogging_list list = {data, nullptr, kept};

        etwas_tracelogging_batch_begin(batch, &list, descriptor, schema, activity, related);
        (objects.add(&list), ...);
        etwas_tracelogging_batch_end(batch, &list);
    }
};
#else
#define ETWAS_TRACELOGGING_MANY_ADD_ALL(form, ...)                                                 \
    EVENT_DATA_DESCRIPTOR etwas_tracelogging_data[0 ETWAS_TRACELOGGING_EACH_EVENT(                 \
        form, ETWAS_TRACELOGGING_MANY_BLOCKS, __VA_ARGS__)];                                       \
    ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_CHECK, __VA_ARGS__)                \
    ETWAS_TRACELOGGING_OPERANDS(                                                                   \
        0 ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_COUNT, __VA_ARGS__))         \
    uint8_t etwas_tracelogging_values[ETWAS_TRACELOGGING_VALUE_BYTES *                             \
                                      (0 ETWAS_TRACELOGGING_EACH_EVENT(                            \
                                          form, ETWAS_TRACELOGGING_MANY_COUNT, __VA_ARGS__))]      \
        __attribute__((__aligned__(8)));                                                           \
    struct etwas_tracelogging_list etwas_tracelogging_list = {etwas_tracelogging_data, NULL,       \
                                                              etwas_tracelogging_values};          \
    ETWAS_TRACELOGGING_EACH_EVENT(form, ETWAS_TRACELOGGING_MANY_ADD, __VA_ARGS__)                  \
    etwas_tracelogging_batch_write(&etwas_tracelogging_batch, etwas_tracelogging_events)
#define ETWAS_TRACELOGGING_MANY_COUNT(number, activity, related, event_name, ...)                  \
    +ETWAS_TRACELOGGING_COUNT(__VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_BLOCKS(number, activity, related, event_name, ...)                 \
    +2 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_BLOCKS, __VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_CHECK(number, activity, related, event_name, ...)                  \
    ETWAS_TRACELOGGING_CHECK_BLOCKS(                                                               \
        2 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_BLOCKS, __VA_ARGS__));                        \
    ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_CHECK, __VA_ARGS__)
#define ETWAS_TRACELOGGING_MANY_ADD(number, activity, related, event_name, ...)                    \
    (void)((etwas_tracelogging_wanted >> number & 1) != 0 &&                                       \
           (etwas_tracelogging_operand = etwas_tracelogging_operands,                              \
            etwas_tracelogging_batch_begin(&etwas_tracelogging_batch, &etwas_tracelogging_list,    \
                                           &etwas_tracelogging_event_##number.descriptor,          \
                                           &etwas_tracelogging_event_##number.item, activity,      \
                                           related),                                               \
            ETWAS_TRACELOGGING_ADD_ALL(__VA_ARGS__),                                               \
            etwas_tracelogging_batch_end(&etwas_tracelogging_batch, &etwas_tracelogging_list),     \
            1));
#endif

#endif
