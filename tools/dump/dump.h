/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DUMP_H
#define ETWAS_TOOLS_DUMP_H

/*
 * What the forms of `etwas dump` share: one function a form, called for each event.
 */

#include "address/addresses.h"
#include "cli/command.h"
#include "commands.h"
#include "event/fields.h"
#include "trace/current_event.h"
#include "trace/input.h"
#include "trace/parts.h"
#include "trace/window.h"

/* The clock by which an event's time is shown, and how. */
enum etwas_dump_clock {
    ETWAS_DUMP_TIME,  /* ProcessTrace's: from the session's start, by QPC or the session's clock */
    ETWAS_DUMP_LOCAL, /* the same in this machine's zone */
    ETWAS_DUMP_RELATIVE, /* the same, since the first event */
    ETWAS_DUMP_RAW,      /* as recorded */
    ETWAS_DUMP_QPC,      /* with its error */
    ETWAS_DUMP_SYSTEM,   /* likewise: the wall clock as it was */
};

/* A property, or a field that was asked for. */
struct etwas_dump_column {
    enum etwas_property property; /* ETWAS_PROPERTY_COUNT: a field */
    uint32_t path;
    const char *name; /* as it was given; NULL: the property's own */
};

/* A kind of event that nothing describes. */
struct etwas_dump_kind {
    etwas_guid guid;
    uint16_t id;
    uint8_t version;
    uint8_t opcode;
    uint32_t name; /* a hash of it: all events of TraceLogging may have one id */
};
_Static_assert(sizeof(struct etwas_dump_kind) == 24, "compared as bytes, without padding");

/* Processor, process and thread as they were written before, for events of the same ones. */
struct etwas_dump_origin {
    uint32_t processor;
    uint32_t process;
    uint32_t thread;
    const struct etwas_input *input; /* NULL: none was written */
    char text[32];                   /* their longest is 5, 10 and 10 digits, with two spaces */
    size_t bytes;
};

enum {
    ETWAS_DUMP_COLUMNS = 64,
    ETWAS_DUMP_COLUMN_NAME_BYTES = ETWAS_FIELD_PATH_BYTES + 8,
    ETWAS_DUMP_ORIGINS = 64, /* a power of 2 */
    ETWAS_DUMP_REPORTED =
        64, /* kinds of events of which is told that their schema makes no sense */
};

struct etwas_dump {
    const char *command; /* "dump" or another, for messages */
    int form;            /* enum etwas_form */
    bool all;            /* also records that describe the file, its events and its images */
    bool hex;            /* nothing is decoded */
    bool symbols;        /* stacks are shown by names */
    bool wants_stacks;
    bool has_stack;     /* an event that is shown has one */
    int clock;          /* enum etwas_dump_clock */
    int64_t first_ns;   /* of the first event, where it is ETWAS_DUMP_RELATIVE */
    bool several_files; /* each event then says which file it is from */
    uint64_t limit;     /* events to show */
    uint64_t shown;
    struct etwas_input_run *run;
    struct etwas_output *output;
    struct etwas_dump_column columns[ETWAS_DUMP_COLUMNS];
    uint32_t column_count;
    const char *columns_text; /* of --columns; NULL: not given */
    struct etwas_field_paths paths;
    struct etwas_window window; /* resolved */
    struct etwas_where where;
    bool wants_durations;
    bool wants_process;  /* names, which earlier events of the kernel tell */
    bool wants_raw_time; /* beside another one */
    etwas_spans *spans;  /* NULL: durations are not wanted */
    struct etwas_current_event current;
    struct etwas_dump_kind reported[ETWAS_DUMP_REPORTED];
    uint32_t reported_count;
    uint64_t beyond; /* events with a time that 64 bits cannot hold: it was shown as such */
    struct etwas_all_descriptions descriptions;
    struct etwas_addresses addresses[ETWAS_INPUT_FILES]; /* as run->inputs, if they are wanted */
    struct etwas_parts parts;
    struct etwas_dump_origin origins[ETWAS_DUMP_ORIGINS];
};

extern const char *const etwas_dump_clock_names[]; /* by enum etwas_dump_clock, then NULL */

/* The options of commands that show events. */
#define ETWAS_DUMP_COLUMNS_OPTION                                                                  \
    {                                                                                              \
        .name = "columns", .letter = 'c', .value = "LIST", .group = "What is shown",               \
        .help = "these columns, in this order; ? lists them all", .type = ETWAS_OPTION_READ,       \
        .read = etwas_dump_read_columns, ETWAS_PLACE(struct etwas_dump, columns_text),             \
    }

/* Takes the text of --columns. If it is "?", the function lists all columns and exits. */
bool etwas_dump_read_columns(const struct etwas_option_use *use);

/* Prepares a struct etwas_dump of zeroes for reading options, which `command` names in messages. */
void etwas_dump_init(struct etwas_dump *dump, const char *command, struct etwas_input_run *run);

/*
 * Checks the options together, and chooses the columns. Returns false after a message, with the
 * exit status in *result.
 */
bool etwas_dump_finish_options(struct etwas_dump *dump, const struct etwas_command *command,
                               int *result);

/*
 * Shows the events of these traces as its options, `run` and `output` say, which are set, and the
 * columns chosen. If run->live is set, `paths` are the names of sessions. Frees what it has.
 * Returns what the program exits with.
 */
int etwas_dump_run(struct etwas_dump *dump, char *const *paths, uint32_t count);

/* Returns the addresses of the current event's file. */
static inline struct etwas_addresses *etwas_dump_addresses(struct etwas_dump *dump)
{
    return &dump->addresses[dump->current.input - dump->run->inputs];
}

/* The event's stack; without --symbols nothing is unwound. */
static inline struct etwas_event_stack etwas_dump_stack(struct etwas_dump *dump)
{
    return dump->symbols ? etwas_addresses_stack(etwas_dump_addresses(dump), dump->current.record)
                         : etwas_event_stack(dump->current.record);
}

/* Returns whether times are ProcessTrace's, however they are shown. */
static inline bool etwas_dump_is_by_trace(const struct etwas_dump *dump)
{
    return dump->clock == ETWAS_DUMP_TIME || dump->clock == ETWAS_DUMP_LOCAL ||
           dump->clock == ETWAS_DUMP_RELATIVE;
}

/* Writes the event's own time, which is ProcessTrace's. */
void etwas_dump_print_time(struct etwas_output *output, const struct etwas_dump *dump);

/* A stamp as recorded by dump->clock, QPC or SYSTEM. */
etwas_clock_time etwas_dump_convert(const struct etwas_dump *dump, int64_t raw);

/* The same of the event's own. */
etwas_clock_time etwas_dump_time(const struct etwas_dump *dump);

/* Writes a stamp as recorded by dump->clock, as the times of events are. */
void etwas_dump_print_stamp(struct etwas_output *output, const struct etwas_dump *dump,
                            int64_t raw);

/*
 * A callback of struct etwas_fields_reader: writes what a number means, and, if --symbols is given,
 * what lies at an address.
 */
bool etwas_dump_print_value(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                            const etwas_value *value);

/* The same of times and addresses as members of an event's JSON object. */
void etwas_dump_print_json_values(struct etwas_dump *dump);

/* The columns of --columns, or the usual ones. False after a message on standard error. */
bool etwas_dump_choose_columns(struct etwas_dump *dump);

/* Names what the columns show by dump->clock. A name that was given is copied to `given`. */
const char *etwas_dump_column_name(const struct etwas_dump *dump,
                                   const struct etwas_dump_column *column,
                                   char given[ETWAS_DUMP_COLUMN_NAME_BYTES]);

/*
 * Writes what a column shows of the event, harmless on a terminal. False: there is no such thing,
 * and nothing is written. `quoted`: strings within stand in quotes.
 */
bool etwas_dump_print_column(struct etwas_output *output, struct etwas_dump *dump,
                             const struct etwas_dump_column *column, bool quoted);

/*
 * Says, once for each kind of event, if the payload ends before its fields or arguments, or one is
 * not described.
 */
void etwas_dump_report_rest(struct etwas_dump *dump, const struct etwas_fields_rest *rest);

/*
 * Says, once for a command, that times were not shown as nanoseconds since 1970 cannot hold them.
 */
void etwas_dump_report_beyond(const struct etwas_dump *dump);

/* Says likewise that `what` makes no sense. */
void etwas_dump_report_senseless(struct etwas_dump *dump, const char *what);

/* A line of columns; etwas_dump_text_title writes their names. */
void etwas_dump_text(struct etwas_dump *dump);
void etwas_dump_text_title(struct etwas_dump *dump);

/* The same as CSV, RFC 4180. */
void etwas_dump_csv(struct etwas_dump *dump);
void etwas_dump_csv_title(struct etwas_dump *dump);

/* A line with one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_dump_json(struct etwas_dump *dump);

#endif
