/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_H
#define ETWAS_TOOLS_CONVERT_H

/*
 * Shared by the targets of `etwas convert`. Each target has a file of its own. It reads the events
 * and writes a format that other tools read.
 */

#include "cli/output_file.h"
#include "trace/current_event.h"
#include "trace/losses.h"
#include "trace/window.h"

/* How the times of a file are converted. */
struct etwas_convert_clock {
    bool counts_ns;
    bool is_plain; /* the shown time is the recorded one plus offset_ns */
    int64_t offset_ns;
    int64_t asked_ns;  /* the last time that the trace converted */
    uint64_t error_ns; /* error of asked_ns */
};

struct etwas_convert {
    const struct etwas_convert_target *target;
    struct etwas_output_file output_file;
    char *const *paths; /* of the traces */
    uint32_t path_count;
    struct etwas_output *output; /* NULL: the output is a folder */
    struct etwas_where where;
    struct etwas_field_paths field_paths;
    struct etwas_window window;
    bool compress;
    struct etwas_input_run run;
    struct etwas_all_descriptions descriptions;
    struct etwas_convert_clock clocks[ETWAS_INPUT_FILES]; /* by the file's number - 1 */
    struct etwas_trace_losses losses[ETWAS_INPUT_FILES];  /* by the file's number - 1 */
    bool out_of_memory;
    bool is_empty;   /* no event matches, which was reported */
    bool is_refused; /* invalid input or --where, which was reported; drops the output */

    /* The event that etwas_convert_reader.event is called for. */
    struct etwas_current_event current;
    int64_t time_ns;    /* since 1970, as dump shows it, unaffected by steps of the wall clock */
    uint64_t error_ns;  /* UINT64_MAX: unknown */
    uint32_t span_role; /* ETWAS_SPAN_*; set if the reader wants spans */
    const etwas_span *span;
    etwas_spans *spans;
    bool is_wanted; /* --where and the window hold */
    const struct etwas_convert_reader *reader;
    void *state; /* the target's own data */

    struct etwas_output scratch; /* for building a text of the event */
};

/* A target's callbacks. */
struct etwas_convert_reader {
    bool wants_spans;
    /*
     * Called when all files are open, before the first event. Returns false to read none. May be
     * NULL.
     */
    bool (*begin)(struct etwas_convert *convert);
    bool wants_all; /* `event` also gets events that are not wanted */
    void (*event)(struct etwas_convert *convert);
    /*
     * Receives events that were not requested but are needed to interpret those that were: schemas,
     * events of the class EventTrace, and events about images and kernel symbols. convert->current
     * may be another event. May be NULL.
     */
    void (*beside)(struct etwas_convert *convert, const struct etwas_input *input,
                   const EVENT_RECORD *record);
    /* The file is damaged between the previous event and the next one. May be NULL. */
    void (*gap)(struct etwas_convert *convert, const struct etwas_input *input,
                const etwas_damage *damage);
};

struct etwas_convert_target {
    const char *name;                          /* for --to */
    bool is_folder;                            /* the output is a folder */
    bool is_compressible;                      /* accepts --compress */
    bool needs_file;                           /* the output is not written sequentially */
    bool is_binary;                            /* refused on a terminal */
    int (*run)(struct etwas_convert *convert); /* returns the exit status */
};

/*
 * Reads all files from beginning to end, reports their problems, and returns the exit status. May
 * be called again; files that cannot be opened are reported the first time only.
 */
int etwas_convert_read(struct etwas_convert *convert, const struct etwas_convert_reader *reader);

/* Frees what reading allocated; to be called once. */
void etwas_convert_free(struct etwas_convert *convert);

extern const struct etwas_convert_target etwas_convert_ndjson;
extern const struct etwas_convert_target etwas_convert_csv;
extern const struct etwas_convert_target etwas_convert_chrome;
extern const struct etwas_convert_target etwas_convert_ctf;
extern const struct etwas_convert_target etwas_convert_etl;
extern const struct etwas_convert_target etwas_convert_perfetto;
extern const struct etwas_convert_target etwas_convert_otlp;
extern const struct etwas_convert_target etwas_convert_folded;
extern const struct etwas_convert_target etwas_convert_speedscope;
extern const struct etwas_convert_target etwas_convert_pprof;

#endif
