/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_H
#define ETWAS_TOOLS_CONVERT_H

/*
 * What the targets of `etwas convert` share: one file a target, which reads the events once or
 * twice and writes what another tool reads.
 */

#include "cli/output_file.h"
#include "trace/current_event.h"
#include "trace/losses.h"
#include "trace/window.h"

/* How the times of a file are made. */
struct etwas_convert_clock {
    bool counts_ns;
    bool is_plain; /* what is shown is what was recorded, and offset_ns more */
    int64_t offset_ns;
    int64_t asked_ns;  /* the time that was asked for last, */
    uint64_t error_ns; /* and how well it is known */
};

struct etwas_convert {
    const struct etwas_convert_target *target;
    struct etwas_output_file output_file;
    char *const *paths; /* of the traces */
    uint32_t path_count;
    struct etwas_output *output; /* a file's; a folder has none */
    struct etwas_where where;
    struct etwas_field_paths field_paths;
    struct etwas_window window;
    bool compress;
    struct etwas_input_run run;
    struct etwas_all_descriptions descriptions;
    struct etwas_convert_clock clocks[ETWAS_INPUT_FILES]; /* by the file's number - 1 */
    struct etwas_trace_losses losses[ETWAS_INPUT_FILES];  /* likewise */
    bool out_of_memory;
    bool is_empty;   /* there is nothing of what is asked for, which was told */
    bool is_refused; /* the input or --where is, which was told: nobody gets the output */

    /* The event that etwas_convert_reader.event is called for. */
    struct etwas_current_event current;
    int64_t time_ns;    /* since 1970, as dump shows it: no step of the wall clock disturbs it */
    uint64_t error_ns;  /* UINT64_MAX: not known */
    uint32_t span_role; /* ETWAS_SPAN_*; of a reader that wants spans */
    const etwas_span *span;
    etwas_spans *spans;
    bool is_wanted; /* --where holds */
    const struct etwas_convert_reader *reader;
    void *state; /* the target's */

    struct etwas_output scratch; /* a text of the event while it is made, or changed */
};

/* The receiver of the events. */
struct etwas_convert_reader {
    bool wants_spans;
    /* All files are open, and no event was read. False: none is to be. May be NULL. */
    bool (*begin)(struct etwas_convert *convert);
    bool wants_all; /* those that are not wanted too */
    void (*event)(struct etwas_convert *convert);
    /*
     * What is not asked for, and others need to understand what is: records that describe, of the
     * class EventTrace, and those that say what an address is. convert->subject is not read. May be
     * NULL.
     */
    void (*beside)(struct etwas_convert *convert, const struct etwas_input *input,
                   const EVENT_RECORD *record);
    /* Something is damaged between the event before and the next one; may be NULL. */
    void (*gap)(struct etwas_convert *convert, const struct etwas_input *input,
                const etwas_damage *damage);
};

struct etwas_convert_target {
    const char *name;     /* of --to */
    bool is_folder;       /* what it makes is a folder, not a file */
    bool is_compressible; /* --compress is for it */
    bool needs_file;      /* which is not written from its beginning to its end */
    bool is_binary;       /* not for a terminal */
    int (*run)(struct etwas_convert *convert); /* returns what the program exits with */
};

/*
 * All files from their beginning to their end. May be called again; what is wrong with them is told
 * the first time.
 */
int etwas_convert_read(struct etwas_convert *convert, const struct etwas_convert_reader *reader);

/* Closes and frees what reading has left in it, once. */
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
