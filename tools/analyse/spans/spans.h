/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_SPANS_H
#define ETWAS_TOOLS_ANALYSE_SPANS_H

/*
 * `etwas spans`: how long instances and activities took, class by class, and the slowest of them as
 * trees.
 *
 * The time a span took itself is its duration but for what its children cover, each moment once.
 * If the slowest are requested, the files are read twice: first for which they are, then for what
 * was inside of them.
 *
 * Memory is bounded: by the spans that are open at once (most_open), two histograms for each of
 * ETWAS_SPAN_CLASSES classes, and `most_nodes` spans for each tree.
 */

#include "math/histogram.h"
#include "trace/condition.h"
#include "trace/current_event.h"
#include "trace/descriptions.h"
#include "trace/input.h"
#include "trace/moment.h"
#include "trace/span_classes.h"
#include "trace/window.h"
#include "where/where.h"

enum {
    ETWAS_SPANS_SLOWEST = 1000,
    ETWAS_SPANS_MOST_OPEN = 1 << 26, /* that may be asked for: 17 GB */
    ETWAS_SPANS_NODES = 1000,
    ETWAS_SPANS_QUANTILES = 6,
};

#define ETWAS_SPANS_NO_NODE UINT32_MAX

/* The counts are of the requested events, unless they say "of all". */
struct etwas_spans_class {
    const struct etwas_span_class *named;
    uint64_t unfinished;    /* begun and not ended; those that were replaced too */
    uint64_t uncertain;     /* of unfinished: a recorder may have overwritten the END */
    uint64_t replaced;      /* by a second START of the same before they ended */
    uint64_t orphaned;      /* they name a parent that is not open */
    uint64_t unmatched;     /* ENDs without a START */
    uint64_t open;          /* now, of all */
    uint64_t most_open;     /* at once, of all */
    uint64_t error_ns;      /* the largest of a duration; UINT64_MAX: one is not known */
    uint64_t self_error_ns; /* likewise */
    uint64_t outside;       /* of what ended, how many did so beside what the files cover, */
    double outside_ns;      /* and how long these took */
    struct etwas_histogram durations;
    struct etwas_histogram selves;
};

/* A span of a tree. */
struct etwas_spans_node {
    uint32_t class_index; /* or UINT32_MAX */
    uint32_t parent;      /* numbers of nodes, or ETWAS_SPANS_NO_NODE */
    uint32_t first_child;
    uint32_t last_child;
    uint32_t next; /* child of the same parent */
    uint32_t instance;
    uint32_t process;
    uint32_t thread;
    bool has_ended;
    etwas_guid activity; /* 0 of an instance */
    int64_t start_ns;
    uint64_t duration_ns;
    uint64_t self_ns;
    uint64_t error_ns;      /* of the duration; UINT64_MAX: not known */
    uint64_t self_error_ns; /* likewise */
    uint64_t events;        /* of it, beside START and END */
};

struct etwas_spans_tree {
    uint64_t number; /* of the span that is its root */
    uint64_t duration_ns;
    int64_t start_unix_ns;
    struct etwas_spans_node *nodes; /* as they began, the root first */
    uint32_t node_count;
    uint32_t node_capacity;
    uint64_t left_out; /* spans for which there was no room */
};

/* An open span, by its place. */
struct etwas_spans_open {
    uint64_t number; /* 0: none */
    uint64_t parent;
    uint32_t parent_place;
    uint32_t class_index;
    bool is_asked_for; /* by its START */
    bool is_orphan;
    uint32_t children; /* that are open */
    struct etwas_moment start;
    struct etwas_moment covered_from; /* while children are open */
    uint64_t covered_ns;
    uint64_t covered_error_ns;
    uint32_t tree; /* from 1; 0: it is in none */
    uint32_t node; /* ETWAS_SPANS_NO_NODE: there was no room for it */
};

/* Callbacks of the second reading. NULL: there are none. */
struct etwas_spans_listener {
    void *context;
    /* One that is asked for has ended. */
    void (*ended)(void *context, const struct etwas_spans_open *open, uint64_t duration_ns);
    /* An event of a span that is in a tree, its START and END too. */
    void (*event)(void *context, const struct etwas_spans_open *open);
};

struct etwas_spans_request {
    struct etwas_input_run run;
    struct etwas_all_descriptions descriptions;
    struct etwas_field_paths paths;
    struct etwas_where where;
    struct etwas_current_event current;
    struct etwas_window window; /* resolved; what follows events keeps to it */
    const char *class_name;     /* NULL: all */
    uint32_t slowest;
    uint32_t most_open; /* at once; 0: as many as etwas_spans_open takes by itself */

    etwas_spans *spans;
    bool finds_trees; /* the second time */
    struct etwas_span_classes names;
    struct etwas_spans_class *classes; /* by number */
    uint64_t other_classes;            /* spans of more classes than are told apart */
    struct etwas_spans_open *open;
    size_t open_capacity;
    struct etwas_spans_tree *trees; /* the slowest first */
    uint32_t tree_count;
    uint32_t most_nodes; /* of a tree */
    struct etwas_spans_listener listener;
    uint64_t covered_ns; /* by all files, of the window; when they are read */
    uint64_t events_lost;
    bool out_of_memory;
};

/* ---- read.c ---- */

/* Memory for all that is kept of these files, once. False, and out_of_memory, without. */
bool etwas_spans_make_room(struct etwas_spans_request *request, char *const *paths, uint32_t count);
void etwas_spans_free_room(struct etwas_spans_request *request);

/*
 * Opens all files for `run`, which has ETWAS_INPUT_FILES inputs, and begins with no span. Returns
 * ETWAS_EXIT_DONE, or ETWAS_EXIT_FAILED after a message; `run` has those that could be opened.
 */
int etwas_spans_open_files(struct etwas_spans_request *request, char *const *paths, uint32_t count,
                           const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Reads all files, twice if the slowest are requested, and fills the request. Its inputs, and what
 * is asked for, are there. Returns what etwas_input_process does; `run` has those that could be
 * opened.
 */
int etwas_spans_read(struct etwas_spans_request *request, char *const *paths, uint32_t count);

/* ---- classes.c ---- */

/* Returns whether --class lets the class through. */
bool etwas_spans_class_is_asked_for(const struct etwas_spans_request *request,
                                    uint32_t class_index);

/*
 * Returns the classes that have something to show, sorted by their total time; NULL if there is no
 * memory.
 */
const struct etwas_spans_class **etwas_spans_sorted(const struct etwas_spans_request *request,
                                                    uint32_t *count);

/*
 * Returns how many ended a second, or how many were open at once on average; NaN: it is not known.
 */
double etwas_spans_rate(const struct etwas_spans_request *request,
                        const struct etwas_spans_class *its);
double etwas_spans_at_once(const struct etwas_spans_request *request,
                           const struct etwas_spans_class *its);

/* That the files cover of the window. */
double etwas_spans_seconds(const struct etwas_spans_request *request);

/* ---- follow.c ---- */

/* An event, but of class EventTrace, at its moment. */
void etwas_spans_follow(struct etwas_spans_request *request, const EVENT_RECORD *record,
                        const struct etwas_moment *moment);

/* All that is still open at the end is unfinished. */
void etwas_spans_settle(struct etwas_spans_request *request);

/* Before the files are read a second time. */
void etwas_spans_begin_again(struct etwas_spans_request *request);

/* ---- trees.c ---- */

/* Notes it if it is one of the slowest. */
void etwas_spans_choose(struct etwas_spans_request *request, const etwas_span *span,
                        uint64_t duration_ns);

/* The second time, what begins may be a root, or inside of one. */
void etwas_spans_grow(struct etwas_spans_request *request, const struct etwas_input *input,
                      const EVENT_RECORD *record, const etwas_span *span,
                      struct etwas_spans_open *open);

/* What it is in a tree; NULL: in none. */
struct etwas_spans_node *etwas_spans_node(const struct etwas_spans_request *request,
                                          const struct etwas_spans_open *open);

/*
 * The node behind one when parents stand before their children; *depth is that of the one and then
 * of the other. False: it was the last.
 */
bool etwas_spans_next_node(const struct etwas_spans_tree *tree, uint32_t *node, uint32_t *depth);

#endif
