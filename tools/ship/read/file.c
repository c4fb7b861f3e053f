/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Opens a file and identifies its session. */

#include "ship/read/file_inside.h"

#include "cli/files.h"
#include "event/names.h"
#include "math/hash.h"
#include "trace/parts.h"

#include <etwas/evntrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool etwas_ship_file_fail(struct etwas_ship_file *file, const char *reason)
{
    (void)snprintf(file->reason, sizeof file->reason, "%s", reason);
    return false;
}

static bool fail_by_code(struct etwas_ship_file *file, uint32_t code)
{
    const char *name = etwas_names_error(code);

    if (name != NULL) {
        return etwas_ship_file_fail(file, name);
    }
    (void)snprintf(file->reason, sizeof file->reason, "error %" PRIu32, code);
    return false;
}

const char *etwas_ship_file_reason(const struct etwas_ship_file *file)
{
    return file->reason;
}

const struct etwas_ship_facts *etwas_ship_file_facts(const struct etwas_ship_file *file)
{
    return &file->facts;
}

void etwas_ship_file_leave(struct etwas_ship_file *file)
{
    file->is_left = true;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Converts a time. The file is not trusted, so a time that does not fit is limited. */
static int64_t unix_ns_of(int64_t filetime)
{
    int64_t ns;

    (void)etwas_ship_unix_ns(filetime, &ns);
    return ns;
}

int64_t etwas_ship_file_start_ns(const struct etwas_ship_file *file)
{
    return unix_ns_of(file->logfile.LogfileHeader.StartTime.QuadPart);
}

int64_t etwas_ship_file_end_ns(const struct etwas_ship_file *file)
{
    return unix_ns_of(file->logfile.LogfileHeader.EndTime.QuadPart);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void hand_on(EVENT_RECORD *record)
{
    const struct etwas_ship_file *file = record->UserContext;

    file->on_record(record, file->on_record_context);
}

static etwas_trace_handle open_trace(const char *path, EVENT_TRACE_LOGFILEA *logfile,
                                     PEVENT_RECORD_CALLBACK on_record,
                                     PEVENT_TRACE_BUFFER_CALLBACKA on_buffer, void *context)
{
    memset(logfile, 0, sizeof *logfile);
    logfile->LogFileName = (char *)(uintptr_t)path;
    logfile->ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    logfile->EventRecordCallback = on_record;
    logfile->BufferCallback = on_buffer;
    logfile->Context = context;
    return OpenTraceA(logfile);
}

bool etwas_ship_file_read(struct etwas_ship_file *file, uint64_t from, uint64_t until,
                          const struct etwas_ship_reader *reader)
{
    uint32_t code;

    file->on_record = reader->record;
    file->on_record_context = reader->context;
    code = etwas_trace_process_buffers(file->trace, from, until, reader->begin, reader->end,
                                       reader->context);
    return code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT || code == ERROR_CANCELLED ||
           fail_by_code(file, code);
}

/* ---- which session's it is ------------------------------------------------------------------- */

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return etwas_hash(hash, &number, sizeof number);
}

/*
 * Mixes the bits so that each affects all others. Sessions are distributed to shards by this
 * number.
 */
static uint64_t mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

uint64_t etwas_ship_file_session(const struct etwas_ship_file *file, uint32_t index)
{
    return index == 0 ? file->facts.session : mixed(file->facts.session + index);
}

/*
 * A raw stamp that OpenTrace does not report. It is that of the header's event, which is the
 * session's start by its own clock, or that of the first event.
 */
struct beginning {
    bool is_there;
    int64_t raw;
};

static void note_first(struct beginning *beginning, const EVENT_RECORD *record)
{
    if (!beginning->is_there) {
        beginning->is_there = true;
        beginning->raw = record->EventHeader.TimeStamp.QuadPart;
    }
}

static void take_first(EVENT_RECORD *record)
{
    note_first(record->UserContext, record);
}

static uint32_t stop_behind_first(EVENT_TRACE_LOGFILEA *logfile)
{
    (void)logfile;
    return 0;
}

/*
 * Returns whether etwas wrote the file. Its files note what they know of the cycle counter. A file
 * made from others does not count: descriptions are among its events, as in files of other systems.
 */
static bool is_own(etwas_trace_handle trace, const EVENT_TRACE_LOGFILEA *logfile)
{
    etwas_trace_clock clock;

    return (logfile->LogfileHeader.LogFileMode & EVENT_TRACE_RELOG_MODE) == 0 &&
           etwas_trace_query_clock(trace, &clock) == ERROR_SUCCESS && clock.noted;
}

static int64_t read_beginning(struct etwas_ship_file *file)
{
    struct beginning beginning = {.is_there = false};
    EVENT_TRACE_LOGFILEA logfile;
    etwas_trace_handle trace =
        open_trace(file->path, &logfile, take_first, stop_behind_first, &beginning);

    if (trace != INVALID_PROCESSTRACE_HANDLE) {
        (void)ProcessTrace(&trace, 1, NULL, NULL);
        file->is_own = is_own(trace, &logfile);
        CloseTrace(trace);
    }
    return beginning.raw;
}

static uint64_t hash_wide(uint64_t hash, const etwas_wchar *text)
{
    size_t units = 0;

    while (text != NULL && text[units] != 0) {
        units++;
    }
    return etwas_hash(hash_number(hash, units), text, units * sizeof *text);
}

static bool is_snapshot(const struct etwas_ship_file *file)
{
    return (file->logfile.LogfileHeader.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 &&
           file->facts.part != ETWAS_SHIP_RECOVERED_PART;
}

/*
 * Snapshots of one session may have the same events under other buffer numbers. So each snapshot
 * gets a session number of its own.
 */
static uint64_t session_of(const struct etwas_ship_file *file, int64_t start_raw)
{
    const TRACE_LOGFILE_HEADER *header = &file->logfile.LogfileHeader;
    uint64_t hash = hash_number(ETWAS_HASH_OF_NOTHING, file->host_bytes);

    hash = etwas_hash(hash, file->host, file->host_bytes);
    hash = hash_wide(hash, header->LoggerName);
    hash = hash_number(hash, (uint64_t)header->StartTime.QuadPart);
    hash = hash_number(hash, (uint64_t)start_raw);
    if (is_snapshot(file)) {
        hash = hash_number(hash, (uint64_t)header->EndTime.QuadPart);
    }
    return mixed(hash);
}

static uint32_t begin_events(const etwas_trace_buffer *buffer, void *context)
{
    const struct beginning *beginning = context;

    if (beginning->is_there) {
        return ETWAS_BUFFER_STOP;
    }
    return buffer->kind == ETWAS_BUFFER_EVENTS ? ETWAS_BUFFER_READ : ETWAS_BUFFER_PASS;
}

static void take_first_of_events(EVENT_RECORD *record, void *context)
{
    note_first(context, record);
}

/* Computes `written_as` from the file's name and its first event. */
static bool tell_apart(struct etwas_ship_file *file)
{
    struct etwas_ship_facts *facts = &file->facts;
    struct beginning beginning = {.is_there = false};
    const struct etwas_ship_reader reader = {begin_events, NULL, take_first_of_events, &beginning};
    uint64_t hash = hash_wide(ETWAS_HASH_OF_NOTHING, file->logfile.LogfileHeader.LogFileName);
    bool has_places = !facts->is_circular || facts->has_ended;

    if (has_places && !etwas_ship_file_read(file, 0, UINT64_MAX, &reader)) {
        return false;
    }
    facts->written_as = beginning.is_there || facts->has_ended
                            ? mixed(hash_number(hash, (uint64_t)beginning.raw))
                            : 0;
    return true;
}

/* ---- looking --------------------------------------------------------------------------------- */

/*
 * Returns whether the session ended with this file. A file of etwas states that. A snapshot, or a
 * file of another system, is all that there is.
 */
static bool ends_session(const struct etwas_ship_file *file)
{
    return is_snapshot(file) || !file->is_own ||
           (file->information.ends & ETWAS_TRACE_ENDS_SESSION) != 0;
}

/* Reads the facts from the open trace. */
static bool read_facts(struct etwas_ship_file *file)
{
    struct etwas_ship_facts *facts = &file->facts;
    uint32_t mode = file->logfile.LogfileHeader.LogFileMode;

    if (etwas_trace_query(file->trace, &file->information) != ERROR_SUCCESS) {
        return etwas_ship_file_fail(file, "it says nothing of itself");
    }
    facts->part = (file->information.ends & ETWAS_TRACE_IS_RECOVERED) != 0
                      ? ETWAS_SHIP_RECOVERED_PART
                      : file->information.part;
    facts->snapshot_of =
        is_snapshot(file) ? etwas_parts_place(&file->logfile, &file->information) : 0;
    facts->is_appended = (mode & EVENT_TRACE_FILE_MODE_APPEND) != 0;
    facts->is_circular = (mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0;
    facts->bytes = file->information.file_bytes;
    facts->has_ended = !file->information.unfinished;
    facts->ended_ns = facts->has_ended ? etwas_ship_file_end_ns(file) : 0;
    facts->ends_session = facts->has_ended && ends_session(file);
    file->has_cpus = (mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) == 0;
    return true;
}

static bool reopen(struct etwas_ship_file *file)
{
    if (file->trace != INVALID_PROCESSTRACE_HANDLE) {
        CloseTrace(file->trace);
    }
    file->trace = open_trace(file->path, &file->logfile, hand_on, NULL, file);
    return file->trace != INVALID_PROCESSTRACE_HANDLE ? read_facts(file)
                                                      : fail_by_code(file, etwas_GetLastError());
}

bool etwas_ship_file_look(struct etwas_ship_file *file)
{
    uint32_t part = file->facts.part;
    uint64_t written_as = file->facts.written_as;
    int64_t start = file->logfile.LogfileHeader.StartTime.QuadPart;

    if (!reopen(file) || !tell_apart(file)) {
        return false;
    }
    return (file->logfile.LogfileHeader.StartTime.QuadPart == start && file->facts.part == part &&
            (written_as == 0 || file->facts.written_as == written_as)) ||
           etwas_ship_file_fail(file, "it is another file now");
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool begin(struct etwas_ship_file *file)
{
    int64_t start_raw = read_beginning(file);

    if (!reopen(file) || !tell_apart(file)) {
        return false;
    }
    if (is_snapshot(file) && !file->facts.has_ended) {
        return etwas_ship_file_fail(file, "it is a snapshot that is not whole");
    }
    file->facts.session = session_of(file, start_raw);
    return true;
}

struct etwas_ship_file *etwas_ship_file_open(const char *path, const char *host,
                                             const char **reason)
{
    static char kept[ETWAS_SHIP_REASON_BYTES];
    struct etwas_ship_file *file = calloc(1, sizeof *file);

    *reason = "there is no memory for it";
    if (file == NULL) {
        return NULL;
    }
    file->trace = INVALID_PROCESSTRACE_HANDLE;
    file->path = strdup(path);
    file->host = strdup(host);
    if (file->path == NULL || file->host == NULL) {
        etwas_ship_file_close(file);
        return NULL;
    }
    file->name = etwas_files_name(file->path);
    file->host_bytes = strlen(host);
    if (!begin(file)) {
        memcpy(kept, file->reason, sizeof kept);
        *reason = kept;
        etwas_ship_file_close(file);
        return NULL;
    }
    return file;
}

void etwas_ship_file_close(struct etwas_ship_file *file)
{
    if (file == NULL) {
        return;
    }
    if (file->trace != INVALID_PROCESSTRACE_HANDLE) {
        CloseTrace(file->trace);
    }
    if (file->learned.is_open) {
        etwas_descriptions_report_left_out(file->learned.descriptions.decoder, file->path);
    }
    etwas_ship_learned_free(&file->learned);
    etwas_ship_samples_free(&file->samples);
    free(file->path);
    free(file->host);
    free(file);
}
