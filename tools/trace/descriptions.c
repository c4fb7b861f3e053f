/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* The descriptions of one file: learned from its records, and looked up by schema or header. */

#include "trace/descriptions.h"

#include "math/array.h"
#include "print/text.h"

#include <etwas/winmeta.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

/*
 * Returns the texts of a schema, made at the first call. Returns NULL and sets out_of_memory if
 * there is no memory.
 */
static struct etwas_schema_texts *descriptions_texts(struct etwas_descriptions *descriptions,
                                                     const etwas_schema *schema)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&descriptions->places, (uintptr_t)schema, &place);
    struct etwas_schema_texts *texts;

    while (number != 0 && descriptions->texts[number - 1]->schema != schema) {
        number = etwas_hash_index_next(&descriptions->places, &place);
    }
    if (number != 0) {
        return descriptions->texts[number - 1];
    }
    texts = etwas_schema_texts_make(schema, descriptions->paths);
    if (texts == NULL ||
        !etwas_array_reserve(&descriptions->texts, &descriptions->capacity, descriptions->count + 1,
                             sizeof(struct etwas_schema_texts *)) ||
        !etwas_hash_index_add(&descriptions->places, (uintptr_t)schema, descriptions->count + 1)) {
        descriptions->out_of_memory = true;
        etwas_schema_texts_free(texts);
        return NULL;
    }
    descriptions->texts[descriptions->count++] = texts;
    return texts;
}

/* Adds a record to a table, which is created with its first record. */
static void add_life(struct etwas_descriptions *descriptions, struct etwas_processes **table,
                     bool (*open)(struct etwas_processes *processes), const EVENT_RECORD *record)
{
    uint32_t id;

    if (*table == NULL) {
        *table = calloc(1, sizeof **table);
        if (*table == NULL || !open(*table)) {
            free(*table);
            *table = NULL;
            descriptions->out_of_memory = true;
            return;
        }
    }
    (void)etwas_processes_add_record(*table, record, record->EventHeader.TimeStamp.QuadPart, &id);
    descriptions->out_of_memory |= (*table)->out_of_memory;
}

void etwas_descriptions_add_process(struct etwas_descriptions *descriptions,
                                    const struct etwas_input *input, const EVENT_RECORD *record)
{
    if (input->is_kernel && etwas_kernel_is_process(record)) {
        add_life(descriptions, &descriptions->processes, etwas_processes_open, record);
    } else if (input->is_kernel && etwas_kernel_is_thread(record)) {
        add_life(descriptions, &descriptions->threads, etwas_processes_open_threads, record);
    }
}

const char *etwas_descriptions_thread(const struct etwas_descriptions *descriptions,
                                      const EVENT_RECORD *record, uint32_t thread)
{
    int64_t time = record->EventHeader.TimeStamp.QuadPart;
    uint32_t number = descriptions->threads != NULL
                          ? etwas_processes_life(descriptions->threads, thread, time)
                          : ETWAS_PROCESSES_NONE;
    const struct etwas_processes_life *life =
        number != ETWAS_PROCESSES_NONE ? &descriptions->threads->lives[number] : NULL;

    return life != NULL && (!life->has_ended || time <= life->until) ? life->name : NULL;
}

static void free_lives(struct etwas_processes *table)
{
    if (table != NULL) {
        etwas_processes_close(table);
        free(table);
    }
}

bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths,
                             struct etwas_shared_descriptions *shared)
{
    *descriptions = (struct etwas_descriptions){.path = path, .paths = paths, .shared = shared};
    return etwas_decoder_open(&descriptions->decoder) == ERROR_SUCCESS;
}

void etwas_descriptions_close(struct etwas_descriptions *descriptions)
{
    for (uint32_t i = 0; i < descriptions->count; i++) {
        etwas_schema_texts_free(descriptions->texts[i]);
    }
    free(descriptions->texts);
    etwas_hash_index_clear(&descriptions->places);
    free_lives(descriptions->processes);
    free_lives(descriptions->threads);
    etwas_decoder_close(descriptions->decoder);
}

void etwas_descriptions_report_left_out(const etwas_decoder *decoder, const char *path)
{
    struct etwas_output *errors = etwas_standard_error();
    char words[128];

    if (decoder == NULL || etwas_decoder_left_out(decoder, words, sizeof words) == 0) {
        return;
    }
    etwas_output_format(errors, "%s: ", etwas_output_program);
    etwas_text_plain(errors, path);
    etwas_output_text(errors, ": of its manifests could not be used: ");
    etwas_text_plain(errors, words);
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

/* ---- reading --------------------------------------------------------------------------------- */

uint32_t etwas_descriptions_add_record(struct etwas_descriptions *descriptions,
                                       const EVENT_RECORD *record)
{
    uint32_t code = etwas_decoder_learn(descriptions->decoder, record);

    descriptions->out_of_memory |= code == ERROR_NOT_ENOUGH_MEMORY;
    if (code != ERROR_NOT_FOUND) {
        memset(descriptions->kinds, 0, sizeof descriptions->kinds);
    }
    return code;
}

/* ---- events like others ---------------------------------------------------------------------- */

bool etwas_descriptions_header_is_enough(const EVENT_RECORD *record)
{
    return record->EventHeader.EventDescriptor.Id != 0xFFFE &&
           record->EventHeader.EventDescriptor.Channel != WINEVENT_CHANNEL_TRACELOGGING &&
           ((record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 ||
            (record->ExtendedDataCount == 0 &&
             (record->EventHeader.Flags &
              (EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_STRING_ONLY)) == 0));
}

static size_t kind_index(const EVENT_HEADER *header)
{
    const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
    uint32_t hash = header->ProviderId.Data1 ^ (uint32_t)descriptor->Id * 0x9E3779B1u ^
                    (uint32_t)descriptor->Opcode * 0x85EBCA77u ^ descriptor->Version;

    return (hash ^ hash >> 16) & (ETWAS_SCHEMA_TEXTS_KINDS - 1);
}

static bool is_classic(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
}

struct etwas_schema_texts *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                    const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    const struct etwas_schema_texts_kind *kind = &descriptions->kinds[kind_index(header)];

    return kind->known && kind->classic == is_classic(record) &&
                   memcmp(&kind->guid, &header->ProviderId, sizeof kind->guid) == 0 &&
                   memcmp(&kind->descriptor, &header->EventDescriptor, sizeof kind->descriptor) ==
                       0 &&
                   etwas_descriptions_header_is_enough(record)
               ? kind->schema_texts
               : NULL;
}

static void keep_kind(struct etwas_descriptions *descriptions, const EVENT_RECORD *record,
                      struct etwas_schema_texts *schema_texts)
{
    const EVENT_HEADER *header = &record->EventHeader;

    if (schema_texts != NULL && !schema_texts->schema->other_version &&
        etwas_descriptions_header_is_enough(record)) {
        descriptions->kinds[kind_index(header)] = (struct etwas_schema_texts_kind){
            true, is_classic(record), header->ProviderId, header->EventDescriptor, schema_texts};
    }
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* Collects descriptions from a file. */
struct learner {
    etwas_decoder *decoder;
    bool out_of_memory;
};

static void on_record(EVENT_RECORD *record)
{
    struct learner *learner = record->UserContext;

    learner->out_of_memory |=
        etwas_decoder_learn_ahead(learner->decoder, record) == ERROR_NOT_ENOUGH_MEMORY;
}

/* Size of a file's beginning, where a session writes the descriptions that it knows. */
#define BEGINNING_BYTES (UINT64_C(8) << 20)

/*
 * Reads the beginning of a file, or all of it. Errors in the file are reported when its events are
 * read.
 */
static void read_file(struct learner *learner, const char *path, bool whole)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_record,
        .Context = learner,
    };
    etwas_trace_information information;
    etwas_filetime any = {0, 0}; /* a time for a partial read, which may use the file's index */
    bool part = false;
    etwas_trace_handle trace = OpenTraceA(&logfile);

    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        return;
    }
    if (!whole && etwas_trace_query(trace, &information) == ERROR_SUCCESS &&
        information.file_bytes > BEGINNING_BYTES) {
        (void)etwas_trace_select_section(trace, 0,
                                         (uint32_t)(information.file_bytes / BEGINNING_BYTES));
        part = true;
    }
    (void)ProcessTrace(&trace, 1, part ? &any : NULL, NULL);
    CloseTrace(trace);
}

/* Reads more of the file. Returns false if there is no more. */
static bool read_more(struct etwas_descriptions *descriptions)
{
    struct learner learner = {.decoder = descriptions->decoder};

    if (descriptions->path == NULL || descriptions->read_whole) {
        return false;
    }
    descriptions->read_whole = descriptions->read_beginning;
    memset(descriptions->kinds, 0, sizeof descriptions->kinds);
    read_file(&learner, descriptions->path, descriptions->read_beginning);
    descriptions->out_of_memory |= learner.out_of_memory;
    descriptions->read_beginning = true;
    return true;
}

/* ---- the command's other files --------------------------------------------------------------- */

void etwas_shared_descriptions_open(struct etwas_shared_descriptions *shared, char *const *paths,
                                    uint32_t count)
{
    *shared = (struct etwas_shared_descriptions){
        .paths = paths, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void etwas_shared_descriptions_close(struct etwas_shared_descriptions *shared)
{
    etwas_process_names_free(&shared->processes);
    if (shared->decoder != NULL) {
        etwas_decoder_close(shared->decoder);
        shared->decoder = NULL;
    }
}

/*
 * Reads another of the files, or more of one; the caller holds the lock. Returns false once all
 * files are read whole.
 */
static bool shared_read_another(struct etwas_shared_descriptions *shared)
{
    struct learner learner = {.decoder = shared->decoder};

    if (shared->next == shared->count && !shared->is_whole) {
        shared->is_whole = true;
        shared->next = 0;
    }
    if (shared->next == shared->count) {
        return false;
    }
    read_file(&learner, shared->paths[shared->next++], shared->is_whole);
    shared->out_of_memory |= learner.out_of_memory;
    return true;
}

const char *etwas_descriptions_process(struct etwas_descriptions *descriptions,
                                       const struct etwas_input *input, const EVENT_RECORD *record,
                                       uint32_t process)
{
    struct etwas_shared_descriptions *shared = descriptions->shared;
    const char *name = descriptions->processes != NULL
                           ? etwas_processes_name(descriptions->processes, process,
                                                  record->EventHeader.TimeStamp.QuadPart)
                           : NULL;

    if (name != NULL || shared == NULL || descriptions->path == NULL) {
        return name;
    }
    (void)pthread_mutex_lock(&shared->lock);
    etwas_process_names_read(&shared->processes, shared->paths, shared->count);
    name = etwas_process_names_find(&shared->processes, input, record, process);
    descriptions->out_of_memory |= shared->processes.out_of_memory;
    (void)pthread_mutex_unlock(&shared->lock);
    return name;
}

/* Looks the schema up in the other files. Returns the codes of etwas_decoder_schema. */
static uint32_t ask_others(struct etwas_descriptions *descriptions, const EVENT_RECORD *record,
                           const etwas_schema **schema)
{
    struct etwas_shared_descriptions *shared = descriptions->shared;
    uint32_t code = ERROR_NOT_FOUND;

    if (shared == NULL || shared->count < 2) {
        return code;
    }
    (void)pthread_mutex_lock(&shared->lock);
    if (shared->decoder != NULL || etwas_decoder_open(&shared->decoder) == ERROR_SUCCESS) {
        do {
            code = etwas_decoder_schema(shared->decoder, record, schema);
        } while ((code == ERROR_NOT_FOUND || (code == ERROR_SUCCESS && (*schema)->other_version)) &&
                 shared_read_another(shared));
        shared->out_of_memory |= code == ERROR_NOT_ENOUGH_MEMORY;
    } else {
        shared->out_of_memory = true;
    }
    descriptions->out_of_memory |= shared->out_of_memory;
    (void)pthread_mutex_unlock(&shared->lock);
    return code;
}

struct etwas_schema_texts *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                   const EVENT_RECORD *record, bool *senseless)
{
    const etwas_schema *schema = NULL;
    const etwas_schema *other = NULL;
    struct etwas_schema_texts *schema_texts;
    uint32_t code = etwas_decoder_schema(descriptions->decoder, record, &schema);

    while ((code == ERROR_NOT_FOUND || (code == ERROR_SUCCESS && schema->other_version)) &&
           read_more(descriptions)) {
        code = etwas_decoder_schema(descriptions->decoder, record, &schema);
    }
    if (descriptions->path != NULL &&
        (code == ERROR_NOT_FOUND || (code == ERROR_SUCCESS && schema->other_version)) &&
        ask_others(descriptions, record, &other) == ERROR_SUCCESS &&
        (code == ERROR_NOT_FOUND || !other->other_version)) {
        code = ERROR_SUCCESS;
        schema = other;
    }
    if (senseless != NULL) {
        *senseless = code == ERROR_INVALID_DATA;
    }
    descriptions->out_of_memory |= code == ERROR_NOT_ENOUGH_MEMORY;
    schema_texts = code == ERROR_SUCCESS ? descriptions_texts(descriptions, schema) : NULL;
    keep_kind(descriptions, record, schema_texts);
    return schema_texts;
}

/* ---- all files ------------------------------------------------------------------------------- */

bool etwas_all_descriptions_add(struct etwas_all_descriptions *all, const struct etwas_input *input,
                                struct etwas_field_paths *paths)
{
    struct etwas_descriptions *descriptions = etwas_descriptions_of(all, input);

    return descriptions->decoder != NULL ||
           etwas_descriptions_open(descriptions, input->is_session ? NULL : input->path, paths,
                                   &all->shared);
}

bool etwas_all_descriptions_are_whole(const struct etwas_all_descriptions *all)
{
    for (uint32_t i = 0; i < all->shared.count; i++) {
        if (all->files[i].out_of_memory) {
            return false;
        }
    }
    return true;
}

void etwas_all_descriptions_finish(struct etwas_all_descriptions *all)
{
    for (uint32_t i = 0; i < all->shared.count; i++) {
        etwas_descriptions_report_left_out(all->files[i].decoder, all->files[i].path);
        etwas_descriptions_close(&all->files[i]);
    }
    etwas_shared_descriptions_close(&all->shared);
}
