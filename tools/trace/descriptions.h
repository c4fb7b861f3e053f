/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_DESCRIPTIONS_H
#define ETWAS_TOOLS_TRACE_DESCRIPTIONS_H

/*
 * The descriptions of a file's events.
 *
 * A description may come after the events that it describes. So when an event is met that nothing
 * describes, the whole file is read for descriptions, once. If that does not help, the other files
 * of the command are read too, until one has the description; each is read once. A file's own
 * descriptions take precedence.
 *
 * Each of these structs belongs to one thread at a time, but for struct etwas_shared_descriptions.
 */

#include "event/schema_texts.h"
#include "kernel/processes.h"
#include "math/hash_index.h"
#include "trace/input.h"
#include "trace/process_names.h"

#include <pthread.h>

/*
 * What is read of all files of a command because a file itself does not describe its events, or
 * name a process. The threads that read parts of them share it.
 */
struct etwas_shared_descriptions {
    char *const *paths;
    uint32_t count;
    pthread_mutex_t lock;   /* guards what follows, and what the decoder has */
    etwas_decoder *decoder; /* NULL until it is needed */
    uint32_t next;          /* file to be read: each once, the beginnings of all first */
    bool is_whole;          /* they are read whole now */
    bool out_of_memory;
    struct etwas_process_names processes; /* not read until one is asked for */
};

/* What the decoder has found for events with this header and without items that describe them. */
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
    struct etwas_shared_descriptions *shared; /* NULL: no other file is asked */
    struct etwas_schema_texts **texts;        /* of each schema that an event had */
    size_t capacity;
    uint32_t count;
    struct etwas_hash_index places;                                 /* of the texts, by schema */
    struct etwas_schema_texts_kind kinds[ETWAS_SCHEMA_TEXTS_KINDS]; /* by a hash of the header */
    struct etwas_processes *processes; /* their names; NULL: no record has told of one */
    struct etwas_processes *threads;   /* likewise */
    bool read_beginning;               /* the file's beginning was read for descriptions */
    bool read_whole;                   /* all of it */
    bool out_of_memory;
};

/* The descriptions of all files of a command, as many as `shared` has, which is opened first. */
struct etwas_all_descriptions {
    struct etwas_descriptions files[ETWAS_INPUT_FILES]; /* by number - 1; all zeroes: not open */
    struct etwas_shared_descriptions shared;
};

/* Opens what the files of a command share. The paths must outlive it. Nothing is read yet. */
void etwas_shared_descriptions_open(struct etwas_shared_descriptions *shared, char *const *paths,
                                    uint32_t count);

/* Closes it; it may be all zeroes. To be called when no descriptions that use it are open. */
void etwas_shared_descriptions_close(struct etwas_shared_descriptions *shared);

/*
 * Opens the descriptions of a file. `path`, `paths` and `shared` must outlive them. Returns false
 * without memory. What is closed may be all zeroes.
 */
bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths,
                             struct etwas_shared_descriptions *shared);
void etwas_descriptions_close(struct etwas_descriptions *descriptions);

/*
 * To be called after the events of a file: reports on standard error which of its manifests could
 * not be used. Every command that decodes calls it, once for a file. `decoder` may be NULL.
 */
void etwas_descriptions_report_left_out(const etwas_decoder *decoder, const char *path);

static inline struct etwas_descriptions *etwas_descriptions_of(struct etwas_all_descriptions *all,
                                                               const struct etwas_input *input)
{
    return &all->files[input->number - 1];
}

/* Opens those of an input, unless they are open. Returns false without memory. */
bool etwas_all_descriptions_add(struct etwas_all_descriptions *all, const struct etwas_input *input,
                                struct etwas_field_paths *paths);

/*
 * Returns whether there was memory for all that describes events. Every command that decodes says
 * where there was not, before it closes them.
 */
bool etwas_all_descriptions_are_whole(const struct etwas_all_descriptions *all);

/* Reports what was left out of each file, and closes all. */
void etwas_all_descriptions_finish(struct etwas_all_descriptions *all);

/*
 * Learns what a record says about other events. Returns ERROR_SUCCESS if it describes some, so that
 * it is no event to be shown; ERROR_INVALID_DATA if it makes no sense; otherwise the record
 * describes nothing.
 */
uint32_t etwas_descriptions_add_record(struct etwas_descriptions *descriptions,
                                       const EVENT_RECORD *record);

/*
 * Learns what a record of the kernel's says about a process or a thread. Records come in the order
 * of time.
 */
void etwas_descriptions_add_process(struct etwas_descriptions *descriptions,
                                    const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Returns the name of the process of an id when an event was logged, by its own file, or else by
 * the others; NULL: no file tells it.
 */
const char *etwas_descriptions_process(struct etwas_descriptions *descriptions,
                                       const struct etwas_input *input, const EVENT_RECORD *record,
                                       uint32_t process);

/* Returns the name of a thread when an event was logged; NULL: its file does not tell it. */
const char *etwas_descriptions_thread(const struct etwas_descriptions *descriptions,
                                      const EVENT_RECORD *record, uint32_t thread);

/*
 * Returns whether the header alone determines what an event is. The id 0xFFFE may be that of a
 * manifest, and on TraceLogging's channel the payload may determine it.
 */
bool etwas_descriptions_header_is_enough(const EVENT_RECORD *record);

/*
 * Returns what describes an event; NULL if nothing does. Sets *senseless, if it is not NULL, to
 * whether what should describe it makes no sense.
 */
struct etwas_schema_texts *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                   const EVENT_RECORD *record, bool *senseless);

/*
 * Returns the same from memory, if both functions above were called for an event with this header
 * and nothing was learned since. NULL: call them.
 */
struct etwas_schema_texts *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                    const EVENT_RECORD *record);

#endif
