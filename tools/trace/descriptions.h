/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_DESCRIPTIONS_H
#define ETWAS_TOOLS_TRACE_DESCRIPTIONS_H

/*
 * The descriptions of a file's events.
 *
 * A description may come after the events that it describes. When an event has none, first the
 * beginning of the file is read for descriptions, then the whole file, each once. If that does not
 * help, the other files of the command are read too, until one has the description. A file's own
 * descriptions take precedence.
 *
 * Each of these structs belongs to one thread at a time, except struct etwas_shared_descriptions.
 */

#include "event/schema_texts.h"
#include "kernel/processes.h"
#include "math/hash_index.h"
#include "trace/input.h"
#include "trace/process_names.h"

#include <pthread.h>

/*
 * What is read of all files of a command when a file itself does not describe its events, or name a
 * process. The threads that read the files share it.
 */
struct etwas_shared_descriptions {
    char *const *paths;
    uint32_t count;
    pthread_mutex_t lock;   /* guards the members below, and the decoder's schemas */
    etwas_decoder *decoder; /* NULL until it is needed */
    uint32_t next;          /* the next file to read: first the beginnings of all, then all whole */
    bool is_whole;          /* the second round: files are read whole */
    bool out_of_memory;
    struct etwas_process_names processes; /* read when a name is first needed */
};

/* A memo of the schema for events with this header and without items that describe them. */
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
    const char *path; /* NULL: a session, which describes its events in time */
    etwas_decoder *decoder;
    struct etwas_field_paths *paths;
    struct etwas_shared_descriptions *shared; /* NULL: other files are not read */
    struct etwas_schema_texts **texts;        /* one per schema that an event used */
    size_t capacity;
    uint32_t count;
    struct etwas_hash_index places; /* index of the texts, by schema */
    struct etwas_schema_texts_kind kinds[ETWAS_SCHEMA_TEXTS_KINDS]; /* by a hash of the header */
    struct etwas_processes *processes; /* process names; NULL: no record has named one yet */
    struct etwas_processes *threads;   /* thread names, likewise */
    bool read_beginning;               /* the file's beginning was read for descriptions */
    bool read_whole;                   /* so was the rest */
    bool out_of_memory;
};

/*
 * The descriptions of all files of a command. `shared` is opened first, and has the number of
 * files.
 */
struct etwas_all_descriptions {
    struct etwas_descriptions files[ETWAS_INPUT_FILES]; /* by number - 1; all zeroes: not open */
    struct etwas_shared_descriptions shared;
};

/* Opens what the files of a command share, without reading any. `paths` must outlive it. */
void etwas_shared_descriptions_open(struct etwas_shared_descriptions *shared, char *const *paths,
                                    uint32_t count);

/* Closes it after all descriptions that use it; it may be all zeroes. */
void etwas_shared_descriptions_close(struct etwas_shared_descriptions *shared);

/*
 * Opens the descriptions of a file. `path`, `paths` and `shared` must outlive them. Returns false
 * without memory. The descriptions may be all zeroes when they are closed.
 */
bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths,
                             struct etwas_shared_descriptions *shared);
void etwas_descriptions_close(struct etwas_descriptions *descriptions);

/*
 * Reports on standard error which of a file's manifests could not be used. Every command that
 * decodes calls it once for each file, after its events. `decoder` may be NULL.
 */
void etwas_descriptions_report_left_out(const etwas_decoder *decoder, const char *path);

static inline struct etwas_descriptions *etwas_descriptions_of(struct etwas_all_descriptions *all,
                                                               const struct etwas_input *input)
{
    return &all->files[input->number - 1];
}

/* Opens the descriptions of an input, unless they are open. Returns false without memory. */
bool etwas_all_descriptions_add(struct etwas_all_descriptions *all, const struct etwas_input *input,
                                struct etwas_field_paths *paths);

/*
 * Returns whether there was memory for all descriptions. Every command that decodes checks this
 * before it closes them, and reports a lack.
 */
bool etwas_all_descriptions_are_whole(const struct etwas_all_descriptions *all);

/* Reports which manifests of each file could not be used, and closes all descriptions. */
void etwas_all_descriptions_finish(struct etwas_all_descriptions *all);

/*
 * Learns what a record says about other events. Returns ERROR_SUCCESS if it describes some, and so
 * is not shown as an event; ERROR_INVALID_DATA if it is malformed; another code if it describes
 * nothing.
 */
uint32_t etwas_descriptions_add_record(struct etwas_descriptions *descriptions,
                                       const EVENT_RECORD *record);

/*
 * Learns the name and lifetime in a kernel record about a process or thread. Records must come in
 * time order.
 */
void etwas_descriptions_add_process(struct etwas_descriptions *descriptions,
                                    const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Returns the name of a process at the time of an event, from the event's own file or else from the
 * other files; NULL if no file has it.
 */
const char *etwas_descriptions_process(struct etwas_descriptions *descriptions,
                                       const struct etwas_input *input, const EVENT_RECORD *record,
                                       uint32_t process);

/* Returns the name of a thread at the time of an event; NULL if its file does not have it. */
const char *etwas_descriptions_thread(const struct etwas_descriptions *descriptions,
                                      const EVENT_RECORD *record, uint32_t thread);

/*
 * Returns whether an event's header alone determines its schema. It does not for id 0xFFFE, which
 * may also be a manifest's, and on TraceLogging's channel, where the payload may determine it.
 */
bool etwas_descriptions_header_is_enough(const EVENT_RECORD *record);

/*
 * Returns the description of an event; NULL if there is none. Sets *senseless, unless NULL, to
 * whether the description is malformed.
 */
struct etwas_schema_texts *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                   const EVENT_RECORD *record, bool *senseless);

/*
 * Returns the same from memory, without a search: it succeeds if etwas_descriptions_find was called
 * for an event with this header, and nothing was learned since. NULL: call etwas_descriptions_find.
 */
struct etwas_schema_texts *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                    const EVENT_RECORD *record);

#endif
