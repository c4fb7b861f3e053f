/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the files for `etwas stat --prove`, and groups them by session.
 */

#include "analyse/prove/prove.h"

#include "cli/quiet.h"
#include "exit.h"
#include "print/text.h"

#include <etwas/evntrace.h>
#include <stdio.h>
#include <stdlib.h>

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;

    etwas_prove_add(input->context, record);
}

static size_t name_units(const etwas_wchar *name)
{
    size_t units = 0;

    while (name[units] != 0) {
        units++;
    }
    return units;
}

static bool is_of(const struct etwas_prove_session *session, const EVENT_TRACE_LOGFILEA *logfile)
{
    size_t units = name_units(session->name);

    return session->start_filetime == logfile->LogfileHeader.StartTime.QuadPart &&
           session->clock == logfile->LogfileHeader.ReservedFlags &&
           units == name_units(logfile->LogfileHeader.LoggerName) &&
           memcmp(session->name, logfile->LogfileHeader.LoggerName,
                  units * sizeof *session->name) == 0;
}

/* A snapshot is a copy of a session's buffers, and not one of its files. */
static bool is_snapshot(uint32_t mode)
{
    return (mode & EVENT_TRACE_BUFFERING_MODE) != 0;
}

static struct etwas_prove_session *make_session(const EVENT_TRACE_LOGFILEA *logfile,
                                                uint32_t number, uint32_t most_files)
{
    const TRACE_LOGFILE_HEADER *header = &logfile->LogfileHeader;
    size_t units = name_units(header->LoggerName) + 1;
    struct etwas_prove_session *session = calloc(1, sizeof *session);

    if (session == NULL) {
        return NULL;
    }
    session->name = malloc(units * sizeof *session->name);
    session->paths = calloc(most_files, sizeof *session->paths);
    if (session->name == NULL || session->paths == NULL) {
        etwas_prove_clear(session);
        free(session);
        return NULL;
    }
    memcpy(session->name, header->LoggerName, units * sizeof *session->name);
    session->start_filetime = header->StartTime.QuadPart;
    session->clock = header->ReservedFlags;
    session->mode = header->LogFileMode;
    session->first_file = number;
    return session;
}

struct etwas_prove_session *etwas_prove_session_of(struct etwas_prove_session **link,
                                                   const struct etwas_input *input,
                                                   uint32_t most_files)
{
    const EVENT_TRACE_LOGFILEA *logfile = &input->logfile;

    while (*link != NULL &&
           (is_snapshot((*link)->mode) || is_snapshot(logfile->LogfileHeader.LogFileMode) ||
            !is_of(*link, logfile))) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        *link = make_session(logfile, input->number, most_files);
    }
    if (*link != NULL) {
        (*link)->paths[(*link)->files++] = input->path;
        (*link)->mode |= logfile->LogfileHeader.LogFileMode;
        (*link)->is_kernel |= input->is_kernel;
    }
    return *link;
}

void etwas_prove_end_file(struct etwas_prove_session *session, const struct etwas_input *input,
                          int result)
{
    const etwas_trace_information *information = &input->information;
    bool is_recovered = (information->ends & ETWAS_TRACE_IS_RECOVERED) != 0;
    struct etwas_prove_sums *told = is_recovered ? &session->told_by_recovered : &session->told;

    session->is_damaged |= result != ETWAS_EXIT_DONE;
    session->is_unfinished |= information->unfinished;
    session->has_ended |= (information->ends & ETWAS_TRACE_ENDS_SESSION) != 0;
    session->recovered += is_recovered;
    if (information->unattached_processes >= session->unattached_processes &&
        information->unattached_code != 0) {
        session->unattached_processes = information->unattached_processes;
        session->unattached_code = information->unattached_code;
    }
    told->attempted += information->attempted_events - information->repeated_attempted_events;
    told->overwritten += etwas_input_overwritten(input);
    told->lost += etwas_input_lost(input);
}

/*
 * Returns whether the file may end inside a buffer, because its writer was killed. The recovered
 * file has the whole buffer. In a circular file the position of such a buffer is not known.
 */
static bool may_be_cut(const struct etwas_input *input)
{
    etwas_trace_information information;

    return (input->logfile.LogfileHeader.LogFileMode & EVENT_TRACE_FILE_MODE_CIRCULAR) == 0 &&
           etwas_trace_query(input->trace, &information) == ERROR_SUCCESS && information.unfinished;
}

/* Counts one file. Returns the exit status of reading it. */
static int read_file(struct etwas_prove_session **sessions, const char *path, uint32_t number,
                     uint32_t most_files)
{
    struct etwas_input input;
    const struct etwas_input_callbacks callbacks = {.record = on_record, .time = ETWAS_INPUT_RAW};
    struct etwas_input_run run = {.inputs = &input, .count = 1};
    struct etwas_prove_session *session;
    int result = etwas_input_open(&input, path, number, &callbacks, NULL);

    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    session = etwas_prove_session_of(sessions, &input, most_files);
    if (session == NULL) {
        CloseTrace(input.trace);
        return etwas_output_no_memory("to count everything");
    }
    input.context = session;
    run.by_buffers = may_be_cut(&input);
    etwas_progress_start(&run.progress, false);
    result = etwas_input_process(&run);
    etwas_prove_end_file(session, &input, result);
    if (session->out_of_memory) {
        result = etwas_output_no_memory("to count everything");
    }
    return result;
}

/* Prints a note that a file is not counted, since it is a copy of another one. */
static void say_copy(const char *path, const char *copied)
{
    struct etwas_output *errors = etwas_standard_error();

    if (etwas_is_quiet) {
        return;
    }
    etwas_output_text(errors, "etwas stat: note: ");
    etwas_text_plain(errors, path);
    etwas_output_text(errors, ": it is not counted, since it tells of the same as ");
    etwas_text_plain(errors, copied);
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

static int worse(int one, int other)
{
    static const int order[] = {ETWAS_EXIT_FAILED, ETWAS_EXIT_DAMAGED, ETWAS_EXIT_NO};

    for (size_t index = 0; index < sizeof order / sizeof *order; index++) {
        if (one == order[index] || other == order[index]) {
            return order[index];
        }
    }
    return ETWAS_EXIT_DONE;
}

int etwas_prove_read(struct etwas_prove_session **sessions, char *const *paths, uint32_t count,
                     const struct etwas_parts *parts)
{
    int result = ETWAS_EXIT_DONE;

    for (uint32_t index = 0; index < count; index++) {
        const char *copied = etwas_parts_copied(parts, index + 1);

        if (copied == NULL) {
            result = worse(result, read_file(sessions, paths[index], index + 1, count));
        } else {
            say_copy(paths[index], copied);
        }
    }
    for (struct etwas_prove_session *session = *sessions; session != NULL;
         session = session->next) {
        etwas_prove_judge(session, parts);
        result = worse(result, session->is_proved ? ETWAS_EXIT_DONE : ETWAS_EXIT_NO);
    }
    return result;
}
