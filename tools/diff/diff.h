/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DIFF_H
#define ETWAS_TOOLS_DIFF_H

/*
 * `etwas diff` finds the classes of instances and activities that took longer, or were more
 * frequent, in some traces than in others. It also finds other events that were more frequent.
 *
 * Each file is a run. While it is read, it is cut into 8 to 16 equal slices of time; when there
 * would be more, adjacent slices are merged in pairs. If each side has ETWAS_DIFF_LEAST_UNITS runs,
 * runs are compared, otherwise their slices. Slices are few and long because events close in time
 * are alike: many short slices would look like more independent data than there is.
 *
 * Memory is bounded by the spans that are open at once, and one row of slices for each class and
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
    ETWAS_DIFF_FILES = 64, /* for each side */
};

/* Sums over the spans that ended in a slice, or over the other events in it. */
struct etwas_diff_sum {
    uint64_t count;
    double ns;        /* sum of durations; like the next two only for spans */
    double logs;      /* sum of log(duration in ns, at least 1) */
    double errors_ns; /* sum of the durations' clock errors; infinite: one is unknown */
};

struct etwas_diff_run {
    char *path;
    uint64_t place; /* etwas_input.place of the file */
    uint64_t events_lost;
    bool has_time;
    int64_t begin_ns; /* the first event, or the start of the coverage that the file states */
    int64_t end_ns;
    int64_t slice_ns;
    /* ETWAS_DIFF_SLICES sums of each class. NULL: the class has no events. */
    struct etwas_diff_sum *sums[ETWAS_SPAN_CLASSES];
};

/* The values of a class that are compared. */
enum etwas_diff_measure {
    ETWAS_DIFF_TYPICAL, /* geometric mean of the durations */
    ETWAS_DIFF_MEAN,    /* arithmetic mean, which a few slow spans can move */
    ETWAS_DIFF_RATE,    /* spans that ended, or events, per second */
    ETWAS_DIFF_MEASURES
};

struct etwas_diff_finding {
    double first;                        /* the value of side A, in ns or per second; NaN: none */
    double second;                       /* likewise of side B */
    double ratio;                        /* second / first */
    struct etwas_diff_interval interval; /* confidence interval of the ratio */
    double p;
    bool differs; /* with the requested confidence, and by the requested effect at least */
};

struct etwas_diff_class {
    uint32_t number; /* in etwas_diff.names */
    bool is_of_span; /* else only the rate is compared */
    uint64_t counts[2];
    double error_ns[2]; /* mean clock error of a duration, of each side */
    struct etwas_diff_finding findings[ETWAS_DIFF_MEASURES];
    double weight; /* difference of the sides' busy time, in seconds per second */
};

struct etwas_diff {
    /* The request. */
    const char *class_name; /* NULL: all */
    double confidence;
    double effect;            /* 0.05: smaller differences do not count */
    int form;                 /* enum etwas_form */
    struct etwas_where where; /* for the START or END of spans, and for other events */
    struct etwas_field_paths field_paths;
    struct etwas_window window; /* applied to each run: +1 counts from the run's own first event */

    char *const *paths[2]; /* the files of each side */
    uint32_t counts[2];

    /* The results. */
    struct etwas_diff_run *runs; /* side A first, then side B */
    char **all_paths;            /* side B first: the order in which descriptions are looked up */
    struct etwas_shared_descriptions shared;
    struct etwas_span_classes names;
    bool by_runs;
    uint32_t units[2];
    struct etwas_diff_class *classes; /* classes that differ first */
    uint32_t class_count;
    uint32_t differing;
    uint64_t other_classes; /* spans and events of classes beyond ETWAS_SPAN_CLASSES */
    uint64_t events_lost[2];
    uint32_t overlapping[2]; /* runs that overlap another run of the same session */
    bool has_events[2];      /* some run has events in the window */
    bool out_of_memory;
};

/* ---- measure.c ---- */

/*
 * Reads all files into runs. If a file is damaged, the part that could be read is compared. If a
 * file cannot be opened, nothing is compared. Returns the exit status of the program.
 */
int etwas_diff_read(struct etwas_diff *diff);

void etwas_diff_free(struct etwas_diff *diff);

/* ---- compare.c ---- */

/* Fills the results. Returns false if a side has too few units to compare. */
bool etwas_diff_compare(struct etwas_diff *diff);

/* ---- text.c, json.c ---- */

/* Returns "slower", "more frequent" and the like; NULL if the measure does not differ. */
const char *etwas_diff_verdict(const struct etwas_diff_class *its, enum etwas_diff_measure measure);

void etwas_diff_text(struct etwas_output *output, const struct etwas_diff *diff);
void etwas_diff_json(struct etwas_output *output, const struct etwas_diff *diff, int result);

#endif
