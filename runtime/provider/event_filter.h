/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of single events: which of a modern provider's events a session gets, and which of those
 * get stacks, or trigger a flight recorder.
 *
 * A filter in force is a block of memory that is never freed, only used again. A writer reads it
 * without a lock, between two reads of its provider's version (event_provider.h): if the version is
 * unchanged, the block was what the writer read. Until then the contents may be anything, so the
 * writer checks every count in it.
 */
#ifndef ETWAS_PROVIDER_EVENT_FILTER_H
#define ETWAS_PROVIDER_EVENT_FILTER_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_event_arguments;
struct etwas_event_provider;
struct etwas_recipients;

/* etwas_event_filter.kinds: which of its parts are in use. */
enum {
    ETWAS_FILTER_EVENTS = 1 << 0,
    ETWAS_FILTER_NAMES = 1 << 1,
    ETWAS_FILTER_STACKS = 1 << 2,
    ETWAS_FILTER_STACK_NAMES = 1 << 3,
    ETWAS_FILTER_STACK_LEVELS = 1 << 4,
    ETWAS_FILTER_TRIGGERS = 1 << 5,
    ETWAS_FILTER_TRIGGER_LEVELS = 1 << 6,
    ETWAS_FILTER_PATTERNS = 1 << 7,      /* `names` has patterns */
    ETWAS_FILTER_PROVIDER_NAME = 1 << 8, /* which providers, not events; blocks do not have it */
};

/* Only these events (in), or all but these. */
struct etwas_id_filter {
    uint8_t in;
    uint16_t count;
    uint16_t ids[MAX_EVENT_FILTER_EVENT_ID_COUNT];
};

/*
 * Events up to a level, with one of `match_any_keyword` and all of `match_all_keyword`, as in
 * enabling.
 */
struct etwas_level_filter {
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
    uint8_t level;
    uint8_t in;
};

enum {
    ETWAS_NAME_BUCKET_BITS = 9,
    ETWAS_NAME_BUCKETS = 1 << ETWAS_NAME_BUCKET_BITS,
};

/*
 * Among the events that `levels` matches, passes only those with these names, or all but those.
 * Names are sorted into hash buckets, so that the cost of an event does not depend on their number.
 * Patterns follow one another.
 */
struct etwas_name_filter {
    struct etwas_level_filter levels;
    /* where each bucket begins in `names`; the last is the end of names or patterns */
    uint16_t starts[ETWAS_NAME_BUCKETS + 1];
    char names[MAX_EVENT_FILTER_EVENT_NAME_SIZE]; /* each with its NUL */
};

struct etwas_event_filter {
    uint32_t kinds;
    struct etwas_id_filter events;
    struct etwas_id_filter stacks;
    struct etwas_id_filter triggers;
    struct etwas_level_filter stack_levels;
    struct etwas_level_filter trigger_levels;
    struct etwas_name_filter names;
    struct etwas_name_filter stack_names;
    char provider_name[ETWAS_FILTER_PROVIDER_NAME_BYTES]; /* a pattern with its NUL */
};

/*
 * Adds the contents of a descriptor. The caller has checked that its data is present and no longer
 * than its type allows. ERROR_INVALID_PARAMETER: a size that does not fit its counts, a FilterIn
 * other than 0 and 1, no id or name, more than 64 ids, names beside patterns, or a provider's name
 * that is empty or not terminated. ERROR_NOT_SUPPORTED: another type.
 */
uint32_t etwas_event_filter_add(struct etwas_event_filter *filter,
                                const EVENT_FILTER_DESCRIPTOR *descriptor);

/* ---- with the control lock held -------------------------------------------------------------- */

/* A copy that writers may read; NULL: no memory. */
const struct etwas_event_filter *etwas_event_filter_acquire(const struct etwas_event_filter *made);

/* Frees the copy for use again: no writer finds it once the lock is released. NULL is ignored. */
void etwas_event_filter_release(const struct etwas_event_filter *filter);

/* ---- without it: lock-free, async-signal-safe ------------------------------------------------ */

/*
 * Removes from the recipients the sessions whose filter does not let the event pass, and the stack
 * from those whose filter wants none. Sets ETWAS_LISTENER_TRIGGERS for those for which the event is
 * a trigger.
 */
void etwas_event_filter_apply(const struct etwas_event_provider *provider, uint32_t options,
                              const struct etwas_event_arguments *event,
                              struct etwas_recipients *recipients);

/*
 * The filters of EnableTraceEx and EnableTraceEx2: which processes and events are included, and
 * which events get stacks. Other filters are refused.
 */

/*
 * Reads the filters. *excluded receives whether one of them excludes this process, and `events`,
 * which is zeroed before, which events are wanted. Both are valid only on success. `filters` need
 * not be aligned.
 *
 * ERROR_INVALID_PARAMETER: more than MAX_EVENT_FILTERS_COUNT, or none at the address; two of one
 * type; data missing or more than its type may have; not 1 to 8 process ids; names that are not
 * UTF-16 with a 0 at the end; what etwas_event_filter_add refuses; a type of the system's that ETW
 * does not know. ERROR_NOT_SUPPORTED: filters of payloads, packages and containers, and a
 * provider's own, since providers do not get their data.
 */
uint32_t etwas_enable_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                                   bool *excluded, struct etwas_event_filter *events);

#endif
