/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DUMP_H
#define ETWAS_TOOLS_DUMP_H

/*
 * What the output forms of `etwas dump` share. Each form is one function that is called for each
 * event.
 */

#include "address/addresses.h"
#include "cli/command.h"
#include "commands.h"
#include "event/fields.h"
#include "trace/current_event.h"
#include "trace/input.h"
#include "trace/parts.h"
#include "trace/window.h"

/* The clock that an event's time is shown by, and its form. */
enum etwas_dump_clock {
    ETWAS_DUMP_TIME,     /* ProcessTrace's: session start plus QPC or session clock */
    ETWAS_DUMP_LOCAL,    /* the same in this machine's zone */
    ETWAS_DUMP_RELATIVE, /* the same, since the first event */
    ETWAS_DUMP_RAW,      /* as recorded */
    ETWAS_DUMP_QPC,      /* with its error */
    ETWAS_DUMP_SYSTEM,   /* likewise: the wall clock as it was then */
};

/* A property, or a requested field. */
struct etwas_dump_column {
    enum etwas_property property; /* ETWAS_PROPERTY_COUNT: a field */
    uint32_t path;
    const char *name; /* as given; NULL: the property's own name */
};

/* A kind of event without a description. */
struct etwas_dump_kind {
    etwas_guid guid;
    uint16_t id;
    uint8_t version;
    uint8_t opcode;
    uint32_t name; /* a hash of the name: all TraceLogging events may have one id */
};
_Static_assert(sizeof(struct etwas_dump_kind) == 24, "compared as bytes, without padding");

/* Processor, process and thread as text, reused for events with the same ones. */
struct etwas_dump_origin {
    uint32_t processor;
    uint32_t process;
    uint32_t thread;
    const struct etwas_input *input; /* NULL: the entry is empty */
    char text[32];                   /* at most 5, 10 and 10 digits, and two spaces */
    size_t bytes;
};

enum {
    ETWAS_DUMP_COLUMNS = 64,
    ETWAS_DUMP_COLUMN_NAME_BYTES = ETWAS_FIELD_PATH_BYTES + 8,
    ETWAS_DUMP_ORIGINS = 64,  /* a power of 2 */
    ETWAS_DUMP_REPORTED = 64, /* kinds of events whose malformed schema can be reported */
};

struct etwas_dump {
    const char *command; /* such as "dump", for messages */
    int form;            /* enum etwas_form */
    bool all;            /* also show records that describe the file, its events and its images */
    bool hex;            /* decode nothing */
    bool symbols;        /* show stacks by names */
    bool wants_stacks;
    bool has_stack;     /* an event that was shown has a stack */
    int clock;          /* enum etwas_dump_clock */
    int64_t first_ns;   /* time of the first event, for ETWAS_DUMP_RELATIVE */
    bool several_files; /* each event shows which file it is from */
    uint64_t limit;     /* the most events to show */
    uint64_t shown;
    struct etwas_input_run *run;
    struct etwas_output *output;
    struct etwas_dump_column columns[ETWAS_DUMP_COLUMNS];
    uint32_t column_count;
    const char *columns_text; /* the text of --columns; NULL: not given */
    struct etwas_field_paths paths;
    struct etwas_window window; /* resolved */
    struct etwas_where where;
    bool wants_durations;
    bool wants_process;  /* show names of processes and threads, from earlier kernel events */
    bool wants_raw_time; /* show it beside another time */
    etwas_spans *spans;  /* NULL: durations are not wanted */
    struct etwas_current_event current;
    struct etwas_dump_kind reported[ETWAS_DUMP_REPORTED];
    uint32_t reported_count;
    uint64_t beyond; /* events whose time does not fit into 64 bits, and was not shown as a date */
    struct etwas_all_descriptions descriptions;
    struct etwas_addresses addresses[ETWAS_INPUT_FILES]; /* one per run->inputs, if wanted */
    struct etwas_parts parts;
    struct etwas_dump_origin origins[ETWAS_DUMP_ORIGINS];
};

extern const char *const etwas_dump_clock_names[]; /* indexed by enum etwas_dump_clock, then NULL */

/* The options of commands that show events. */
#define ETWAS_DUMP_COLUMNS_OPTION                                                                  \
    {                                                                                              \
        .name = "columns", .letter = 'c', .value = "LIST", .group = "What is shown",               \
        .help = "these columns, in this order; ? lists them all", .type = ETWAS_OPTION_READ,       \
        .read = etwas_dump_read_columns, ETWAS_PLACE(struct etwas_dump, columns_text),             \
    }

/* Reads the value of --columns. If it is "?", lists all columns and exits. */
bool etwas_dump_read_columns(const struct etwas_option_use *use);

/* Prepares a struct etwas_dump of zeroes for reading options. Messages name `command`. */
void etwas_dump_init(struct etwas_dump *dump, const char *command, struct etwas_input_run *run);

/*
 * Checks the options together, and chooses the columns. On failure prints a message, sets *result
 * to the exit status and returns false.
 */
bool etwas_dump_finish_options(struct etwas_dump *dump, const struct etwas_command *command,
                               int *result);

/*
 * Shows the events of these traces with the options and columns chosen; `run` and `output` must be
 * set. If run->live is set, `paths` are the names of sessions. Frees what it holds. Returns the
 * exit status.
 */
int etwas_dump_run(struct etwas_dump *dump, char *const *paths, uint32_t count);

/* Returns the addresses of the current event's file. */
static inline struct etwas_addresses *etwas_dump_addresses(struct etwas_dump *dump)
{
    return &dump->addresses[dump->current.input - dump->run->inputs];
}

/* Returns the event's stack. It is unwound only with --symbols. */
static inline struct etwas_event_stack etwas_dump_stack(struct etwas_dump *dump)
{
    return dump->symbols ? etwas_addresses_stack(etwas_dump_addresses(dump), dump->current.record)
                         : etwas_event_stack(dump->current.record);
}

/* Returns whether times are ProcessTrace's, in any form. */
static inline bool etwas_dump_is_by_trace(const struct etwas_dump *dump)
{
    return dump->clock == ETWAS_DUMP_TIME || dump->clock == ETWAS_DUMP_LOCAL ||
           dump->clock == ETWAS_DUMP_RELATIVE;
}

/* Writes the event's own time, which is ProcessTrace's. */
void etwas_dump_print_time(struct etwas_output *output, const struct etwas_dump *dump);

/* Converts a raw stamp to dump->clock, which must be QPC or SYSTEM. */
etwas_clock_time etwas_dump_convert(const struct etwas_dump *dump, int64_t raw);

/* Does the same with the event's own stamp. */
etwas_clock_time etwas_dump_time(const struct etwas_dump *dump);

/* Writes a raw stamp in the form of the events' times, by dump->clock. */
void etwas_dump_print_stamp(struct etwas_output *output, const struct etwas_dump *dump,
                            int64_t raw);

/*
 * Writes what a number means; with --symbols also what is at an address. Callback of struct
 * etwas_fields_reader.
 */
bool etwas_dump_print_value(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                            const etwas_value *value);

/* Writes the same about times and addresses as members of an event's JSON object. */
void etwas_dump_print_json_values(struct etwas_dump *dump);

/*
 * Chooses the columns of --columns, or the default ones. Returns false after a message on standard
 * error.
 */
bool etwas_dump_choose_columns(struct etwas_dump *dump);

/*
 * Returns the title of a column, which depends on dump->clock for times. A name that was given is
 * copied to `given`.
 */
const char *etwas_dump_column_name(const struct etwas_dump *dump,
                                   const struct etwas_dump_column *column,
                                   char given[ETWAS_DUMP_COLUMN_NAME_BYTES]);

/*
 * Writes what a column shows of the event, safe on a terminal. If the event has none, returns false
 * and writes nothing. `quoted`: strings inside are quoted.
 */
bool etwas_dump_print_column(struct etwas_output *output, struct etwas_dump *dump,
                             const struct etwas_dump_column *column, bool quoted);

/*
 * Reports, once for each kind of event, that the payload ends before its fields or arguments, or
 * that a field is not described.
 */
void etwas_dump_report_rest(struct etwas_dump *dump, const struct etwas_fields_rest *rest);

/*
 * Reports, once for a command, that times were not shown as dates, since 64 bits cannot hold them.
 */
void etwas_dump_report_beyond(const struct etwas_dump *dump);

/* Reports, once for each kind of event, that `what` makes no sense. */
void etwas_dump_report_senseless(struct etwas_dump *dump, const char *what);

/* Write a line of columns, and the line with their names. */
void etwas_dump_text(struct etwas_dump *dump);
void etwas_dump_text_title(struct etwas_dump *dump);

/* Write the same as CSV, RFC 4180. */
void etwas_dump_csv(struct etwas_dump *dump);
void etwas_dump_csv_title(struct etwas_dump *dump);

/* Writes a line with one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_dump_json(struct etwas_dump *dump);

#endif
