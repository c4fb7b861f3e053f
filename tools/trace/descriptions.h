/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_DESCRIPTIONS_H
#define ETWAS_TOOLS_TRACE_DESCRIPTIONS_H

/*
 * What a file says of its events.
 *
 * A description may come after the events that it describes. So the first event that nothing
 * describes has the whole file read for descriptions, once; if that does not help, also the other
 * files of the command, until one has it: each of these is read once for all. What a file says
 * itself comes first.
 */

#include "event/schema_texts.h"
#include "trace/input.h"

/* What the decoder said of events with this header, which have no items that describe them. */
struct etwas_schema_texts_kind {
    bool known;
    bool classic;
    etwas_guid guid;
    EVENT_DESCRIPTOR descriptor;
    struct etwas_schema_texts *schema_texts;
};

enum {
    ETWAS_SCHEMA_TEXTS_KINDS = 256, /* a power of 2 */
};

/* The descriptions of one file. */
struct etwas_descriptions {
    const char *path; /* NULL: no file, since a session tells all before it is needed */
    etwas_decoder *decoder;
    struct etwas_field_paths *paths;
    struct etwas_schema_texts **table; /* by schema, at most half full; capacity is a power of 2 */
    size_t capacity;
    size_t count;
    struct etwas_schema_texts_kind kinds[ETWAS_SCHEMA_TEXTS_KINDS]; /* by a hash of the header */
    bool read_beginning; /* the file's beginning was read for descriptions */
    bool read_whole;     /* all of it */
    bool out_of_memory;
};

/* `path` and `paths` must stay. False without memory. */
bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths);
void etwas_descriptions_close(struct etwas_descriptions *descriptions);

/*
 * Behind the events of a file: says on standard error what of its manifests could not be used. For
 * every command that decodes; once for a file.
 */
void etwas_descriptions_report_left_out(const etwas_decoder *decoder, const char *path);

/*
 * The command that had files has ended, and nothing that it was told of their events is needed any
 * more.
 */
void etwas_descriptions_forget(void);

/*
 * Takes in what a record says about others. ERROR_SUCCESS: it is no event to be shown;
 * ERROR_INVALID_DATA: it makes no sense; else it says nothing.
 */
uint32_t etwas_descriptions_add_record(struct etwas_descriptions *descriptions,
                                       const EVENT_RECORD *record);

/*
 * Is an event's header all that says what it is? Id 0xFFFE may be that of a manifest, and with
 * TraceLogging's channel a payload may say it.
 */
bool etwas_descriptions_header_is_enough(const EVENT_RECORD *record);

/* What describes an event; NULL: nothing does. *senseless: what should, makes no sense. */
struct etwas_schema_texts *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                   const EVENT_RECORD *record, bool *senseless);

/*
 * What describes events with this header, if both functions were asked about one and nothing was
 * learned since: then the answers are the same. NULL: ask them.
 */
struct etwas_schema_texts *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                    const EVENT_RECORD *record);

/* The provider of an event that nothing describes, "" if it is not known. Until the next call. */
const char *etwas_descriptions_provider(const struct etwas_descriptions *descriptions,
                                        const EVENT_RECORD *record);

#endif
