/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_SPANS_H
#define ETWAS_TOOLS_ANALYSE_SPANS_H

/*
 * `etwas spans`: the durations of instances and activities by class, and the slowest of them as
 * trees.
 *
 * The self time of a span is its duration without the time that its children cover; overlapping
 * children count once. If the slowest spans are requested, the files are read twice: first to find
 * them, then to find the spans inside of them.
 *
 * Memory is bounded by the spans that are open at once (most_open), two histograms for each of
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
    ETWAS_SPANS_MOST_OPEN = 1 << 26, /* the limit of --open; takes 17 GB */
    ETWAS_SPANS_NODES = 1000,
    ETWAS_SPANS_QUANTILES = 6,
};

#define ETWAS_SPANS_NO_NODE UINT32_MAX

/* The counts are of the requested spans, unless they say "of all". */
struct etwas_spans_class {
    const struct etwas_span_class *named;
    uint64_t unfinished;    /* begun and not ended, including those that were replaced */
    uint64_t uncertain;     /* of unfinished: a flight recorder may have overwritten the END */
    uint64_t replaced;      /* of unfinished: a second START came before the END */
    uint64_t orphaned;      /* spans that name a parent that is not open */
    uint64_t unmatched;     /* ENDs without a START */
    uint64_t open;          /* open now, of all */
    uint64_t most_open;     /* most that were open at once, of all */
    uint64_t error_ns;      /* largest clock error of a duration; UINT64_MAX: one is unknown */
    uint64_t self_error_ns; /* likewise of a self time */
    uint64_t outside;       /* spans that ended outside the time that the files cover */
    double outside_ns;      /* sum of their durations */
    struct etwas_histogram durations;
    struct etwas_histogram selves;
};

/* A span of a tree. */
struct etwas_spans_node {
    uint32_t class_index; /* or UINT32_MAX */
    uint32_t parent;      /* index of a node, as the next three; or ETWAS_SPANS_NO_NODE */
    uint32_t first_child;
    uint32_t last_child;
    uint32_t next; /* next child of the same parent */
    uint32_t instance;
    uint32_t process;
    uint32_t thread;
    bool has_ended;
    etwas_guid activity; /* 0 for an instance */
    int64_t start_ns;
    uint64_t duration_ns;
    uint64_t self_ns;
    uint64_t error_ns;      /* clock error of the duration; UINT64_MAX: not known */
    uint64_t self_error_ns; /* likewise of the self time */
    uint64_t events;        /* events of the span, without START and END */
};

struct etwas_spans_tree {
    uint64_t number; /* number of the root span */
    uint64_t duration_ns;
    int64_t start_unix_ns;
    struct etwas_spans_node *nodes; /* in the order of their START, the root first */
    uint32_t node_count;
    uint32_t node_capacity;
    uint64_t left_out; /* spans that did not fit */
};

/* An open span, stored at etwas_span.place. */
struct etwas_spans_open {
    uint64_t number; /* 0: none */
    uint64_t parent;
    uint32_t parent_place;
    uint32_t class_index;
    bool is_asked_for; /* its START is chosen by --class and --where */
    bool is_orphan;
    uint32_t children; /* open children */
    struct etwas_moment start;
    struct etwas_moment covered_from; /* since when; valid while children are open */
    uint64_t covered_ns;              /* by children, before covered_from */
    uint64_t covered_error_ns;
    uint32_t tree; /* number of its tree, from 1; 0: none */
    uint32_t node; /* index in the tree; ETWAS_SPANS_NO_NODE: it did not fit */
};

/* Callbacks of the second reading. Each may be NULL. */
struct etwas_spans_listener {
    void *context;
    /* Called when a requested span has ended. */
    void (*ended)(void *context, const struct etwas_spans_open *open, uint64_t duration_ns);
    /* Called for each event of a span that is in a tree, including START and END. */
    void (*event)(void *context, const struct etwas_spans_open *open);
};

struct etwas_spans_request {
    struct etwas_input_run run;
    struct etwas_all_descriptions descriptions;
    struct etwas_field_paths paths;
    struct etwas_where where;
    struct etwas_current_event current;
    struct etwas_window window; /* resolved; only events in it are followed */
    const char *class_name;     /* NULL: all */
    uint32_t slowest;
    uint32_t most_open; /* most spans open at once; 0: the default of etwas_spans_open */

    etwas_spans *spans;
    bool finds_trees; /* the files are read for the second time */
    struct etwas_span_classes names;
    struct etwas_spans_class *classes; /* indexed as `names` */
    uint64_t other_classes;            /* spans of classes beyond ETWAS_SPAN_CLASSES */
    struct etwas_spans_open *open;
    size_t open_capacity;
    struct etwas_spans_tree *trees; /* the slowest first */
    uint32_t tree_count;
    uint32_t most_nodes; /* for each tree */
    struct etwas_spans_listener listener;
    uint64_t covered_ns; /* part of the window that the files cover; set after reading */
    uint64_t events_lost;
    bool out_of_memory;
};

/* ---- read.c ---- */

/* Allocates the tables. Returns false, and sets out_of_memory, if there is no memory. */
bool etwas_spans_make_room(struct etwas_spans_request *request, char *const *paths, uint32_t count);
void etwas_spans_free_room(struct etwas_spans_request *request);

/*
 * Opens all files for `run`, which has room for ETWAS_INPUT_FILES inputs, and starts without spans.
 * Returns ETWAS_EXIT_DONE, or ETWAS_EXIT_FAILED after a message; `run` has the files that could be
 * opened.
 */
int etwas_spans_open_files(struct etwas_spans_request *request, char *const *paths, uint32_t count,
                           const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Reads all files, twice if the slowest spans are requested, and fills the results. The caller has
 * set the run's inputs and the request. Returns what etwas_input_process does; `run` has the files
 * that could be opened.
 */
int etwas_spans_read(struct etwas_spans_request *request, char *const *paths, uint32_t count);

/* ---- classes.c ---- */

/* Returns whether --class lets the class through. */
bool etwas_spans_class_is_asked_for(const struct etwas_spans_request *request,
                                    uint32_t class_index);

/*
 * Returns the classes that have spans, sorted by their total duration; NULL if there is no memory.
 * The caller frees the array.
 */
const struct etwas_spans_class **etwas_spans_sorted(const struct etwas_spans_request *request,
                                                    uint32_t *count);

/*
 * Return how many spans ended per second, and how many were open at once on average; NaN if that is
 * not known.
 */
double etwas_spans_rate(const struct etwas_spans_request *request,
                        const struct etwas_spans_class *its);
double etwas_spans_at_once(const struct etwas_spans_request *request,
                           const struct etwas_spans_class *its);

/* Returns how many seconds of the window the files cover. */
double etwas_spans_seconds(const struct etwas_spans_request *request);

/* ---- follow.c ---- */

/* Follows an event at its moment. Events of class EventTrace are ignored. */
void etwas_spans_follow(struct etwas_spans_request *request, const EVENT_RECORD *record,
                        const struct etwas_moment *moment);

/* Counts the spans that are still open as unfinished. Call it after the last event. */
void etwas_spans_settle(struct etwas_spans_request *request);

/* Call it before the files are read for the second time. */
void etwas_spans_begin_again(struct etwas_spans_request *request);

/* ---- trees.c ---- */

/* Keeps the span if it is one of the slowest. */
void etwas_spans_choose(struct etwas_spans_request *request, const etwas_span *span,
                        uint64_t duration_ns);

/* Adds a span that begins to a tree if it is a root, or inside of one. For the second reading. */
void etwas_spans_grow(struct etwas_spans_request *request, const struct etwas_input *input,
                      const EVENT_RECORD *record, const etwas_span *span,
                      struct etwas_spans_open *open);

/* Returns the node of a span; NULL if it is in no tree. */
struct etwas_spans_node *etwas_spans_node(const struct etwas_spans_request *request,
                                          const struct etwas_spans_open *open);

/*
 * Advances *node and its *depth to the next node in preorder. Returns false if *node was the last
 * one.
 */
bool etwas_spans_next_node(const struct etwas_spans_tree *tree, uint32_t *node, uint32_t *depth);

#endif
