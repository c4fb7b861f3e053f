/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DIFF_H
#define ETWAS_TOOLS_DIFF_H

/*
 * `etwas diff`: which classes of instances and activities took longer, or were more frequent, in
 * some traces than in others, and which other events were more frequent.
 *
 * Each file is a run, cut into equal slices of time as it is read: 8 to 16 of them, two becoming
 * one when there are more. If there are ETWAS_DIFF_LEAST_UNITS runs on each side, runs are
 * compared, otherwise their slices. Slices are few and long: what is near in time is alike, so many
 * short ones would pretend to more knowledge than there is.
 *
 * Memory is bounded: by the spans that are open at once, and one row of slices for each class and
 * run.
 */

#include "commands.h"
#include "diff/judge.h"
#include "trace/condition.h"
#include "trace/input.h"
#include "trace/span_classes.h"
#include "trace/window.h"

enum {
    ETWAS_DIFF_SLICES = 16,
    ETWAS_DIFF_FILES = 64, /* a side */
};

/* Spans that ended in a slice, or other events in it. */
struct etwas_diff_sum {
    uint64_t count;
    double ns;        /* of spans, as the next two */
    double logs;      /* of each duration in ns, at least 1 */
    double errors_ns; /* how far the clock lets them be off, together; infinite: not known */
};

struct etwas_diff_run {
    char *path;
    uint64_t place; /* the file's */
    uint64_t events_lost;
    bool has_time;
    int64_t begin_ns; /* of the first event, or of what the file says that it covers */
    int64_t end_ns;
    int64_t slice_ns;
    struct etwas_diff_sum
        *sums[ETWAS_SPAN_CLASSES]; /* ETWAS_DIFF_SLICES of each; NULL: none ended */
};

/* What is compared of a class. */
enum etwas_diff_measure {
    ETWAS_DIFF_TYPICAL, /* the geometric mean of its durations */
    ETWAS_DIFF_MEAN,    /* the arithmetic one, which few slow ones move */
    ETWAS_DIFF_RATE,    /* how many ended, or were there, a second */
    ETWAS_DIFF_MEASURES
};

struct etwas_diff_finding {
    double first; /* of each side, ns or a second; NaN: it has none */
    double second;
    double ratio;
    struct etwas_diff_interval interval; /* of the ratio */
    double p;
    bool differs; /* surely, and by as much as was asked for */
};

struct etwas_diff_class {
    uint32_t number;
    bool is_of_span; /* else only the rate is compared */
    uint64_t counts[2];
    double error_ns[2]; /* of a duration, by the clock, on average */
    struct etwas_diff_finding findings[ETWAS_DIFF_MEASURES];
    double weight; /* by how much of a second in each second the sides differ */
};

struct etwas_diff {
    /* What is asked for. */
    const char *class_name; /* NULL: all */
    double confidence;
    double effect;            /* 0.05: what is less does not matter */
    int form;                 /* enum etwas_form */
    struct etwas_where where; /* of the END of spans, and of other events */
    struct etwas_field_paths field_paths;
    struct etwas_window window; /* of each run: +1 counts from its own first event */

    char *const *paths[2]; /* of the sides */
    uint32_t counts[2];

    /* What was found. */
    struct etwas_diff_run *runs; /* the first side's first */
    char **all_paths;            /* the second side's first: in this order descriptions are found */
    struct etwas_shared_descriptions shared;
    struct etwas_span_classes names;
    bool by_runs;
    uint32_t units[2];
    struct etwas_diff_class *classes; /* what differs first */
    uint32_t class_count;
    uint32_t differing;
    uint64_t other_classes; /* spans and events of classes that had no room */
    uint64_t events_lost[2];
    uint32_t overlapping[2]; /* runs with another of the same session */
    bool has_events[2];      /* in the window, of some run */
    bool out_of_memory;
};

/* ---- measure.c ---- */

/*
 * Reads all files into runs. A file that cannot be read whole is compared by what was read; one
 * that is no trace, not at all. Returns what the program exits with.
 */
int etwas_diff_read(struct etwas_diff *diff);

void etwas_diff_free(struct etwas_diff *diff);

/* ---- compare.c ---- */

/* Fills what was found. False: a side has too few units to say anything. */
bool etwas_diff_compare(struct etwas_diff *diff);

/* ---- text.c, json.c ---- */

/* "slower", "more frequent"; NULL: it does not differ. */
const char *etwas_diff_verdict(const struct etwas_diff_class *its, enum etwas_diff_measure measure);

void etwas_diff_text(struct etwas_output *output, const struct etwas_diff *diff);
void etwas_diff_json(struct etwas_output *output, const struct etwas_diff *diff, int result);

#endif
