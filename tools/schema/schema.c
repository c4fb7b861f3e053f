/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas schema`.
 */

#include "schema/schema.h"

#include "cli/files.h"
#include "commands.h"
#include "event/event.h"
#include "exit.h"
#include "print/human.h"
#include "trace/descriptions.h"
#include "trace/input.h"

#include <stdio.h>

/* A file that is being listed. */
struct listing {
    struct etwas_output *output;
    int form; /* enum etwas_form */
    const char *path;
    etwas_decoder *decoder;
    const etwas_schema *previous;
    const etwas_guid *message; /* GUID of the previous message; NULL: none */
    uint64_t undescribed;      /* events that were not described when they were read */
};

/*
 * An event may contain its own description. The header is in every file, and not an event of a
 * provider.
 */
static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct listing *listing = input->context;
    const etwas_schema *schema;

    if (!etwas_event_is_header_class(record) &&
        etwas_decoder_learn(listing->decoder, record) != ERROR_SUCCESS &&
        etwas_decoder_schema(listing->decoder, record, &schema) != ERROR_SUCCESS &&
        etwas_decoder_message(listing->decoder, record, NULL, 0) == 0) {
        listing->undescribed++;
    }
}

static bool visit_schema(const etwas_schema *schema, void *context)
{
    struct listing *listing = context;

    if (listing->form == ETWAS_FORM_JSON) {
        etwas_schema_json(listing->output, schema, listing->path);
    } else {
        etwas_schema_text(listing->output, schema, listing->previous);
    }
    listing->previous = schema;
    return listing->output->error == 0;
}

static bool visit_message(const etwas_guid *guid, uint16_t number, const char *format,
                          void *context)
{
    struct listing *listing = context;

    if (listing->form == ETWAS_FORM_JSON) {
        etwas_schema_message_json(listing->output, guid, number, format, listing->path);
    } else {
        etwas_schema_message_text(listing->output, guid, number, format,
                                  listing->message == NULL ||
                                      memcmp(listing->message, guid, sizeof *guid) != 0);
    }
    listing->message = guid;
    return listing->output->error == 0;
}

static int list_schemas(struct listing *listing, struct etwas_input *input)
{
    int result = etwas_input_process_one(input);

    if (listing->form != ETWAS_FORM_JSON) {
        etwas_text_plain(listing->output, listing->path);
        etwas_output_char(listing->output, '\n');
    }
    listing->previous = NULL;
    listing->message = NULL;
    if (etwas_decoder_schemas(listing->decoder, visit_schema, listing) != ERROR_SUCCESS ||
        etwas_decoder_messages(listing->decoder, visit_message, listing) != ERROR_SUCCESS) {
        result = etwas_output_no_memory("to list everything");
    } else if (listing->previous == NULL && listing->message == NULL) {
        etwas_input_report(input, "schema", true,
                           "nothing in it describes events; 'etwas stat' tells which it has");
    }
    return result;
}

static int open_input(struct listing *listing, struct etwas_input *input, uint32_t number)
{
    const struct etwas_input_callbacks callbacks = {.record = on_record,
                                                    .time = ETWAS_INPUT_FILETIME};

    listing->undescribed = 0;
    return etwas_input_open(input, listing->path, number, &callbacks, listing);
}

/* Descriptions may follow their events, so reads the file again to count events without one. */
static void put_undescribed(struct listing *listing, uint32_t number)
{
    struct etwas_input again;
    char text[ETWAS_HUMAN_CHARACTERS];

    if (listing->undescribed == 0 || open_input(listing, &again, number) != ETWAS_EXIT_DONE) {
        return;
    }
    (void)etwas_input_process_one(&again);
    if (listing->undescribed > 0) {
        etwas_output_format(
            listing->output, "\nNothing describes %s event%s; 'etwas stat' lists their kinds.\n",
            etwas_human_count(text, listing->undescribed), listing->undescribed == 1 ? "" : "s");
    }
}

static int show_file(struct listing *listing, uint32_t number)
{
    struct etwas_input input;
    int result = open_input(listing, &input, number);

    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    if (etwas_decoder_open(&listing->decoder) != ERROR_SUCCESS) {
        CloseTrace(input.trace);
        return etwas_output_no_memory("to list everything");
    }
    if (number > 1 && listing->form != ETWAS_FORM_JSON) {
        etwas_output_char(listing->output, '\n');
    }
    result = list_schemas(listing, &input);
    if (listing->form != ETWAS_FORM_JSON) {
        put_undescribed(listing, number);
    }
    etwas_output_flush(listing->output);
    etwas_input_warn(&input);
    etwas_descriptions_report_left_out(listing->decoder, listing->path);
    etwas_decoder_close(listing->decoder);
    return result;
}

static int run_schema(int argc, char **argv)
{
    struct listing listing = {.output = etwas_standard_output()};
    static struct etwas_files files;
    int result = ETWAS_EXIT_DONE;

    if (!etwas_files_read_command(&files, &etwas_schema_command, argc, argv, UINT32_MAX, &listing,
                                  &result)) {
        return result;
    }
    for (uint32_t i = 0; i < files.count && listing.output->error == 0; i++) {
        int shown;

        listing.path = files.paths[i];
        shown = show_file(&listing, i + 1);
        /* A file that cannot be opened takes precedence over a damaged one. */
        if (result == ETWAS_EXIT_DONE || shown == ETWAS_EXIT_FAILED) {
            result = shown;
        }
    }
    return etwas_output_finish(listing.output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_JSON_OPTION(struct listing, form, "an object a line for each event"),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_schema_command = {
    .name = "schema",
    .summary = "list the events that a trace describes",
    .usages = (const char *const[]){"[OPTION...] FILE...", NULL},
    .description = "Lists the events that each trace describes, with their fields: what etwas dump "
                   "shows by name. It reads the whole file.",
    .details =
        (const char *const[]){
            "Descriptions come with the events themselves (TraceLogging), in records of the "
            "trace, or are built in. The header of the trace is left out.",
            "A provider, or the class of classic events, stands with its GUID. Below it is "
            "each event, with the type of a classic one, or the id. An event that describes "
            "itself has id and opcode only if they are not 0. Below that are its fields "
            "with their types, as manifests call them.",
            "[4], [FIELD], [] or [*] behind a type is an array: of 4, of as many as the "
            "field says, with a count of its own, or as many as there are. 'as TYPE' is how "
            "it is shown. { 0 NAME, ... } are names of values, or of bits.",
            "Behind that are the formats of messages by GUID and number, and how many "
            "events nothing describes, if there are any.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas schema shop.etl", "List the events of a trace."},
            {"etwas schema --json shop.etl | jq .event", "List their names."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_schema,
};
