/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_PROPERTIES and its names: read into a configuration, and filled from a session.
 *
 * A block is checked before it is used (R1–R9, R20–R26): its sizes and offsets come from the
 * caller, and nothing outside of the stated size is accessed.
 */
#ifndef ETWAS_CONTROL_PROPERTIES_H
#define ETWAS_CONTROL_PROPERTIES_H

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/configuration.h"
#include "session/session.h"

/* The functions that the caller used: with names in UTF-8 (A) or in UTF-16 (W). */
enum etwas_name_encoding {
    ETWAS_NAMES_UTF8,
    ETWAS_NAMES_UTF16
};

/*
 * Copies a name given as argument, UTF-8 or UTF-16 by `encoding`. ERROR_INVALID_PARAMETER if it is
 * empty, longer than 1,024 characters or ill-formed.
 */
uint32_t etwas_copy_name(const void *name, enum etwas_name_encoding encoding,
                         etwas_wchar copy[ETWAS_NAME_UNITS + 1]);

/* ERROR_BAD_LENGTH, ERROR_INVALID_PARAMETER: the block cannot be used at all (R1, R8, R20–R22). */
uint32_t etwas_properties_check(const EVENT_TRACE_PROPERTIES *properties);

/*
 * Reads the filters in a block of version 2, for a session of this mode; another block has none.
 * ERROR_INVALID_PARAMETER: filters where there may be none, or wrong ones (R23–R26).
 */
uint32_t etwas_properties_filters(const EVENT_TRACE_PROPERTIES *properties, uint32_t log_file_mode,
                                  struct etwas_process_filters *filters);

/* Whether a copy of the session's name fits at LoggerNameOffset. */
bool etwas_properties_has_room_for_name(const EVENT_TRACE_PROPERTIES *properties,
                                        enum etwas_name_encoding encoding, const etwas_wchar *name);

/*
 * Reads the session's name that a caller stored in the block itself. ERROR_INVALID_PARAMETER: there
 * is none.
 */
uint32_t etwas_properties_logger_name(const EVENT_TRACE_PROPERTIES *properties,
                                      enum etwas_name_encoding encoding,
                                      etwas_wchar name[ETWAS_NAME_UNITS + 1]);

/*
 * Reads the log file name in the block; it is empty without an offset or with an empty area.
 * ERROR_BAD_PATHNAME, ERROR_INVALID_PARAMETER.
 */
uint32_t etwas_properties_file_name(const EVENT_TRACE_PROPERTIES *properties,
                                    enum etwas_name_encoding encoding,
                                    etwas_wchar file_name[ETWAS_NAME_UNITS + 1]);

/* Reads everything that StartTrace reads from the block, except the names and the filters. */
void etwas_properties_read(const EVENT_TRACE_PROPERTIES *properties,
                           struct etwas_configuration *configuration);

/* A block that receives a session's values. */
struct etwas_reply {
    EVENT_TRACE_PROPERTIES *properties;
    enum etwas_name_encoding encoding;
    /* keeps its file name, so that the block of a start or a snapshot can be used again */
    bool keeps_file_name;
};

/* The blocks of QueryAllTraces, which sessions fill one after the other. */
struct etwas_replies {
    EVENT_TRACE_PROPERTIES **array;
    uint32_t array_count;
    enum etwas_name_encoding encoding;
    uint32_t filled;
    uint32_t found; /* sessions, including those for which no block was left */
    uint32_t code;  /* the last error of a session; ERROR_SUCCESS: there was none */
};

/*
 * Returns the block `ahead` places after the next one; its `properties` are NULL if none is left.
 */
struct etwas_reply etwas_replies_next(const struct etwas_replies *replies, uint32_t ahead);

/*
 * Counts a session whose block has been filled with this code. One that has ended meanwhile
 * (ERROR_WMI_INSTANCE_NOT_FOUND) is not counted, and leaves its block to the next.
 */
void etwas_replies_store(struct etwas_replies *replies, uint32_t code);

/*
 * Fills the block from a session that runs or was the last in its entry (R138–R140).
 * ERROR_MORE_DATA if a name does not fit; the rest is still filled. ERROR_WMI_INSTANCE_NOT_FOUND if
 * the entry has another session by now.
 */
uint32_t etwas_properties_fill(const struct etwas_reply *reply, struct etwas_session_key key);

/*
 * Fills the block from the one that another process has filled for its session: numbers, handle,
 * GUID and clock, and these terminated names. An empty file name means that there is none.
 */
uint32_t etwas_properties_copy(const struct etwas_reply *reply, const EVENT_TRACE_PROPERTIES *from,
                               const etwas_wchar *name, const etwas_wchar *file_name);

/* Fills the block from a session whose entry cannot be reused meanwhile. */
uint32_t etwas_properties_fill_from(const struct etwas_reply *reply,
                                    const struct etwas_session *session,
                                    const etwas_session_counts *counts);

/* Checks the arguments of etwas_start, for callers that do not start the session. */

/*
 * Fills the configuration, which must be all zeroes, from the arguments of etwas_start. Returns
 * ERROR_SUCCESS, or an error that etwas_start finds without examining the machine. The caller frees
 * configuration->flusher, unless etwas_lifecycle_start takes ownership of it.
 */
uint32_t etwas_session_options_read(const char *session_name, const char *log_file,
                                    const etwas_session_options *options,
                                    struct etwas_configuration *configuration);

#endif
