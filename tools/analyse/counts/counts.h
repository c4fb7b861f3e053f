/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_COUNTS_H
#define ETWAS_TOOLS_ANALYSE_COUNTS_H

/*
 * What `etwas stat` counts. Memory does not grow with the file: at most ETWAS_COUNTS_KINDS kinds of
 * events are distinguished.
 */

#include "trace/current_event.h"
#include "trace/descriptions.h"
#include "trace/input.h"
#include "trace/losses.h"
#include "trace/parts.h"
#include "trace/window.h"

enum {
    ETWAS_COUNTS_GAPS = 64,
    ETWAS_COUNTS_PROCESSORS = 65536, /* every value a buffer's 16-bit processor index can have */
    ETWAS_COUNTS_KINDS = 65536,
    ETWAS_COUNTS_NAME_BYTES = 64, /* kept of a self-describing event's names */
    ETWAS_COUNTS_LOG_NAME_UNITS = 1025,
    ETWAS_COUNTS_ALIKE = 256, /* size of the cache from headers to kinds */
};

/* Both are updated together, so the alignment keeps them in one cache line. */
struct etwas_counts_sum {
    _Alignas(16) uint64_t events;
    uint64_t payload_bytes;
};

/* One kind of event: a class and type, or a provider and id. */
struct etwas_counts_kind {
    struct etwas_counts_key {
        etwas_guid guid;
        uint16_t id;  /* 0 for classic events */
        uint8_t type; /* opcode of manifest events */
        bool classic;
        char event_name[ETWAS_COUNTS_NAME_BYTES]; /* self-describing events, padded with 0 */
    } key;
    char provider_name[ETWAS_COUNTS_NAME_BYTES];   /* likewise */
    EVENT_HEADER header;                           /* of the first event */
    const struct etwas_schema_texts *schema_texts; /* NULL: nothing describes it */
    struct etwas_counts_sum count;
    uint64_t outside; /* of these, how many are outside the time that the file states to cover */
    uint32_t number;  /* in the order in which kinds were found, from 0 */
};

/* A cache entry. All events with the same class, descriptor and flags are of one kind. */
struct etwas_counts_alike {
    uint8_t identity[sizeof(etwas_guid) + sizeof(EVENT_DESCRIPTOR)];
    uint16_t flags;
    struct etwas_counts_kind *kind; /* NULL: the entry is empty */
};

/* A time in which a processor was off, or was not recorded yet. */
struct etwas_counts_gap {
    uint32_t processor;
    int64_t from_ns; /* since 1970; INT64_MIN: from the beginning of the trace */
    int64_t until_ns;
};

struct etwas_counts {
    const struct etwas_parts *parts; /* all files of the command line */
    struct etwas_counts_sum header;  /* records that are no events, such as EventTrace's */
    struct etwas_counts_sum processors[ETWAS_COUNTS_PROCESSORS]; /* events, by processor */
    uint64_t outside[ETWAS_COUNTS_PROCESSORS]; /* events outside the stated coverage, likewise */
    bool without_processors; /* the file has no processors; its events are counted under 0 */
    void *kinds;             /* tsearch's tree of struct etwas_counts_kind */
    uint32_t kind_count;
    struct etwas_counts_kind *latest; /* of the previous event; often the same as the next */
    struct etwas_counts_alike alike[ETWAS_COUNTS_ALIKE];
    struct etwas_counts_sum other_kinds; /* events of kinds beyond ETWAS_COUNTS_KINDS */
    uint64_t other_outside;
    bool out_of_memory;
    struct etwas_descriptions *descriptions; /* the caller's, of this file */
    struct etwas_where *where;               /* which events to count; NULL: all */
    struct etwas_window window;              /* likewise; resolved */
    struct etwas_current_event current;      /* the event that `where` is applied to */
    etwas_spans *spans;                      /* NULL: durations are not wanted */
    const struct etwas_trace_losses *losses; /* of the session, with time and cause */
    uint64_t kernel_no_room;       /* lost because a kernel ring was full, by its account */
    uint64_t kernel_lost;          /* likewise, in other ways */
    bool has_kernel_switches;      /* there are accounts of context switches */
    uint64_t kernel_switches_lost; /* context switches that were lost, in either way */
    uint64_t kernel_beside;        /* in either way, in other files that report the same losses */
    uint64_t events_beside;        /* events that are in copies of the file */
    struct etwas_counts_gap gaps[ETWAS_COUNTS_GAPS];
    uint32_t gap_count; /* all gaps; only the first ETWAS_COUNTS_GAPS are kept */
    bool has_time;
    int64_t first_ns; /* of the counted events, without the session's own */
    int64_t last_ns;
    uint16_t session_name[ETWAS_COUNTS_LOG_NAME_UNITS]; /* UTF-16, from the header event */
    uint16_t log_file_name[ETWAS_COUNTS_LOG_NAME_UNITS];
    size_t session_name_units;
    size_t log_file_name_units;
};

/*
 * Counts a record with its time since 1970. Returns false if the record is about the trace or about
 * other events, or if --where leaves it out.
 */
bool etwas_counts_add(struct etwas_counts *counts, const struct etwas_input *input,
                      const EVENT_RECORD *record, int64_t time_ns);

/* Callbacks to open a file whose events are counted. The context is the struct etwas_counts. */
extern const struct etwas_input_callbacks etwas_counts_callbacks;

/*
 * Adds the counts of a later section of the same file. The section's descriptions of events are not
 * added.
 */
void etwas_counts_merge(struct etwas_counts *counts, const struct etwas_counts *section);

bool etwas_counts_has_events(const struct etwas_counts *counts);

/* Returns the sum over all processors. */
struct etwas_counts_sum etwas_counts_total(const struct etwas_counts *counts);

/*
 * Takes the names of the session and its log file from the file's header. A run with a window
 * needs this, since the header's event may be outside of it.
 */
void etwas_counts_keep_names(struct etwas_counts *counts, const struct etwas_input *input);

/* A file whose events are counted. */
struct etwas_counts_file {
    struct etwas_counts counts;
    struct etwas_input input;
    struct etwas_descriptions descriptions;
    struct etwas_trace_losses losses;
    bool out_of_memory;
};

/*
 * Counts a file from its beginning to its end. It uses several threads if nothing depends on the
 * order of events (threads.c). Before the call set `where`, `window` and `parts` of `counts`, and
 * all else to zero. Returns what etwas_input_process does. Close the file in any case.
 */
int etwas_counts_read_file(struct etwas_counts_file *file, const char *path, uint32_t number,
                           struct etwas_field_paths *paths,
                           struct etwas_shared_descriptions *shared);
void etwas_counts_close_file(struct etwas_counts_file *file);

/* Returns whether the record is an event. Others describe the trace, or other records. */
bool etwas_counts_is_event(struct etwas_counts *counts, const struct etwas_input *input,
                           const EVENT_RECORD *record);

/* Finds the kind of an event, or adds it. Returns NULL if there are too many. */
struct etwas_counts_kind *etwas_counts_kind_of(struct etwas_counts *counts,
                                               const EVENT_RECORD *record);

/* Finds the schemas of the kinds. Call it when the whole file was read. */
void etwas_counts_describe(struct etwas_counts *counts);

/*
 * Returns the kinds, those with most events first. The caller frees the array, but not the kinds.
 * Returns NULL if there is no memory.
 */
struct etwas_counts_kind **etwas_counts_sorted_kinds(const struct etwas_counts *counts);

/* Frees everything that counting allocated, except for the descriptions. Call it once. */
void etwas_counts_clear(struct etwas_counts *counts);

/*
 * Returns how much time of the window, or of the whole trace, the file covers; 0 if that is not
 * known.
 */
uint64_t etwas_counts_covered_ns(const struct etwas_counts *counts,
                                 const struct etwas_input *input);

/* Returns how many events are outside the time that the file states to cover. */
uint64_t etwas_counts_outside(const struct etwas_counts *counts);

/* Returns how many of the lost events the file states without their time and cause. */
uint64_t etwas_counts_untold(const struct etwas_counts *counts,
                             const etwas_trace_information *information);

/*
 * Sets *missing to the number of events that the session recorded, by its own count, and that are
 * not in the file. Returns false if the file does not state how many there were, or if other parts
 * have some of them.
 */
bool etwas_counts_missing(const struct etwas_counts *counts, const struct etwas_input *input,
                          uint64_t *missing);

/* Returns whether this is not one of the computer's processors but the stream beside them. */
bool etwas_counts_is_beside_processors(const struct etwas_input *input, uint32_t processor);

#endif
