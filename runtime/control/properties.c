/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/properties.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <string.h>

#include "clock/clock.h"
#include "etl/utf16.h"
#include "session/filter.h"

enum {
    PROPERTIES_VERSION = 2,
};

static size_t properties_unit_bytes(enum etwas_name_encoding encoding)
{
    return encoding == ETWAS_NAMES_UTF16 ? sizeof(etwas_wchar) : sizeof(char);
}

/*
 * Copies UTF-8 or UTF-16 of known length. Returns false if it is ill-formed or longer than a name
 * may be.
 */
static bool properties_copy_text(const void *from, size_t units, enum etwas_name_encoding encoding,
                                 etwas_wchar copy[ETWAS_NAME_UNITS + 1])
{
    char discarded[ETWAS_PATH_BYTES];
    size_t needed;

    if (encoding == ETWAS_NAMES_UTF8) {
        return etwas_utf8_to_utf16(from, units, copy, ETWAS_NAME_UNITS + 1, &needed) ==
               ETWAS_UTF_OK;
    }
    if (units > ETWAS_NAME_UNITS) {
        return false;
    }
    memcpy(copy, from, units * sizeof(etwas_wchar));
    copy[units] = 0;
    return etwas_utf16_to_utf8(copy, units, discarded, sizeof discarded, &needed) == ETWAS_UTF_OK;
}

uint32_t etwas_copy_name(const void *name, enum etwas_name_encoding encoding,
                         etwas_wchar copy[ETWAS_NAME_UNITS + 1])
{
    size_t units = encoding == ETWAS_NAMES_UTF16 ? etwas_utf16_length(name, ETWAS_NAME_UNITS + 1)
                                                 : strnlen(name, ETWAS_PATH_BYTES);

    return units != 0 && properties_copy_text(name, units, encoding, copy)
               ? ERROR_SUCCESS
               : ERROR_INVALID_PARAMETER;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool properties_is_versioned(const EVENT_TRACE_PROPERTIES *properties)
{
    return (properties->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES) != 0;
}

/* Returns the same block as version 2; it has that length only with the flag. */
static const EVENT_TRACE_PROPERTIES_V2 *properties_version_2(
    const EVENT_TRACE_PROPERTIES *properties)
{
    return (const void *)properties;
}

static uint32_t properties_structure_bytes(const EVENT_TRACE_PROPERTIES *properties)
{
    return properties_is_versioned(properties) ? sizeof(EVENT_TRACE_PROPERTIES_V2)
                                               : sizeof(EVENT_TRACE_PROPERTIES);
}

static bool properties_offset_is_valid(const EVENT_TRACE_PROPERTIES *properties, uint32_t offset)
{
    return offset == 0 || (offset >= properties_structure_bytes(properties) &&
                           offset < properties->Wnode.BufferSize);
}

uint32_t etwas_properties_check(const EVENT_TRACE_PROPERTIES *properties)
{
    if (properties == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (properties->Wnode.BufferSize < sizeof *properties ||
        properties->Wnode.BufferSize < properties_structure_bytes(properties)) {
        return ERROR_BAD_LENGTH;
    }
    if (!properties_offset_is_valid(properties, properties->LoggerNameOffset) ||
        !properties_offset_is_valid(properties, properties->LogFileNameOffset)) {
        return ERROR_INVALID_PARAMETER;
    }
    /* If two names had one area, the name written last would be both. */
    if (properties->LoggerNameOffset != 0 &&
        properties->LoggerNameOffset == properties->LogFileNameOffset) {
        return ERROR_INVALID_PARAMETER;
    }
    if (properties_is_versioned(properties) &&
        (properties_version_2(properties)->VersionNumber != PROPERTIES_VERSION ||
         properties_version_2(properties)->FilterDescCount > ETWAS_FILTERS_MAXIMUM)) {
        return ERROR_INVALID_PARAMETER;
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_properties_filters(const EVENT_TRACE_PROPERTIES *properties, uint32_t log_file_mode,
                                  struct etwas_process_filters *filters)
{
    const EVENT_TRACE_PROPERTIES_V2 *second = properties_version_2(properties);
    bool allowed = (log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0 &&
                   (log_file_mode & EVENT_TRACE_PRIVATE_IN_PROC) == 0;

    memset(filters, 0, sizeof *filters);
    if (!properties_is_versioned(properties)) {
        return ERROR_SUCCESS;
    }
    if (!allowed) {
        return second->FilterDescCount == 0 && second->FilterDesc == NULL ? ERROR_SUCCESS
                                                                          : ERROR_INVALID_PARAMETER;
    }
    return etwas_filters_read(second->FilterDesc, second->FilterDescCount, filters);
}

/*
 * Returns the size of a name area: up to the other name's area if that comes later, otherwise to
 * the end.
 */
static size_t properties_area_bytes(const EVENT_TRACE_PROPERTIES *properties, uint32_t offset,
                                    uint32_t other)
{
    uint32_t end = other > offset ? other : properties->Wnode.BufferSize;

    return end - offset;
}

/*
 * Reads the string in the area at `offset`, before `other`. ERROR_INVALID_PARAMETER: it is not
 * terminated there; `not_a_name`: it is too long, or not well formed.
 */
static uint32_t properties_read_area(const EVENT_TRACE_PROPERTIES *properties, uint32_t offset,
                                     uint32_t other, enum etwas_name_encoding encoding,
                                     uint32_t not_a_name, etwas_wchar copy[ETWAS_NAME_UNITS + 1])
{
    const char *area = (const char *)properties + offset;
    size_t room =
        properties_area_bytes(properties, offset, other) / properties_unit_bytes(encoding);
    size_t units = 0;

    if (encoding == ETWAS_NAMES_UTF8) {
        units = strnlen(area, room);
    } else {
        etwas_wchar unit = 1;

        /* The area need not be aligned. */
        for (; units < room; units++) {
            memcpy(&unit, area + units * sizeof unit, sizeof unit);
            if (unit == 0) {
                break;
            }
        }
    }
    if (units == room) {
        return ERROR_INVALID_PARAMETER;
    }
    return properties_copy_text(area, units, encoding, copy) ? ERROR_SUCCESS : not_a_name;
}

uint32_t etwas_properties_logger_name(const EVENT_TRACE_PROPERTIES *properties,
                                      enum etwas_name_encoding encoding,
                                      etwas_wchar name[ETWAS_NAME_UNITS + 1])
{
    uint32_t offset = properties->LoggerNameOffset;

    return offset == 0 ? ERROR_INVALID_PARAMETER
                       : properties_read_area(properties, offset, properties->LogFileNameOffset,
                                              encoding, ERROR_INVALID_PARAMETER, name);
}

uint32_t etwas_properties_file_name(const EVENT_TRACE_PROPERTIES *properties,
                                    enum etwas_name_encoding encoding,
                                    etwas_wchar file_name[ETWAS_NAME_UNITS + 1])
{
    uint32_t offset = properties->LogFileNameOffset;

    file_name[0] = 0;
    return offset == 0 ? ERROR_SUCCESS
                       : properties_read_area(properties, offset, properties->LoggerNameOffset,
                                              encoding, ERROR_BAD_PATHNAME, file_name);
}

void etwas_properties_read(const EVENT_TRACE_PROPERTIES *properties,
                           struct etwas_configuration *configuration)
{
    configuration->guid = properties->Wnode.Guid;
    configuration->clock = properties->Wnode.ClientContext;
    configuration->log_file_mode = properties->LogFileMode;
    configuration->buffer_size_kb = properties->BufferSize;
    configuration->minimum_buffers = properties->MinimumBuffers;
    configuration->maximum_buffers = properties->MaximumBuffers;
    configuration->maximum_file_size = properties->MaximumFileSize;
    configuration->flush_timer = properties->FlushTimer;
    configuration->enable_flags = properties->EnableFlags;
    configuration->memory =
        properties_is_versioned(properties) && properties_version_2(properties)->LargeMdlPages != 0
            ? ETWAS_MEMORY_HUGE
            : 0;
    configuration->no_kernel_stacks = properties_is_versioned(properties) &&
                                      properties_version_2(properties)->ExcludeKernelStack != 0;
}

/* ---- filling --------------------------------------------------------------------------------- */

/*
 * Encodes the name for the caller's functions, with its terminating 0. Returns 0 bytes if it is too
 * long.
 */
static size_t properties_encode(const etwas_wchar *name, enum etwas_name_encoding encoding,
                                char out[ETWAS_PATH_BYTES])
{
    size_t units = etwas_utf16_length(name, ETWAS_NAME_UNITS);
    size_t needed;

    if (encoding == ETWAS_NAMES_UTF16) {
        memcpy(out, name, (units + 1) * sizeof *name);
        return (units + 1) * sizeof *name;
    }
    return etwas_utf16_to_utf8(name, units, out, ETWAS_PATH_BYTES, &needed) == ETWAS_UTF_OK ? needed
                                                                                            : 0;
}

bool etwas_properties_has_room_for_name(const EVENT_TRACE_PROPERTIES *properties,
                                        enum etwas_name_encoding encoding, const etwas_wchar *name)
{
    char encoded[ETWAS_PATH_BYTES];
    size_t bytes = properties_encode(name, encoding, encoded);

    return properties_area_bytes(properties, properties->LoggerNameOffset,
                                 properties->LogFileNameOffset) >= bytes;
}

static uint32_t properties_write_name(EVENT_TRACE_PROPERTIES *properties, uint32_t offset,
                                      uint32_t other, enum etwas_name_encoding encoding,
                                      const etwas_wchar *name)
{
    char encoded[ETWAS_PATH_BYTES];
    size_t bytes;

    if (offset == 0) {
        return ERROR_SUCCESS;
    }
    bytes = properties_encode(name, encoding, encoded);
    if (bytes > properties_area_bytes(properties, offset, other)) {
        return ERROR_MORE_DATA;
    }
    memcpy((char *)properties + offset, encoded, bytes);
    return ERROR_SUCCESS;
}

static uint32_t properties_saturated(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void properties_fill_numbers(EVENT_TRACE_PROPERTIES *properties,
                                    const struct etwas_session *session,
                                    const etwas_session_counts *counts)
{
    const struct etwas_configuration *configuration = &session->configuration;

    properties->Wnode.HistoricalContext = etwas_session_handle(etwas_session_key(session));
    properties->Wnode.TimeStamp.QuadPart = etwas_clock_system();
    properties->Wnode.Guid = configuration->guid;
    properties->Wnode.ClientContext = configuration->clock;
    properties->BufferSize = configuration->buffer_size_kb;
    properties->MinimumBuffers = configuration->minimum_buffers;
    properties->MaximumBuffers = configuration->maximum_buffers;
    properties->MaximumFileSize = configuration->maximum_file_size;
    properties->LogFileMode = configuration->log_file_mode;
    properties->FlushTimer = configuration->flush_timer;
    properties->EnableFlags = configuration->enable_flags;
    properties->NumberOfBuffers = properties_saturated(counts->buffers_allocated);
    properties->FreeBuffers = properties_saturated(counts->buffers_free);
    properties->EventsLost = properties_saturated(counts->lost);
    properties->BuffersWritten = properties_saturated(counts->buffers_written);
    properties->LogBuffersLost = properties_saturated(counts->buffers_lost);
    properties->RealTimeBuffersLost = properties_saturated(counts->realtime_buffers_lost);
    properties->LoggerThreadId =
        (etwas_handle)(uintptr_t)ck_pr_load_32(&session->flusher.thread_id);
}

/* If the session has no file the name stays as it is: it is the caller's, for snapshots. */
static uint32_t properties_write_names(const struct etwas_reply *reply, const etwas_wchar *name,
                                       const etwas_wchar *file_name)
{
    EVENT_TRACE_PROPERTIES *properties = reply->properties;
    uint32_t name_offset = properties->LoggerNameOffset;
    uint32_t file_offset = properties->LogFileNameOffset;
    uint32_t name_code =
        properties_write_name(properties, name_offset, file_offset, reply->encoding, name);
    uint32_t file_code = ERROR_SUCCESS;

    if (file_name[0] != 0 && !reply->keeps_file_name) {
        file_code =
            properties_write_name(properties, file_offset, name_offset, reply->encoding, file_name);
    }
    return name_code != ERROR_SUCCESS ? name_code : file_code;
}

uint32_t etwas_properties_fill_from(const struct etwas_reply *reply,
                                    const struct etwas_session *session,
                                    const etwas_session_counts *counts)
{
    properties_fill_numbers(reply->properties, session, counts);
    return properties_write_names(reply, session->configuration.name, session->entry.file_name);
}

uint32_t etwas_properties_copy(const struct etwas_reply *reply, const EVENT_TRACE_PROPERTIES *from,
                               const etwas_wchar *name, const etwas_wchar *file_name)
{
    EVENT_TRACE_PROPERTIES *to = reply->properties;
    EVENT_TRACE_PROPERTIES copy = *from;

    copy.Wnode.BufferSize = to->Wnode.BufferSize;
    copy.Wnode.Flags = to->Wnode.Flags;
    copy.LoggerNameOffset = to->LoggerNameOffset;
    copy.LogFileNameOffset = to->LogFileNameOffset;
    *to = copy;
    return properties_write_names(reply, name, file_name);
}

uint32_t etwas_properties_fill(const struct etwas_reply *reply, struct etwas_session_key key)
{
    etwas_session_counts counts;
    uint32_t code = ERROR_WMI_INSTANCE_NOT_FOUND;

    if (etwas_session_counts_of(key, &counts) != ERROR_SUCCESS) {
        return code;
    }
    etwas_control_lock();
    /* No thread takes an entry without this lock. */
    if (etwas_session_is_remembered(key)) {
        code = etwas_properties_fill_from(reply, &etwas_sessions[key.index], &counts);
    }
    etwas_control_unlock();
    return code;
}

struct etwas_reply etwas_replies_next(const struct etwas_replies *replies, uint32_t ahead)
{
    const uint32_t place = replies->filled + ahead;

    return (struct etwas_reply){
        .properties = place < replies->array_count ? replies->array[place] : NULL,
        .encoding = replies->encoding,
    };
}

void etwas_replies_store(struct etwas_replies *replies, uint32_t code)
{
    if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        return;
    }
    replies->filled += replies->filled < replies->array_count;
    replies->found++;
    replies->code = code != ERROR_SUCCESS ? code : replies->code;
}
