/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_REPORT_H
#define ETWAS_TOOLS_REPORT_H

/*
 * `etwas report`: what is in a trace, over time, small enough for one page whatever the trace's
 * length.
 *
 * The files are read twice. The first time everything is counted as the other commands count it, so
 * it is known when the trace begins and ends, and what is most: of names, of classes of spans, of
 * processes, of stacks, and which spans were the slowest. The second time that is followed over
 * time, in ETWAS_REPORT_COLUMNS columns; the rest is put together.
 *
 * --from, --until and --where limit events by name, by processor, and spans. How well the trace was
 * recorded is reported for all of it.
 *
 * Memory is bounded by what `stat`, `spans`, `stat --cpu` and `stat --heap` need together, 2 MB for
 * each file, 3 MB if only a part is asked for, and some 3 MB for what is here. The data is less
 * than 3 MB with the page around it.
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
    ETWAS_REPORT_LOSSES = 64, /* of different causes, or processors */
    ETWAS_REPORT_SOURCES = 64,
    ETWAS_REPORT_CLASSES = 100,
    ETWAS_REPORT_MAPS = 6,    /* classes of spans over time */
    ETWAS_REPORT_CELLS = 144, /* of durations, 4 from a power of 2 to the next */
    ETWAS_REPORT_TREES = 10,
    ETWAS_REPORT_NODES = 200,
    ETWAS_REPORT_TREE_EVENTS = 150,
    ETWAS_REPORT_NAME_BYTES = 96, /* of an event in a tree; what is longer is cut */
    ETWAS_REPORT_FIELDS_BYTES = 160,
    ETWAS_REPORT_PROCESSORS = 64,
    ETWAS_REPORT_PROCESSES = 10,
    ETWAS_REPORT_STACKS = 40,
    ETWAS_REPORT_FRAMES = 40, /* of a stack */
    ETWAS_REPORT_TITLE_BYTES = 256,
    ETWAS_REPORT_STACK_LINES = 6, /* stacks over time */
};

/* When a processor's stream of a file has events. */
struct etwas_report_stream {
    int64_t first_ns;
    int64_t last_ns;
};

/* Threads of the same rows ran together. */
struct etwas_report_usage {
    struct etwas_cpu cpu;
    struct etwas_cpu_groups groups;        /* of the second time, when all is read */
    bool is_shown;                         /* there are context switches */
    uint8_t *rows;                         /* of the processes, by thread as they were met */
    uint32_t row_count;                    /* threads that there were the first time */
    struct etwas_report_series *busy;      /* ETWAS_REPORT_PROCESSORS, and all others */
    struct etwas_report_series *unknown;   /* likewise: neither busy nor idle */
    struct etwas_report_series *processes; /* ETWAS_REPORT_PROCESSES, and all others */
    struct etwas_report_series ready;
    const struct etwas_report_axis *axis;
};

struct etwas_report_heap {
    struct etwas_heap heap;
    bool is_shown;                        /* there are allocations */
    uint32_t stacks[ETWAS_REPORT_STACKS]; /* their numbers, those that hold most first */
    uint32_t stack_count;
    struct etwas_report_series live;
    struct etwas_report_series lines[ETWAS_REPORT_STACK_LINES];
};

/* What is counted of one file. */
struct etwas_report_file {
    uint32_t index; /* among those that could be opened */
    struct etwas_counts counts;
    struct etwas_counts narrowed;   /* by --from, --until and --where */
    struct etwas_counts *asked_for; /* one of both */
    struct etwas_prove_session *session;
    struct etwas_report_stream streams[ETWAS_COUNTS_PROCESSORS];
    uint8_t stream_rows[ETWAS_COUNTS_PROCESSORS];
    uint8_t *name_rows;  /* by the kinds' numbers, */
    uint32_t name_count; /* of which there were so many the first time */
    struct etwas_report_usage usage;
    struct etwas_report_heap heap;
    struct etwas_trace_losses losses;
    bool tells_again; /* another file tells of these too, and they count there */
};

/* ---- over time ------------------------------------------------------------------------------- */

/* The last row is of all other names. */
struct etwas_report_rates {
    struct etwas_report_name {
        char *text; /* the inside of a JSON string */
        uint64_t events;
        uint64_t outside; /* of these, as in struct etwas_counts */
    } names[ETWAS_REPORT_NAMES];
    uint32_t count;
    uint64_t other_names;
    uint64_t other_events;
    uint64_t other_outside;
    struct etwas_report_series series[ETWAS_REPORT_NAMES + 1];
};

/* The last row is of all other streams. */
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
        etwas_damage_kind damage; /* NONE: it is none */
        uint32_t cause;           /* ETWAS_LOST_*, by the session; 0: by the kernel, or damage */
        uint32_t processor;       /* ETWAS_LOST_ANYWHERE: not known */
        uint64_t count;           /* events, or damages */
        uint64_t bytes;           /* that damage skipped */
        struct etwas_report_series series;
    } rows[ETWAS_REPORT_LOSSES];
    uint32_t count;
    uint64_t others; /* of more causes and processors */
};

struct etwas_report_map {
    uint32_t class_index;
    struct etwas_histogram now; /* of the column that the reading has come to */
    struct etwas_report_series count;
    struct etwas_report_series quantiles[ETWAS_SPANS_QUANTILES];
    uint32_t cells[ETWAS_REPORT_COLUMNS][ETWAS_REPORT_CELLS];
};

struct etwas_report_latencies {
    const struct etwas_spans_class **sorted;
    uint32_t class_count;
    struct etwas_report_map *maps;
    uint32_t map_count;
    uint8_t numbers[ETWAS_SPAN_CLASSES]; /* of maps from 1, by class; 0: none */
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
    struct etwas_spans_request
        spans; /* with the files that are read, and what describes their events */
    struct etwas_parts parts;
    struct etwas_report_file
        *files[ETWAS_INPUT_FILES]; /* by number - 1; NULL: it could not be opened */
    struct etwas_prove_session *sessions;
    uint32_t path_count;
    struct etwas_report_axis axis;
    struct etwas_report_rates rates;
    struct etwas_report_streams streams;
    struct etwas_report_losses losses;
    struct etwas_report_latencies latencies;
    struct etwas_report_tree *trees;     /* as spans.trees */
    struct etwas_current_event current;  /* of an event in a tree */
    struct etwas_current_event filtered; /* what --where is asked of */
    etwas_spans *durations;              /* which it asks for; NULL: it does not */
    bool out_of_memory;

    /* The event that is being taken. */
    const struct etwas_input *input;
    EVENT_RECORD *record;
    int64_t time_ns;
    struct etwas_moment moment;
    bool is_inside; /* of the window */

    struct etwas_output scratch; /* texts of an event in a tree */
};

/* ---- read.c ---------------------------------------------------------------------------------- */

/*
 * Reads everything. Returns what the program exits with; with out_of_memory there is nothing to
 * show.
 */
int etwas_report_read(struct etwas_report *report, char *const *paths, uint32_t count);

void etwas_report_free(struct etwas_report *report);

/* The file of an input. */
struct etwas_report_file *etwas_report_file_of(const struct etwas_report *report,
                                               const struct etwas_input *input);

/* What the program would exit with if there were only this file. */
int etwas_report_result(const struct etwas_input *input);

/* One JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_report_json(struct etwas_output *output, struct etwas_report *report);

/* The same in a page that draws it. */
void etwas_report_html(struct etwas_output *output, struct etwas_report *report);

/* ---- the parts ------------------------------------------------------------------------------- */

/*
 * …_choose: between the two readings, decides what is followed. …_take: an event of the second.
 * …_json: a member of the report.
 */

/* asked.c: what is asked for. */

/* Is only a part of the events asked for? */
bool etwas_report_is_narrowed(const struct etwas_report *report);

/* Before each reading. False without memory. */
bool etwas_report_asked_begin(struct etwas_report *report);

/* Every event of the window comes by here, in the order of time, and is asked for or not. */
bool etwas_report_is_asked_for(struct etwas_report *report);

void etwas_report_asked_json(struct etwas_output *output, const struct etwas_report *report);

/* health.c: files and sessions, of the whole trace. */
void etwas_report_health_json(struct etwas_output *output, const struct etwas_report *report);

/* losses.c */
void etwas_report_losses_add_record(struct etwas_report *report);
void etwas_report_losses_damage(struct etwas_report *report, const struct etwas_input *input,
                                const etwas_damage *damage);
/* Reads the losses of the session from an open file. Returns false if there is no memory. */
bool etwas_report_losses_read(struct etwas_report *report, const struct etwas_input *input);
void etwas_report_losses_json(struct etwas_output *output, const struct etwas_report *report);

/* streams.c */
void etwas_report_streams_note(struct etwas_report *report); /* an event of the first reading */
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
/* Nothing more comes into the column that the reading has come to. */
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
/* What lives now did so up to that column. */
void etwas_report_heap_close(struct etwas_report *report, uint32_t column);
void etwas_report_heap_json(struct etwas_output *output, struct etwas_report *report);

#endif
