/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Opens and processes trace files. */

#include "trace/input.h"

#include "cli/quiet.h"
#include "event/names.h"
#include "exit.h"
#include "kernel/kernel.h"
#include "print/human.h"
#include "print/json.h"
#include "print/text.h"
#include "trace/parts.h"
#include "trace/steps.h"

#include <etwas/buffers.h>
#include <etwas/evntrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Buffers that are missing at the end of a file are found when it is opened, but reported after its
 * last event.
 */
static bool is_at_end(const struct etwas_input *input, const etwas_damage *damage)
{
    etwas_trace_information information;

    return damage->kind == ETWAS_DAMAGE_SEQUENCE &&
           etwas_trace_query(input->trace, &information) == ERROR_SUCCESS &&
           damage->file_offset == information.file_bytes;
}

static void on_damage(const etwas_damage *damage, void *context)
{
    struct etwas_input *input = context;

    if (input->damage_count < ETWAS_INPUT_DAMAGES_KEPT) {
        input->damages[input->damage_count] = *damage;
    }
    input->damage_count++;
    if (input->damage != NULL && is_at_end(input, damage)) {
        input->end_damage = *damage;
        input->has_end_damage = true;
    } else if (input->damage != NULL) {
        input->damage(input, damage);
    }
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    const struct etwas_input *input = logfile->Context;
    struct etwas_input_run *run = input->run;

    if (run->live != NULL) {
        etwas_output_flush(run->live);
    } else if (etwas_progress_due(&run->progress)) {
        uint64_t done = 0;
        uint64_t total = 0;

        for (uint32_t i = 0; i < run->count; i++) {
            etwas_trace_information information;

            if (etwas_trace_query(run->inputs[i].trace, &information) == ERROR_SUCCESS) {
                done += information.bytes_read;
                total += information.file_bytes / (run->sections > 0 ? run->sections : 1);
            }
        }
        etwas_progress_show(&run->progress, done, total);
    }
    return !run->stop;
}

/* Begins a message with "etwas COMMAND: PATH: "; the caller ends it with etwas_output_flush. */
static struct etwas_output *message(const char *path)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: ", etwas_output_program);
    etwas_text_plain(errors, path[0] != '\0' ? path : "''");
    etwas_output_text(errors, ": ");
    return errors;
}

static void complain(const char *path, uint32_t code)
{
    struct stat status;
    const char *reason = etwas_names_error(code);
    struct etwas_output *errors = message(path);

    /* ETW has one code for a folder and for a file without permission. */
    if (code == ERROR_ACCESS_DENIED && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        reason = "a folder without log files (*.etl) that could be read";
    } else if (code == ERROR_FILE_CORRUPT && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
               status.st_size == 0) {
        reason = "the file is empty";
    }
    if (reason != NULL) {
        etwas_output_format(errors, "%s\n", reason);
    } else {
        etwas_output_format(errors, "error %" PRIu32 "\n", code);
    }
    etwas_output_flush(errors);
}

/* FILETIME loses no precision of a clock of at most 10 MHz, and does not end in the year 2262. */
static bool is_coarse(etwas_trace_handle trace)
{
    etwas_trace_information information;

    return etwas_trace_query(trace, &information) == ERROR_SUCCESS &&
           information.clock_frequency <= 10000000;
}

/* Fills in what is known of the input before it is read. */
static void learn(struct etwas_input *input)
{
    etwas_trace_information information = {0};

    (void)etwas_trace_query(input->trace, &information);
    input->place = etwas_parts_place(&input->logfile, &information);
    input->is_by_wall_clock =
        etwas_input_has_raw(input) && information.clock == ETWAS_CLOCK_SYSTEM_TIME;
}

static etwas_trace_handle open_trace(struct etwas_input *input, PEVENT_RECORD_CALLBACK record)
{
    static const uint32_t modes[] = {
        [ETWAS_INPUT_FILETIME] = 0,
        [ETWAS_INPUT_NANOSECONDS] = ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
        [ETWAS_INPUT_RAW] = PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        [ETWAS_INPUT_BOTH] = PROCESS_TRACE_MODE_RAW_TIMESTAMP,
    };

    memset(&input->logfile, 0, sizeof input->logfile);
    input->logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | modes[input->time];
    /* OpenTrace only reads the name, but ETW's structure has no const. */
    if (input->is_session) {
        input->logfile.LoggerName = (char *)(uintptr_t)input->path;
        input->logfile.ProcessTraceMode |= PROCESS_TRACE_MODE_REAL_TIME;
    } else {
        input->logfile.LogFileName = (char *)(uintptr_t)input->path;
    }
    input->logfile.EventRecordCallback = record;
    input->logfile.BufferCallback = on_buffer;
    input->logfile.Context = input;
    return OpenTraceA(&input->logfile);
}

bool etwas_input_is_kernel(const EVENT_TRACE_LOGFILEA *logfile)
{
    static const char name[] = KERNEL_LOGGER_NAMEA;
    const etwas_wchar *found = logfile->LogfileHeader.LoggerName;
    size_t at = 0;

    /* A real-time session that has not started yet has no name. */
    while (found != NULL && name[at] != 0 && found[at] == (etwas_wchar)name[at]) {
        at++;
    }
    return (logfile->LogfileHeader.LogFileMode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0 ||
           (found != NULL && name[at] == 0 && found[at] == 0);
}

/* Returns false if the file cannot be opened; etwas_GetLastError has the reason. */
static bool open_file(struct etwas_input *input, const char *path, uint32_t number,
                      const struct etwas_input_callbacks *callbacks, void *context)
{
    *input = (struct etwas_input){
        .path = path,
        .is_session = callbacks->is_session,
        .time = callbacks->time,
        .number = number,
        .context = context,
        .damage = callbacks->damage,
    };
    input->trace = open_trace(input, callbacks->record);
    input->is_coarse = input->trace != INVALID_PROCESSTRACE_HANDLE && is_coarse(input->trace);
    if (input->is_coarse && input->time == ETWAS_INPUT_NANOSECONDS) {
        CloseTrace(input->trace);
        input->time = ETWAS_INPUT_FILETIME;
        input->trace = open_trace(input, callbacks->record);
    }
    if (input->trace == INVALID_PROCESSTRACE_HANDLE) {
        return false;
    }
    input->is_kernel = etwas_input_is_kernel(&input->logfile);
    learn(input);
    etwas_trace_on_damage(input->trace, on_damage, input);
    return true;
}

int etwas_input_open(struct etwas_input *input, const char *path, uint32_t number,
                     const struct etwas_input_callbacks *callbacks, void *context)
{
    if (!open_file(input, path, number, callbacks, context)) {
        complain(path, etwas_GetLastError());
        return ETWAS_EXIT_FAILED;
    }
    return ETWAS_EXIT_DONE;
}

int etwas_input_open_all(struct etwas_input_run *run, char *const *paths, uint32_t count,
                         const struct etwas_input_callbacks *callbacks, void *context)
{
    int result = ETWAS_EXIT_DONE;

    run->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (open_file(&run->inputs[run->count], paths[i], i + 1, callbacks, context)) {
            run->count++;
            continue;
        }
        if (!run->has_complained) {
            complain(paths[i], etwas_GetLastError());
        }
        result = ETWAS_EXIT_FAILED;
    }
    run->has_complained = result != ETWAS_EXIT_DONE;
    return result;
}

static etwas_filetime as_filetime(int64_t value)
{
    return (etwas_filetime){.dwLowDateTime = (uint32_t)(uint64_t)value,
                            .dwHighDateTime = (uint32_t)((uint64_t)value >> 32)};
}

static void warn_of_index(const struct etwas_input *input)
{
    struct etwas_output *errors;

    if (input->information.index_file == ETWAS_INDEX_FILE_IGNORED) {
        errors = message(input->path);
        etwas_output_text(
            errors,
            "its index is not used: it is damaged, somebody else's, or not of the file as it "
            "is now; 'etwas stat --index' writes it anew\n");
        etwas_output_flush(errors);
    }
}

static uint32_t want_buffer(const etwas_trace_buffer *buffer, void *context)
{
    (void)buffer;
    (void)context;
    return ETWAS_BUFFER_READ;
}

/*
 * Notes on standard error that events, and losses, which several files of one session have count
 * once.
 */
static void tell_repeated(struct etwas_input_run *run)
{
    uint64_t repeated = 0;
    uint64_t told = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        const etwas_trace_information *information = &run->inputs[i].information;

        repeated += information->repeated_events;
        told += information->repeated_lost_events + information->repeated_overwritten_events;
    }
    if (repeated > 0 && !run->has_told && !etwas_is_quiet) {
        fprintf(stderr,
                "%s: note: %" PRIu64 " event%s more than one of the files, which overlap, and "
                "count%s once\n",
                etwas_output_program, repeated, repeated == 1 ? " is in" : "s are in",
                repeated == 1 ? "s" : "");
    }
    if (told > 0 && !run->has_told && !etwas_is_quiet) {
        fprintf(stderr,
                "%s: note: %" PRIu64 " lost or overwritten event%s told of by more than one of "
                "the files, which are of one session, and count%s once\n",
                etwas_output_program, told, told == 1 ? " is" : "s are", told == 1 ? "s" : "");
    }
    run->has_told |= repeated > 0 || told > 0;
}

static uint32_t deliver(struct etwas_input_run *run)
{
    etwas_trace_handle traces[ETWAS_INPUT_FILES];
    etwas_filetime from = as_filetime(run->from_filetime);
    etwas_filetime to = as_filetime(run->to_filetime);

    for (uint32_t i = 0; i < run->count; i++) {
        struct etwas_input *input = &run->inputs[i];

        input->run = run;
        traces[i] = input->trace;
        if (input->is_by_wall_clock) {
            input->steps = etwas_steps_open();
            if (input->steps == NULL) {
                return ERROR_NOT_ENOUGH_MEMORY;
            }
        }
    }
    return run->by_buffers ? etwas_trace_process_buffers(traces[0], 0, UINT64_MAX, want_buffer,
                                                         want_buffer, run->inputs)
                           : etwas_process_traces(traces, run->count, run->has_span ? &from : NULL,
                                                  run->has_span ? &to : NULL);
}

int etwas_input_process(struct etwas_input_run *run)
{
    uint32_t code = deliver(run);
    int result = ETWAS_EXIT_DONE;

    etwas_progress_end(&run->progress);
    for (uint32_t i = 0; i < run->count; i++) {
        struct etwas_input *input = &run->inputs[i];

        if (input->has_end_damage) {
            input->damage(input, &input->end_damage);
        }
        etwas_trace_query(input->trace, &input->information);
        etwas_trace_query_clock(input->trace, &input->clock);
        /* Before the events were read, their times would take a scan of the whole file. */
        if (input->losses != NULL && !etwas_trace_losses_read(input->losses, input->trace)) {
            code = ERROR_NOT_ENOUGH_MEMORY;
        }
        etwas_trace_coverage_end(input);
        CloseTrace(input->trace);
        etwas_steps_close(input->steps);
        input->steps = NULL;
        warn_of_index(input);
        if (input->damage_count > 0 || input->information.damages > 0) {
            result = ETWAS_EXIT_DAMAGED;
        }
    }
    tell_repeated(run);
    if (code == ERROR_FILE_CORRUPT) {
        result = ETWAS_EXIT_DAMAGED;
    } else if (run->live != NULL && run->stop) {
        /* The trace may have been closed before it was processed. */
        result = ETWAS_EXIT_DONE;
    } else if (code != ERROR_SUCCESS && code != ERROR_CANCELLED) {
        complain(run->count == 1 ? run->inputs[0].path : "the files", code);
        result = ETWAS_EXIT_FAILED;
    }
    return result;
}

int etwas_input_process_one(struct etwas_input *input)
{
    struct etwas_input_run run = {.inputs = input, .count = 1};

    etwas_progress_start(&run.progress, false);
    return etwas_input_process(&run);
}

/* ---- times ----------------------------------------------------------------------------------- */

#define FILETIME_OF_1970 INT64_C(116444736000000000)

enum {
    NS_PER_UNIT = 100
};

int64_t etwas_input_ns_of(int64_t filetime)
{
    int64_t nanoseconds;

    if (filetime < 0 ||
        __builtin_mul_overflow(filetime - FILETIME_OF_1970, NS_PER_UNIT, &nanoseconds)) {
        return filetime < FILETIME_OF_1970 ? INT64_MIN : INT64_MAX;
    }
    return nanoseconds;
}

int64_t etwas_input_filetime(int64_t time_ns)
{
    return time_ns / NS_PER_UNIT + FILETIME_OF_1970;
}

static int64_t converted(const struct etwas_input *input, int64_t raw, uint32_t clock)
{
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(input->trace, raw, clock, &time);
    return time.value;
}

int64_t etwas_input_unix_ns(const struct etwas_input *input, const EVENT_RECORD *record)
{
    int64_t stamp = record->EventHeader.TimeStamp.QuadPart;

    switch (input->time) {
    case ETWAS_INPUT_NANOSECONDS:
        return stamp;
    case ETWAS_INPUT_RAW:
        return etwas_input_ns_of(converted(input, stamp, ETWAS_CLOCK_SYSTEM_TIME));
    case ETWAS_INPUT_BOTH:
        return converted(input, stamp, ETWAS_CLOCK_PROCESS_TRACE);
    default:
        return etwas_input_ns_of(stamp);
    }
}

int64_t etwas_input_monotonic_ns(const struct etwas_input *input, const EVENT_RECORD *record)
{
    return etwas_input_has_raw(input)
               ? converted(input, record->EventHeader.TimeStamp.QuadPart, ETWAS_CLOCK_QPC)
               : etwas_input_unix_ns(input, record);
}

void etwas_input_measure_loss(const struct etwas_input *input, struct etwas_kernel_event *event)
{
    etwas_clock_time from;
    etwas_clock_time until;

    if (event->kind == ETWAS_KERNEL_LOSS && event->initial_time != 0 &&
        etwas_trace_convert_time(input->trace, event->initial_time, ETWAS_CLOCK_QPC, &from) ==
            ERROR_SUCCESS &&
        etwas_trace_convert_time(input->trace, event->end_time, ETWAS_CLOCK_QPC, &until) ==
            ERROR_SUCCESS &&
        from.value <= until.value) {
        event->lost_ns = etwas_kernel_ns(from.value, until.value);
    }
}

void etwas_input_print_time(struct etwas_output *output, const struct etwas_input *input,
                            const EVENT_RECORD *record)
{
    int64_t stamp = record->EventHeader.TimeStamp.QuadPart;

    if (input->time == ETWAS_INPUT_BOTH) {
        etwas_input_print_stamp(output, input, stamp);
    } else if (input->time == ETWAS_INPUT_NANOSECONDS) {
        etwas_text_time_ns(output, stamp);
    } else {
        etwas_text_time(output, stamp);
    }
}

int64_t etwas_input_shown_stamp_ns(const struct etwas_input *input, int64_t stamp)
{
    int64_t time_ns;

    if (!etwas_input_has_raw(input)) {
        return input->time == ETWAS_INPUT_NANOSECONDS ? stamp : etwas_input_ns_of(stamp);
    }
    time_ns = converted(input, stamp, ETWAS_CLOCK_PROCESS_TRACE);
    return input->is_coarse ? time_ns - time_ns % NS_PER_UNIT : time_ns;
}

int64_t etwas_input_shown_ns(const struct etwas_input *input, const EVENT_RECORD *record)
{
    return etwas_input_shown_stamp_ns(input, record->EventHeader.TimeStamp.QuadPart);
}

int64_t etwas_input_stamp_ns(const struct etwas_input *input, int64_t raw)
{
    return converted(input, raw, ETWAS_CLOCK_PROCESS_TRACE);
}

void etwas_input_print_stamp(struct etwas_output *output, const struct etwas_input *input,
                             int64_t raw)
{
    int64_t time_ns = converted(input, raw, ETWAS_CLOCK_PROCESS_TRACE);

    if (input->is_coarse && !etwas_text_is_beyond(time_ns)) {
        etwas_text_time(output, etwas_input_filetime(time_ns));
    } else {
        etwas_text_time_ns(output, time_ns);
    }
}

int64_t etwas_input_start_ns(const struct etwas_input *input)
{
    return etwas_input_ns_of(input->logfile.LogfileHeader.StartTime.QuadPart);
}

int64_t etwas_input_end_ns(const struct etwas_input *input)
{
    return etwas_input_ns_of(input->logfile.LogfileHeader.EndTime.QuadPart);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void put_damage(struct etwas_output *output, const etwas_damage *damage)
{
    etwas_output_format(output, "at byte %" PRIu64 ": %s", damage->file_offset,
                        etwas_damage_name(damage->kind));
    if (damage->bytes_skipped > 0) {
        etwas_output_format(output, " (%" PRIu64 " bytes skipped)", damage->bytes_skipped);
    }
    etwas_output_char(output, '\n');
}

void etwas_input_print_json(struct etwas_output *output, const struct etwas_input *input,
                            const char *kind, int result)
{
    etwas_json_begin(output, kind);
    etwas_json_text(output, "file", input->path);
    etwas_json_boolean(output, "damaged", result != ETWAS_EXIT_DONE);
    etwas_json_number(output, "lost", input->information.lost_events);
    etwas_input_json_unattached(output, input);
}

void etwas_input_print_damages(struct etwas_output *output, const struct etwas_input *input,
                               const char *prefix)
{
    for (uint64_t i = 0; i < input->damage_count && i < ETWAS_INPUT_DAMAGES_KEPT; i++) {
        etwas_output_text(output, prefix);
        put_damage(output, &input->damages[i]);
    }
    if (input->damage_count > ETWAS_INPUT_DAMAGES_KEPT) {
        etwas_output_format(output, "%sand %" PRIu64 " more\n", prefix,
                            input->damage_count - ETWAS_INPUT_DAMAGES_KEPT);
    }
}

void etwas_input_report(const struct etwas_input *input, const char *command, bool is_note,
                        const char *what)
{
    struct etwas_output *errors = etwas_standard_error();

    if (is_note && etwas_is_quiet) {
        return;
    }
    etwas_output_format(errors, "etwas %s: %s", command, is_note ? "note: " : "");
    etwas_text_plain(errors, input->path);
    etwas_output_text(errors, ": ");
    etwas_output_text(errors, what);
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

void etwas_input_warn_of_end(const struct etwas_input *input)
{
    struct etwas_output *errors;

    if (input->information.unfinished && !input->is_session) {
        errors = message(input->path);
        etwas_output_text(errors,
                          "it has no end: its session runs, or was ended by force, and what "
                          "came last may be missing\n");
        etwas_output_flush(errors);
    }
}

void etwas_input_warn(const struct etwas_input *input)
{
    const etwas_trace_information *information = &input->information;
    struct etwas_output *errors;

    for (uint64_t i = 0; i < input->damage_count && i < ETWAS_INPUT_DAMAGES_KEPT; i++) {
        errors = message(input->path);
        etwas_output_text(errors, "damaged ");
        put_damage(errors, &input->damages[i]);
        etwas_output_flush(errors);
    }
    if (input->damage_count > ETWAS_INPUT_DAMAGES_KEPT) {
        errors = message(input->path);
        etwas_output_format(errors, "damaged in %" PRIu64 " more places\n",
                            input->damage_count - ETWAS_INPUT_DAMAGES_KEPT);
        etwas_output_flush(errors);
    }
    etwas_input_warn_of_end(input);
    if (information->lost_events > 0 || information->lost_buffers > 0) {
        errors = message(input->path);
        etwas_output_format(
            errors,
            "%" PRIu64 " event%s and %" PRIu64 " buffer%s were lost while the trace was recorded\n",
            information->lost_events, etwas_human_plural(information->lost_events),
            information->lost_buffers, etwas_human_plural(information->lost_buffers));
        etwas_output_flush(errors);
    }
    if (information->unattached_code != 0) {
        errors = message(input->path);
        etwas_names_put_unattached(errors, information->unattached_processes,
                                   "could not log into its session", information->unattached_code);
        etwas_output_flush(errors);
    }
}

void etwas_input_json_unattached(struct etwas_output *output, const struct etwas_input *input)
{
    if (input->information.unattached_code != 0) {
        etwas_json_number(output, "unattached_total", input->information.unattached_processes);
        etwas_json_text(output, "unattached_reason",
                        etwas_names_unattached(input->information.unattached_code));
    }
}
