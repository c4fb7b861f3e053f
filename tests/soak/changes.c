/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Every change here is illegal by one rule, and its error follows from that rule. */
#include "changes.h"

#include <stdio.h>
#include <string.h>

enum {
    STRUCTURE_BYTES = sizeof(EVENT_TRACE_PROPERTIES_V2),
    MOST_FILTERS = 51
};

static const uint32_t no_error = ERROR_SUCCESS; /* the change does not apply to this request */

/* ---- changes of the request, each with its code ---------------------------------------------- */

static bool has(const struct soak_attempt *attempt, uint32_t mode)
{
    return (attempt->request.mode & mode) != 0;
}

/* Its file is opened at start, under the name given. */
static bool opens_file_as_named(const struct soak_attempt *attempt)
{
    return attempt->request.has_file && !attempt->request.filtered_out &&
           !has(attempt, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_FILE_MODE_NEWFILE);
}

static uint32_t unknown_clock(struct soak_attempt *attempt)
{
    attempt->request.clock = 4 + soak_upto(attempt->random, 1000);
    return ERROR_INVALID_PARAMETER; /* R155 */
}

static uint32_t system_flags(struct soak_attempt *attempt)
{
    attempt->request.enable_flags = 1u << soak_upto(attempt->random, 31);
    return attempt->request.by_block ? ERROR_INVALID_PARAMETER : no_error; /* R45 */
}

static uint32_t unknown_mode(struct soak_attempt *attempt)
{
    static const uint32_t bits[] = {0x00040000, 0x00080000, 0x00200000, 0x20000000, 0x40000000};

    attempt->request.mode |= bits[soak_upto(attempt->random, 4)];
    return ERROR_INVALID_PARAMETER;
}

/* The pairs that the page "Logging Mode Constants" forbids. */
static uint32_t modes_that_exclude_each_other(struct soak_attempt *attempt)
{
    static const uint32_t pairs[][2] = {
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_FILE_MODE_CIRCULAR},
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_FILE_MODE_NEWFILE},
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_BUFFERING_MODE},
        {EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_FILE_MODE_APPEND},
        {EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_FILE_MODE_NEWFILE},
        {EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_BUFFERING_MODE},
        {EVENT_TRACE_FILE_MODE_APPEND, EVENT_TRACE_FILE_MODE_NEWFILE},
        {EVENT_TRACE_FILE_MODE_APPEND, EVENT_TRACE_REAL_TIME_MODE},
        {EVENT_TRACE_FILE_MODE_APPEND, EVENT_TRACE_BUFFERING_MODE},
        {EVENT_TRACE_FILE_MODE_APPEND, EVENT_TRACE_PRIVATE_LOGGER_MODE},
        {EVENT_TRACE_FILE_MODE_NEWFILE, EVENT_TRACE_BUFFERING_MODE},
        {EVENT_TRACE_FILE_MODE_PREALLOCATE, EVENT_TRACE_PRIVATE_LOGGER_MODE},
        {EVENT_TRACE_REAL_TIME_MODE, EVENT_TRACE_BUFFERING_MODE},
        {EVENT_TRACE_REAL_TIME_MODE, EVENT_TRACE_PRIVATE_LOGGER_MODE},
        {EVENT_TRACE_PRIVATE_LOGGER_MODE, EVENT_TRACE_INDEPENDENT_SESSION_MODE},
    };
    const uint32_t *pair = pairs[soak_upto(attempt->random, sizeof pairs / sizeof pairs[0] - 1)];

    if (soak_once_in(attempt->random, 8)) {
        attempt->request.mode |= EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE;
        return ERROR_INVALID_PARAMETER;
    }
    if (!has(attempt, pair[0] | pair[1])) {
        return no_error;
    }
    attempt->request.mode |= pair[0] | pair[1];
    return ERROR_INVALID_PARAMETER;
}

static uint32_t in_process_without_private(struct soak_attempt *attempt)
{
    attempt->request.mode |= EVENT_TRACE_PRIVATE_IN_PROC;
    return has(attempt, EVENT_TRACE_PRIVATE_LOGGER_MODE) ? no_error : ERROR_INVALID_PARAMETER;
}

static uint32_t no_file_size(struct soak_attempt *attempt)
{
    attempt->request.maximum_file_size = 0;
    return has(attempt, EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE |
                            EVENT_TRACE_FILE_MODE_PREALLOCATE)
               ? ERROR_INVALID_PARAMETER /* R91 */
               : no_error;
}

static uint32_t file_size_below_two_buffers(struct soak_attempt *attempt)
{
    if (attempt->request.maximum_file_size == 0) {
        return no_error;
    }
    attempt->request.mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
    attempt->request.maximum_file_size =
        1 + soak_upto(attempt->random, 2 * soak_buffer_bytes(&attempt->request) / 1024 - 2);
    return ERROR_INVALID_PARAMETER;
}

static uint32_t bad_counter(struct soak_attempt *attempt)
{
    static const char *const names[] = {"none.etl", "%d-%d.etl", "%s.etl", "%x%%.etl", "%"};

    (void)snprintf(attempt->request.file, sizeof attempt->request.file, "%.400s/%s",
                   attempt->folder, names[soak_upto(attempt->random, 4)]);
    return has(attempt, EVENT_TRACE_FILE_MODE_NEWFILE) ? ERROR_INVALID_NAME : no_error; /* R96 */
}

static uint32_t missing_folder(struct soak_attempt *attempt)
{
    (void)snprintf(attempt->request.file, sizeof attempt->request.file, "%.400s/missing/log%s.etl",
                   attempt->folder, has(attempt, EVENT_TRACE_FILE_MODE_NEWFILE) ? "%d" : "");
    return attempt->request.has_file && !attempt->request.filtered_out ? ERROR_PATH_NOT_FOUND
                                                                       : no_error; /* R11 */
}

static uint32_t file_is_a_folder(struct soak_attempt *attempt)
{
    (void)snprintf(attempt->request.file, sizeof attempt->request.file, "%.400s/folder",
                   attempt->folder);
    return opens_file_as_named(attempt) ? ERROR_BAD_PATHNAME : no_error;
}

static uint32_t file_of_a_session(struct soak_attempt *attempt)
{
    (void)snprintf(attempt->request.file, sizeof attempt->request.file, "%.400s/keeper.etl",
                   attempt->folder);
    return opens_file_as_named(attempt) ? ERROR_BAD_PATHNAME : no_error; /* R18 */
}

/* R17; real time alone needs none. */
static uint32_t no_file(struct soak_attempt *attempt)
{
    attempt->request.has_file = false;
    attempt->request.mode &= ~(uint32_t)EVENT_TRACE_REAL_TIME_MODE;
    return attempt->request.kind != SOAK_BUFFERING ? ERROR_BAD_PATHNAME : no_error;
}

static uint32_t name_of_a_session(struct soak_attempt *attempt)
{
    (void)snprintf(attempt->request.name, sizeof attempt->request.name, "%s",
                   soak_once_in(attempt->random, 2) ? "soak KEEPER" : "Soak keeper File");
    attempt->name_is_somebodys = true;
    return ERROR_ALREADY_EXISTS; /* R10 */
}

static uint32_t guid_of_a_session(struct soak_attempt *attempt)
{
    attempt->request.has_guid = true;
    attempt->request.guid = (etwas_guid){0x50a40009, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};
    return attempt->request.by_block ? ERROR_ALREADY_EXISTS : no_error; /* R41 */
}

static uint32_t appended_without_its_clock(struct soak_attempt *attempt)
{
    attempt->request.clock = soak_once_in(attempt->random, 2) ? ETWAS_CLOCK_QPC : 0;
    return has(attempt, EVENT_TRACE_FILE_MODE_APPEND) ? ERROR_INVALID_PARAMETER : no_error;
}

static uint32_t appended_without_its_size(struct soak_attempt *attempt)
{
    attempt->request.buffer_kb = 0;
    return has(attempt, EVENT_TRACE_FILE_MODE_APPEND) ? ERROR_INVALID_PARAMETER : no_error;
}

static uint32_t appended_to_no_trace(struct soak_attempt *attempt)
{
    (void)snprintf(attempt->request.file, sizeof attempt->request.file, "%.400s/noise",
                   attempt->folder);
    return has(attempt, EVENT_TRACE_FILE_MODE_APPEND) ? ERROR_FILE_CORRUPT : no_error;
}

static uint32_t unsupported_mode(struct soak_attempt *attempt)
{
    static const uint32_t modes[] = {
        EVENT_TRACE_SECURE_MODE,          EVENT_TRACE_NONSTOPPABLE_MODE,
        EVENT_TRACE_DELAY_OPEN_FILE_MODE, EVENT_TRACE_ADD_HEADER_MODE,
        EVENT_TRACE_RELOG_MODE,           EVENT_TRACE_MODE_RESERVED,
    };
    uint32_t mode = modes[soak_upto(attempt->random, sizeof modes / sizeof modes[0] - 1)];

    attempt->request.mode |= mode;
    return ERROR_NOT_SUPPORTED;
}

static uint32_t unknown_protocol(struct soak_attempt *attempt)
{
    attempt->request.protocol = 3 + soak_upto(attempt->random, 9);
    return attempt->request.by_block ? no_error : ERROR_INVALID_PARAMETER;
}

static uint32_t sequences_in_one_slot(struct soak_attempt *attempt)
{
    attempt->request.mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    attempt->request.protocol = ETWAS_PROTOCOL_RSEQ;
    return attempt->request.by_block ? no_error : ERROR_INVALID_PARAMETER;
}

static uint32_t flusher_out_of_range(struct soak_attempt *attempt)
{
    if (soak_once_in(attempt->random, 2)) {
        attempt->request.flusher.nice_value = 20;
    } else {
        attempt->request.flusher.realtime_priority = 100;
    }
    return attempt->request.by_block ? no_error : ERROR_INVALID_PARAMETER;
}

static uint32_t other_version(struct soak_attempt *attempt)
{
    attempt->request.version = soak_once_in(attempt->random, 2) ? 1 : 3;
    return attempt->request.by_block && attempt->request.versioned ? ERROR_INVALID_PARAMETER
                                                                   : no_error; /* R21 */
}

static uint32_t bad_filters(struct soak_attempt *attempt)
{
    static uint8_t data[2048];
    static EVENT_FILTER_DESCRIPTOR many[MOST_FILTERS];
    struct soak_request *request = &attempt->request;
    const EVENT_FILTER_DESCRIPTOR good = {
        .Ptr = (uint64_t)(uintptr_t)data, .Size = 4, .Type = EVENT_FILTER_TYPE_PID};

    if (!request->by_block || !request->versioned) {
        return no_error;
    }
    request->filters[0] = good;
    request->filter_count = 1;
    if (!has(attempt, EVENT_TRACE_PRIVATE_LOGGER_MODE) ||
        has(attempt, EVENT_TRACE_PRIVATE_IN_PROC)) {
        return ERROR_INVALID_PARAMETER; /* R23 */
    }
    switch (soak_upto(attempt->random, 5)) {
    case 0:
        request->filter_list = many; /* R22 */
        request->filter_count = MOST_FILTERS;
        break;
    case 1:
        request->filters[1] = good; /* R25 */
        request->filter_count = 2;
        break;
    case 2:
        request->filters[0].Type = EVENT_FILTER_TYPE_EVENT_ID; /* R24 */
        break;
    case 3:
        request->filters[0].Size = 9 * 4; /* R26 */
        break;
    case 4:
        request->filters[0].Size = 5;
        break;
    default:
        request->filters[0].Type = EVENT_FILTER_TYPE_EXECUTABLE_NAME;
        request->filters[0].Size = 1026;
        break;
    }
    return ERROR_INVALID_PARAMETER;
}

static uint32_t empty_name(struct soak_attempt *attempt)
{
    attempt->request.name[0] = 0;
    return ERROR_INVALID_PARAMETER;
}

/* ---- changes of the block -------------------------------------------------------------------- */

static uint32_t short_block(struct soak_attempt *attempt)
{
    attempt->block.properties.Wnode.BufferSize =
        attempt->request.versioned ? STRUCTURE_BYTES - 1 : sizeof(EVENT_TRACE_PROPERTIES) - 1;
    return ERROR_BAD_LENGTH; /* R1 */
}

static uint32_t no_flag(struct soak_attempt *attempt)
{
    attempt->block.properties.Wnode.Flags &= ~WNODE_FLAG_TRACED_GUID;
    return ERROR_INVALID_PARAMETER; /* R2 */
}

static uint32_t bad_offset(struct soak_attempt *attempt)
{
    uint32_t inside = 1 + soak_upto(attempt->random, sizeof(EVENT_TRACE_PROPERTIES) - 2);
    uint32_t outside = (uint32_t)sizeof attempt->block + soak_upto(attempt->random, 5000);
    uint32_t offset = soak_once_in(attempt->random, 2) ? inside : outside;

    if (soak_once_in(attempt->random, 2)) {
        attempt->block.properties.LoggerNameOffset = offset;
    } else {
        attempt->block.properties.LogFileNameOffset = offset;
    }
    return ERROR_INVALID_PARAMETER; /* R8 */
}

static uint32_t no_room_for_the_name(struct soak_attempt *attempt)
{
    attempt->block.properties.LoggerNameOffset = sizeof attempt->block - 4;
    return ERROR_BAD_LENGTH; /* R8 */
}

static uint32_t endless_file_name(struct soak_attempt *attempt)
{
    memset(attempt->block.file_name, 'f', sizeof attempt->block.file_name);
    return attempt->request.has_file ? ERROR_INVALID_PARAMETER : no_error;
}

static uint32_t long_file_name(struct soak_attempt *attempt)
{
    memset(attempt->long_name, 'f', SOAK_TOO_LONG);
    if (attempt->request.wide) {
        soak_widen(attempt->long_name, attempt->block.file_name);
    } else {
        memcpy(attempt->block.file_name, attempt->long_name, SOAK_TOO_LONG + 1);
    }
    return attempt->request.has_file ? ERROR_BAD_PATHNAME : no_error; /* R9 */
}

static uint32_t long_session_name(struct soak_attempt *attempt)
{
    memset(attempt->long_name, 'n', SOAK_TOO_LONG);
    attempt->name_is_long = true;
    return ERROR_INVALID_PARAMETER; /* R9 */
}

/* ---- all of them ----------------------------------------------------------------------------- */

const struct soak_change soak_changes[] = {
    {"an unknown clock", unknown_clock, false},
    {"system flags", system_flags, false},
    {"an unknown mode", unknown_mode, false},
    {"modes that exclude each other", modes_that_exclude_each_other, false},
    {"PRIVATE_IN_PROC without PRIVATE_LOGGER", in_process_without_private, false},
    {"no file size", no_file_size, false},
    {"a file size below two buffers", file_size_below_two_buffers, false},
    {"a file name without one counter", bad_counter, false},
    {"a missing folder", missing_folder, false},
    {"a folder as file", file_is_a_folder, false},
    {"the file of a session", file_of_a_session, false},
    {"no file", no_file, false},
    {"the name of a session", name_of_a_session, false},
    {"the GUID of a session", guid_of_a_session, false},
    {"APPEND without system time", appended_without_its_clock, false},
    {"APPEND without a buffer size", appended_without_its_size, false},
    {"APPEND to what is no trace", appended_to_no_trace, false},
    {"an unsupported mode", unsupported_mode, false},
    {"an unknown protocol", unknown_protocol, false},
    {"restartable sequences in one slot", sequences_in_one_slot, false},
    {"flusher options out of range", flusher_out_of_range, false},
    {"another version of the properties", other_version, false},
    {"bad filters", bad_filters, false},
    {"an empty name", empty_name, false},
    {"a short block", short_block, true},
    {"a block without TRACED_GUID", no_flag, true},
    {"an offset outside its area", bad_offset, true},
    {"no room for the name", no_room_for_the_name, true},
    {"a file name without an end", endless_file_name, true},
    {"a file name that is too long", long_file_name, true},
    {"a session name that is too long", long_session_name, true},
};

const uint32_t soak_change_count = sizeof soak_changes / sizeof soak_changes[0];
