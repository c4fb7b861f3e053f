/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_REPORT_H
#define ETWAS_TOOLS_REPORT_H

/*
 * `etwas report`: the contents of a trace over time, small enough for one page whatever the trace's
 * length.
 *
 * The files are read twice. The first reading counts everything as the other commands do. It finds
 * when the trace begins and ends, which spans were the slowest, and which names, span classes,
 * processes and stacks are largest. The second reading follows these over time, in
 * ETWAS_REPORT_COLUMNS columns; the rest is added up.
 *
 * --from, --until and --where limit events by name, by processor, and spans. The quality of the
 * recording is reported for the whole trace.
 *
 * Memory is bounded: what `stat`, `spans`, `stat --cpu` and `stat --heap` need together, and some 3
 * MB for the report. Each file adds 2 MB, or 3 MB if events are selected. The page has less than 3
 * MB of data.
 */

#include "report/axis.h"
#include "show/counts.h"
#include "show/cpu.h"
#include "show/heap.h"
#include "show/prove.h"
#include "show/spans.h"

enum {
    ETWAS_REPORT_NAMES = 24,
    ETWAS_REPORT_STREAMS = 64,
    ETWAS_REPORT_LOSSES = 64, /* different causes or processors */
    ETWAS_REPORT_SOURCES = 64,
    ETWAS_REPORT_CLASSES = 100,
    ETWAS_REPORT_MAPS = 6,    /* span classes shown over time */
    ETWAS_REPORT_CELLS = 144, /* cells of durations, 4 in each octave */
    ETWAS_REPORT_TREES = 10,
    ETWAS_REPORT_NODES = 200,
    ETWAS_REPORT_TREE_EVENTS = 150,
    ETWAS_REPORT_NAME_BYTES = 96, /* longest name of an event in a tree; others are cut */
    ETWAS_REPORT_FIELDS_BYTES = 160,
    ETWAS_REPORT_PROCESSORS = 64,
    ETWAS_REPORT_PROCESSES = 10,
    ETWAS_REPORT_STACKS = 40,
    ETWAS_REPORT_FRAMES = 40, /* in a stack */
    ETWAS_REPORT_TITLE_BYTES = 256,
    ETWAS_REPORT_STACK_LINES = 6, /* stacks shown over time */
};

/* When a processor's stream in a file has events. */
struct etwas_report_stream {
    int64_t first_ns;
    int64_t last_ns;
};

/* Usage of processors and processes. Threads with the same row number are added up. */
struct etwas_report_usage {
    struct etwas_cpu cpu;
    struct etwas_cpu_groups groups;        /* set at the end of the second reading */
    bool is_shown;                         /* the file has context switches */
    uint8_t *rows;                         /* rows of processes, by thread in order of appearance */
    uint32_t row_count;                    /* number of threads in the first reading */
    struct etwas_report_series *busy;      /* ETWAS_REPORT_PROCESSORS, then one for all others */
    struct etwas_report_series *unknown;   /* likewise: neither busy nor idle */
    struct etwas_report_series *processes; /* ETWAS_REPORT_PROCESSES, then one for all others */
    struct etwas_report_series ready;
    const struct etwas_report_axis *axis;
};

struct etwas_report_heap {
    struct etwas_heap heap;
    bool is_shown;                        /* the file has allocations */
    uint32_t stacks[ETWAS_REPORT_STACKS]; /* numbers of stacks, those that hold most first */
    uint32_t stack_count;
    struct etwas_report_series live;
    struct etwas_report_series lines[ETWAS_REPORT_STACK_LINES];
};

/* What is counted for one file. */
struct etwas_report_file {
    uint32_t index; /* among the files that could be opened */
    struct etwas_counts counts;
    struct etwas_counts narrowed;   /* limited by --from, --until and --where */
    struct etwas_counts *asked_for; /* one of the two */
    struct etwas_prove_session *session;
    struct etwas_report_stream streams[ETWAS_COUNTS_PROCESSORS];
    uint8_t stream_rows[ETWAS_COUNTS_PROCESSORS];
    uint8_t *name_rows;  /* indexed by the numbers of kinds, */
    uint32_t name_count; /* this many, as the first reading found */
    struct etwas_report_usage usage;
    struct etwas_report_heap heap;
    struct etwas_trace_losses losses;
    bool tells_again; /* another file reports the same losses, and they count there */
};

/* ---- over time ------------------------------------------------------------------------------- */

/* The last row counts all other names. */
struct etwas_report_rates {
    struct etwas_report_name {
        char *text; /* as in a JSON string, without quotes */
        uint64_t events;
        uint64_t outside; /* as in struct etwas_counts */
    } names[ETWAS_REPORT_NAMES];
    uint32_t count;
    uint64_t other_names;
    uint64_t other_events;
    uint64_t other_outside;
    struct etwas_report_series series[ETWAS_REPORT_NAMES + 1];
};

/* The last row is for all other streams. */
struct etwas_report_streams {
    struct {
        uint32_t file;
        uint32_t processor;
    } rows[ETWAS_REPORT_STREAMS];
    uint32_t count;
    uint64_t other_streams;
    struct etwas_report_series series[ETWAS_REPORT_STREAMS + 1];
};

struct etwas_report_losses {
    struct etwas_report_loss {
        uint32_t file;
        etwas_damage_kind damage; /* NONE: it is not damage */
        uint32_t cause;           /* ETWAS_LOST_*: by the session; 0: by the kernel, or damage */
        uint32_t processor;       /* ETWAS_LOST_ANYWHERE: not known */
        uint64_t count;           /* lost events, or occurrences of damage */
        uint64_t bytes;           /* skipped by the damage */
        struct etwas_report_series series;
    } rows[ETWAS_REPORT_LOSSES];
    uint32_t count;
    uint64_t others; /* losses of further causes and processors */
};

struct etwas_report_map {
    uint32_t class_index;
    struct etwas_histogram now; /* the current column */
    struct etwas_report_series count;
    struct etwas_report_series quantiles[ETWAS_SPANS_QUANTILES];
    uint32_t cells[ETWAS_REPORT_COLUMNS][ETWAS_REPORT_CELLS];
};

struct etwas_report_latencies {
    const struct etwas_spans_class **sorted;
    uint32_t class_count;
    struct etwas_report_map *maps;
    uint32_t map_count;
    uint8_t numbers[ETWAS_SPAN_CLASSES]; /* map number from 1, by class; 0: none */
};

struct etwas_report_tree {
    struct etwas_report_tree_event {
        uint32_t node;
        uint32_t thread;
        uint64_t at_ns;
        char name[ETWAS_REPORT_NAME_BYTES];
        char fields[ETWAS_REPORT_FIELDS_BYTES];
    } events[ETWAS_REPORT_TREE_EVENTS];
    uint32_t count;
    uint64_t left_out;
};

struct etwas_report {
    struct etwas_spans_request spans; /* also has the files and the descriptions of their events */
    struct etwas_parts parts;
    struct etwas_report_file
        *files[ETWAS_INPUT_FILES]; /* by number - 1; NULL: could not be opened */
    struct etwas_prove_session *sessions;
    uint32_t path_count;
    struct etwas_report_axis axis;
    struct etwas_report_rates rates;
    struct etwas_report_streams streams;
    struct etwas_report_losses losses;
    struct etwas_report_latencies latencies;
    struct etwas_report_tree *trees;     /* one for each of spans.trees */
    struct etwas_current_event current;  /* for events in trees */
    struct etwas_current_event filtered; /* the event that --where is evaluated for */
    etwas_spans *durations;              /* NULL: --where does not use durations */
    bool out_of_memory;

    /* The current event. */
    const struct etwas_input *input;
    EVENT_RECORD *record;
    int64_t time_ns;
    struct etwas_moment moment;
    bool is_inside; /* it is inside the window */

    struct etwas_output scratch; /* for texts of an event in a tree */
};

/* ---- read.c ---------------------------------------------------------------------------------- */

/* Reads everything. Returns the exit status; if out_of_memory is set, there is nothing to show. */
int etwas_report_read(struct etwas_report *report, char *const *paths, uint32_t count);

void etwas_report_free(struct etwas_report *report);

/* Returns the counts of an input's file. */
struct etwas_report_file *etwas_report_file_of(const struct etwas_report *report,
                                               const struct etwas_input *input);

/* Returns the exit status as if this were the only file. */
int etwas_report_result(const struct etwas_input *input);

/* Writes one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_report_json(struct etwas_output *output, struct etwas_report *report);

/* Writes the same as a page that draws it. */
void etwas_report_html(struct etwas_output *output, struct etwas_report *report);

/* ---- the parts ------------------------------------------------------------------------------- */

/*
 * …_choose decides, between the two readings, what the second follows. …_add_record takes an event
 * of the second reading. …_json writes a member of the report.
 */

/* asked.c: the selection of events */

/* Returns whether only a part of the events is selected. */
bool etwas_report_is_narrowed(const struct etwas_report *report);

/* Starts a reading. Returns false without memory. */
bool etwas_report_asked_begin(struct etwas_report *report);

/*
 * Returns whether the current event is selected. Call it for every event of the window, in time
 * order.
 */
bool etwas_report_is_asked_for(struct etwas_report *report);

void etwas_report_asked_json(struct etwas_output *output, const struct etwas_report *report);

/* health.c: files and sessions, for the whole trace */
void etwas_report_health_json(struct etwas_output *output, const struct etwas_report *report);

/* losses.c */
void etwas_report_losses_add_record(struct etwas_report *report);
void etwas_report_losses_damage(struct etwas_report *report, const struct etwas_input *input,
                                const etwas_damage *damage);
/* Reads the losses of the session from an open file. Returns false if there is no memory. */
bool etwas_report_losses_read(struct etwas_report *report, const struct etwas_input *input);
void etwas_report_losses_json(struct etwas_output *output, const struct etwas_report *report);

/* streams.c */
void etwas_report_streams_note(struct etwas_report *report); /* in the first reading */
void etwas_report_streams_choose(struct etwas_report *report);
void etwas_report_streams_add_record(struct etwas_report *report);
void etwas_report_streams_json(struct etwas_output *output, const struct etwas_report *report);

/* rates.c */
void etwas_report_rates_choose(struct etwas_report *report);
void etwas_report_rates_add_record(struct etwas_report *report);
void etwas_report_rates_json(struct etwas_output *output, const struct etwas_report *report);
void etwas_report_rates_free(struct etwas_report *report);

/* latencies.c */
void etwas_report_latencies_choose(struct etwas_report *report);
void etwas_report_latencies_add_record(struct etwas_report *report,
                                       const struct etwas_spans_open *open, uint64_t duration_ns);
/* Finishes the current column. */
void etwas_report_latencies_close(struct etwas_report *report);
void etwas_report_latencies_json(struct etwas_output *output, const struct etwas_report *report);
void etwas_report_latencies_free(struct etwas_report *report);

/* trees.c */
void etwas_report_trees_choose(struct etwas_report *report);
void etwas_report_trees_add_record(struct etwas_report *report,
                                   const struct etwas_spans_open *open);
void etwas_report_trees_json(struct etwas_output *output, const struct etwas_report *report);
void etwas_report_trees_free(struct etwas_report *report);

/* usage.c */
void etwas_report_usage_choose(struct etwas_report *report, struct etwas_input *input);
void etwas_report_usage_finish(struct etwas_report *report, const struct etwas_input *input);
void etwas_report_usage_json(struct etwas_output *output, const struct etwas_report *report);
void etwas_report_usage_free(struct etwas_report_usage *usage);

/* heap.c */
void etwas_report_heap_choose(struct etwas_report *report, const struct etwas_input *input);
/* Finishes the columns before `column`, with the blocks that are live now. */
void etwas_report_heap_close(struct etwas_report *report, uint32_t column);
void etwas_report_heap_json(struct etwas_output *output, struct etwas_report *report);

#endif
