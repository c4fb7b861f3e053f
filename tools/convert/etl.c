/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `etl`: a log file with the same events in the same order, and all schemas needed to
 * decode them. Schemas that are built into etwas are added.
 */

#include "cli/no_room.h"
#include "convert/convert.h"
#include "event/names.h"
#include "exit.h"

#include <etwas/etwas.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    EVENT_INFO_TYPE = 32,
    TYPES = 256, /* number of types of classic events */
};

struct relog {
    etwas_relogger *relogger;
    uint32_t code;            /* error of the first failure */
    const char *current;      /* what failed: a file, or a description */
    bool schema_texts[TYPES]; /* by type of our own class: its schema is written */
};

static void note_failure(struct etwas_convert *convert, uint32_t code, const char *current)
{
    struct relog *relog = convert->state;

    if (relog->code == ERROR_SUCCESS && code != ERROR_SUCCESS) {
        relog->code = code;
        relog->current = current;
        convert->run.stop = true;
    }
}

static bool begin(struct etwas_convert *convert)
{
    struct relog *relog = convert->state;
    etwas_trace_handle traces[ETWAS_INPUT_FILES];

    for (uint32_t i = 0; i < convert->run.count; i++) {
        traces[i] = convert->run.inputs[i].trace;
    }
    note_failure(convert,
                 etwas_relog_open(traces, convert->run.count, convert->output_file.descriptor,
                                  convert->compress ? ETWAS_RELOG_COMPRESSED : 0, &relog->relogger),
                 convert->run.count == 1 ? convert->run.inputs[0].path : "the files");
    return relog->code == ERROR_SUCCESS;
}

/*
 * Returns whether the record is a schema of our own class, and which type it describes. A file that
 * was relogged before has such records.
 */
static bool describes_own(const EVENT_RECORD *record, uint8_t *type)
{
    EVENT_DESCRIPTOR descriptor;
    const uint8_t *info = record->UserData;

    if (record->EventHeader.EventDescriptor.Opcode != EVENT_INFO_TYPE ||
        record->UserDataLength < sizeof(TRACE_EVENT_INFO) ||
        memcmp(info + offsetof(TRACE_EVENT_INFO, EventGuid), &etwas_names_own_class,
               sizeof etwas_names_own_class) != 0) {
        return false;
    }
    memcpy(&descriptor, info + offsetof(TRACE_EVENT_INFO, EventDescriptor), sizeof descriptor);
    *type = descriptor.Opcode;
    return true;
}

static void inject(struct etwas_convert *convert, const struct etwas_input *input,
                   const EVENT_RECORD *record)
{
    struct relog *relog = convert->state;
    uint32_t code = etwas_relog_inject(relog->relogger, input->trace, record);
    bool is_input = code == ERROR_INVALID_PARAMETER || code == ERROR_INVALID_HANDLE;

    /* Until the end, events are written to a temporary file. */
    note_failure(convert, code,
                 is_input ? input->path : "a temporary file in TMPDIR, else /var/tmp");
}

static void put_beside(struct etwas_convert *convert, const struct etwas_input *input,
                       const EVENT_RECORD *record)
{
    struct relog *relog = convert->state;
    uint8_t type;

    if (describes_own(record, &type)) {
        relog->schema_texts[type] = true;
    }
    inject(convert, input, record);
}

/*
 * Adds the schema of an event of our own class, once for each type. Other readers know the schemas
 * of Windows and those in the file, but not these.
 */
static void describe(struct etwas_convert *convert, const EVENT_RECORD *record)
{
    struct relog *relog = convert->state;
    const struct etwas_schema_texts *schema_texts = convert->current.schema_texts;
    bool *done = &relog->schema_texts[record->EventHeader.EventDescriptor.Opcode];

    if (schema_texts != NULL && !*done && etwas_event_is_of_class(record, &etwas_names_own_class)) {
        *done = true;
        note_failure(convert,
                     etwas_relog_describe(relog->relogger, EVENT_INFO_TYPE,
                                          schema_texts->schema->info,
                                          schema_texts->schema->info_bytes),
                     convert->current.input->path);
    }
}

static void put_event(struct etwas_convert *convert)
{
    inject(convert, convert->current.input, convert->current.record);
    describe(convert, convert->current.record);
}

/* Damage without skipped bytes is no gap, unless sequence numbers are missing. */
static void put_gap(struct etwas_convert *convert, const struct etwas_input *input,
                    const etwas_damage *damage)
{
    const struct relog *relog = convert->state;

    if (damage->bytes_skipped > 0 || damage->kind == ETWAS_DAMAGE_SEQUENCE) {
        note_failure(convert, etwas_relog_gap(relog->relogger), input->path);
    }
}

static bool is_file(const struct etwas_convert *convert)
{
    struct stat status;

    if (fstat(convert->output_file.descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        return true;
    }
    fprintf(stderr, "etwas convert: '%s' is not a file, and cannot be a log file\n",
            convert->output_file.path);
    return false;
}

/* Reports the first failure. Returns the exit status. */
static int refuse(struct etwas_convert *convert)
{
    const struct relog *relog = convert->state;
    const struct etwas_input *largest = &convert->run.inputs[0];
    char what[256];

    convert->is_refused = true;
    if (relog->relogger != NULL || relog->code != ERROR_NOT_SUPPORTED) {
        fprintf(stderr, "etwas convert: %s: %s\n", relog->current,
                etwas_no_room_error_text(relog->code));
        return ETWAS_EXIT_OUTPUT;
    }
    for (uint32_t i = 1; i < convert->run.count; i++) {
        const struct etwas_input *input = &convert->run.inputs[i];

        largest = input->logfile.LogfileHeader.NumberOfProcessors >
                          largest->logfile.LogfileHeader.NumberOfProcessors
                      ? input
                      : largest;
    }
    snprintf(what, sizeof what,
             "by its header its machine has %" PRIu32
             " processors: with those of the other files, which are of other machines, that is too "
             "many for one log file, or its header is damaged. Convert it by itself",
             largest->logfile.LogfileHeader.NumberOfProcessors);
    etwas_input_report(largest, "convert", false, what);
    return ETWAS_EXIT_FAILED;
}

static int run(struct etwas_convert *convert)
{
    static const struct etwas_convert_reader reader = {
        .begin = begin, .event = put_event, .beside = put_beside, .gap = put_gap};
    struct relog relog = {0};
    int result;

    if (!is_file(convert)) {
        return ETWAS_EXIT_OUTPUT;
    }
    convert->state = &relog;
    result = etwas_convert_read(convert, &reader);
    if (relog.code == ERROR_SUCCESS && relog.relogger != NULL) {
        bool all = !etwas_where_is_given(&convert->where) &&
                   convert->window.from.anchor == ETWAS_WINDOW_OPEN &&
                   convert->window.until.anchor == ETWAS_WINDOW_OPEN;

        note_failure(convert, etwas_relog_finish(relog.relogger, all), convert->output_file.path);
    }
    etwas_relog_close(relog.relogger);
    return relog.code == ERROR_SUCCESS ? result : refuse(convert);
}

const struct etwas_convert_target etwas_convert_etl = {
    .name = "etl", .is_binary = true, .is_compressible = true, .needs_file = true, .run = run};
