/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas schema`.
 */

#include "schema/schema.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "event/event.h"
#include "print/human.h"
#include "trace/descriptions.h"
#include "trace/input.h"

#include <stdio.h>

static const char *const help[] = {
    "usage: etwas schema [--json] FILE...\n"
    "\n",
    "Lists the events that each trace describes, with their fields: what 'etwas dump'\n"
    "shows by name. Descriptions come with the events themselves (TraceLogging), in\n"
    "records of the trace, or are built in. The header of the trace is left out.\n"
    "Reads the whole file.\n"
    "\n",
    "  -j, --json   one JSON object a line for each event\n"
    "  -h, --help   this text\n"
    "\n",
    "A provider, or the class of classic events, with its GUID; below it each event,\n"
    "with the type of a classic one, or the id; of one that describes itself with id\n"
    "and opcode only if they are not 0; below that its fields with their types, as\n"
    "manifests call them. [4], [FIELD], [] or [*] behind a type: an array of 4, of as\n"
    "many as the field says, with a count of its own, or as many as there are. 'as\n"
    "TYPE': how it is shown.\n"
    "{ 0 NAME, ... }: names of values, or of bits. Behind that the formats of\n"
    "messages by GUID and number, and how many events nothing describes, if there are\n"
    "any.\n"
    "\n",
    "JSON keys:\n"
    "  file; provider; event; class (GUID); source (manifest, classic, message,\n"
    "  tracelogging); id; type; level; version; keyword (hexadecimal string);\n"
    "  fields: name, type, and where there are any as, count and length (numbers,\n"
    "  the name of a field, or null: stored before the value), values ([number,\n"
    "  name]), fields (of a struct);\n"
    "  of a message only file, class, source, message (number) and format.\n"
    "\n",
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

/* A file that is being listed. */
struct listing {
    struct etwas_output *output;
    bool json;
    const char *path;
    etwas_decoder *decoder;
    const etwas_schema *previous;
    const etwas_guid *message; /* of the one before; NULL: there is none */
    uint64_t undescribed;      /* events of which nothing was known when they came */
};

/*
 * An event may bring its own description. The file's header is in every file, and no event of
 * anybody's.
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

    if (listing->json) {
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

    if (listing->json) {
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

    if (!listing->json) {
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

/*
 * Descriptions may have come after their events: those without one are counted by reading once
 * more.
 */
static void put_undescribed(struct listing *listing, uint32_t number)
{
    struct etwas_input again;
    char text[ETWAS_HUMAN_CHARACTERS];

    if (listing->undescribed == 0 || open_input(listing, &again, number) != ETWAS_EXIT_FINE) {
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

    if (result != ETWAS_EXIT_FINE) {
        return result;
    }
    if (etwas_decoder_open(&listing->decoder) != ERROR_SUCCESS) {
        CloseTrace(input.trace);
        return etwas_output_no_memory("to list everything");
    }
    if (number > 1 && !listing->json) {
        etwas_output_char(listing->output, '\n');
    }
    result = list_schemas(listing, &input);
    if (!listing->json) {
        put_undescribed(listing, number);
    }
    etwas_output_flush(listing->output);
    etwas_input_warn(&input);
    etwas_descriptions_report_left_out(listing->decoder, listing->path);
    etwas_decoder_close(listing->decoder);
    return result;
}

static bool take_option(void *context, int option)
{
    struct listing *listing = context;

    listing->json = option == 'j';
    return listing->json;
}

int etwas_command_schema(int argc, char **argv)
{
    static const struct option named[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"schema", help, named, "jh", take_option};
    struct listing listing = {.output = etwas_standard_output()};
    static struct etwas_files files;
    int result = ETWAS_EXIT_FINE;

    if (!etwas_options_read(&options, argc, argv, &listing, &result) ||
        !etwas_options_fit(
            &options, etwas_files_read(&files, argv + optind, argv + argc, UINT32_MAX), &result)) {
        return result;
    }
    for (uint32_t i = 0; i < files.count && listing.output->error == 0; i++) {
        int shown;

        listing.path = files.paths[i];
        shown = show_file(&listing, i + 1);
        /* A file that cannot be opened weighs more than a damaged one. */
        if (result == ETWAS_EXIT_FINE || shown == ETWAS_EXIT_OPEN) {
            result = shown;
        }
    }
    return etwas_output_finish(listing.output) ? result : ETWAS_EXIT_OUTPUT;
}
