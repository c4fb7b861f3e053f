/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Schemas with their texts, found by the schema's address.
 */

#include "described.h"

#include "text.h"

#include <etwas/winmeta.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* Where a text is made before it is known how long it is. */
static struct etwas_output *scratch(void)
{
    static struct etwas_output output;

    output.descriptor = -1;
    output.used_bytes = 0;
    output.error = 0;
    return &output;
}

/* All texts of one schema, while they are made. */
struct texts {
    char *bytes;
    size_t used;
    size_t capacity;
    bool failed;
};

static void keep(struct texts *texts, const struct etwas_output *made, struct etwas_kept_text *kept)
{
    if (texts->capacity - texts->used < made->used_bytes + ETWAS_DESCRIBED_PIECE) {
        size_t capacity = 2 * texts->capacity + made->used_bytes + 256;
        char *larger = realloc(texts->bytes, capacity);

        if (larger == NULL) {
            texts->failed = true;
            return;
        }
        texts->bytes = larger;
        texts->capacity = capacity;
    }
    *kept = (struct etwas_kept_text){texts->used, made->used_bytes};
    memcpy(texts->bytes + texts->used, made->bytes, made->used_bytes);
    texts->used += made->used_bytes;
}

void etwas_described_put_opcode(struct etwas_output *output, uint8_t opcode)
{
    switch (opcode) {
    case 0:
        break;
    case WINEVENT_OPCODE_START:
        etwas_output_text(output, "/Start");
        break;
    case WINEVENT_OPCODE_STOP:
        etwas_output_text(output, "/Stop");
        break;
    default:
        etwas_output_char(output, '/');
        etwas_output_unsigned(output, opcode);
        break;
    }
}

static void keep_title(struct texts *texts, struct etwas_described *described)
{
    const etwas_schema *schema = described->schema;
    const EVENT_DESCRIPTOR *descriptor = &schema->info->EventDescriptor;
    struct etwas_output *made = scratch();

    if (schema->provider[0] != '\0') {
        etwas_text_utf8(made, ETWAS_TEXT_WORD, schema->provider, strlen(schema->provider));
        etwas_output_char(made, '/');
    } else if (schema->event[0] == '\0') {
        etwas_text_guid(made, &schema->info->ProviderGuid);
        etwas_output_char(made, '/');
    }
    if (schema->event[0] != '\0') {
        etwas_text_utf8(made, ETWAS_TEXT_WORD, schema->event, strlen(schema->event));
        if (schema->info->DecodingSource == DecodingSourceTlg) {
            etwas_described_put_opcode(made, descriptor->Opcode);
        }
    } else if (schema->info->DecodingSource == DecodingSourceWbem) {
        etwas_output_unsigned(made, descriptor->Opcode);
    } else {
        etwas_output_char(made, '#');
        etwas_output_unsigned(made, descriptor->Id);
    }
    keep(texts, made, &described->title);
}

/* `number`: how many fields beside it have its name and come before it. */
static void keep_field(struct texts *texts, struct etwas_described_field *field, const char *name,
                       uint32_t number)
{
    struct etwas_output *made = scratch();

    etwas_text_utf8(made, ETWAS_TEXT_WORD, name, strlen(name));
    etwas_output_char(made, '=');
    keep(texts, made, &field->label);
    made = scratch();
    etwas_output_char(made, '"');
    etwas_text_utf8(made, ETWAS_TEXT_JSON, name, strlen(name));
    if (number > 0) {
        etwas_output_char(made, '#');
        etwas_output_unsigned(made, number + 1);
    }
    etwas_output_text(made, "\":");
    keep(texts, made, &field->key);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* A field, its struct, and how many beside it have its name and come before it. */
struct relation {
    const char *name;
    uint32_t field;
    uint32_t parent; /* NO_PARENT: it is in no struct */
    uint32_t number;
};

#define NO_PARENT UINT32_MAX

static int compare_relations(const void *left, const void *right)
{
    const struct relation *a = left;
    const struct relation *b = right;
    int order = strcmp(a->name, b->name);

    if (order != 0) {
        return order;
    }
    if (a->parent != b->parent) {
        return a->parent < b->parent ? -1 : 1;
    }
    return a->field < b->field ? -1 : 1;
}

static int compare_fields(const void *left, const void *right)
{
    const struct relation *a = left;
    const struct relation *b = right;

    return a->field < b->field ? -1 : a->field > b->field;
}

static void find_parents(const etwas_schema *schema, struct relation *relations)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        relations[i] = (struct relation){schema->fields[i].name, i, NO_PARENT, 0};
    }
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const EVENT_PROPERTY_INFO *info = schema->fields[i].info;
        uint32_t first = info->structType.StructStartIndex;
        uint32_t count = info->structType.NumOfStructMembers;

        for (uint32_t k = first;
             (info->Flags & PropertyStruct) != 0 && k < first + count && k < schema->field_count;
             k++) {
            relations[k].parent = i;
        }
    }
}

/* Is the field at the end of this path? */
static bool is_at(const struct etwas_field_path *path, const struct relation *relations,
                  uint32_t field)
{
    size_t end = path->bytes;

    for (;;) {
        size_t bytes = strlen(relations[field].name) + 1;

        if (bytes > end || memcmp(path->text + end - bytes, relations[field].name, bytes) != 0) {
            return false;
        }
        end -= bytes;
        if (end == 0 || relations[field].parent == NO_PARENT) {
            return end == 0 && relations[field].parent == NO_PARENT;
        }
        field = relations[field].parent;
    }
}

/* STRUCT.MEMBER; nothing if it is too long. */
static void write_path(char text[ETWAS_FIELD_PATH_BYTES], const struct relation *relations,
                       uint32_t field)
{
    char reversed[ETWAS_FIELD_PATH_BYTES];
    size_t at = sizeof reversed - 1;

    reversed[at] = '\0';
    for (uint32_t i = field; i != NO_PARENT; i = relations[i].parent) {
        size_t bytes = strlen(relations[i].name);

        if (bytes + 1 > at) {
            return;
        }
        if (i != field) {
            reversed[--at] = '.';
        }
        at -= bytes;
        memcpy(reversed + at, relations[i].name, bytes);
    }
    memcpy(text, reversed + at, sizeof reversed - at);
}

/* Notes the field with a path that ends in its name, in letters of whatever case. */
static void note_alike(struct etwas_field_path *path, const struct relation *relations,
                       uint32_t field)
{
    const char *last = path->text + path->bytes - 1;

    while (last > path->text && last[-1] != '\0') {
        last--;
    }
    if (path->alike[0] == '\0' && strcasecmp(last, relations[field].name) == 0) {
        write_path(path->alike, relations, field);
    }
}

static uint32_t path_of(struct etwas_field_paths *paths, const struct relation *relations,
                        uint32_t field)
{
    for (uint32_t i = 0; i < paths->count; i++) {
        if (is_at(&paths->paths[i], relations, field)) {
            paths->paths[i].met = true;
            return i;
        }
        note_alike(&paths->paths[i], relations, field);
    }
    return ETWAS_FIELD_PATH_NONE;
}

static bool describe_fields(struct etwas_described *described, struct texts *texts,
                            struct etwas_field_paths *paths)
{
    const etwas_schema *schema = described->schema;
    struct relation *relations = calloc(schema->field_count + 1, sizeof *relations);

    if (relations == NULL) {
        return false;
    }
    find_parents(schema, relations);
    qsort(relations, schema->field_count, sizeof *relations, compare_relations);
    for (uint32_t i = 1; i < schema->field_count; i++) {
        if (strcmp(relations[i].name, relations[i - 1].name) == 0 &&
            relations[i].parent == relations[i - 1].parent) {
            relations[i].number = relations[i - 1].number + 1;
        }
    }
    qsort(relations, schema->field_count, sizeof *relations, compare_fields);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        keep_field(texts, &described->fields[i], relations[i].name, relations[i].number);
        described->fields[i].path = path_of(paths, relations, i);
        described->asked_for |= described->fields[i].path != ETWAS_FIELD_PATH_NONE;
    }
    free(relations);
    return !texts->failed;
}

static struct etwas_described *describe(const etwas_schema *schema, struct etwas_field_paths *paths)
{
    struct etwas_described *described =
        calloc(1, sizeof *described + schema->field_count * sizeof described->fields[0]);
    struct texts texts = {NULL, 0, 0, false};

    if (described == NULL) {
        return NULL;
    }
    described->schema = schema;
    keep_title(&texts, described);
    if (!describe_fields(described, &texts, paths) || texts.failed) {
        free(texts.bytes);
        free(described);
        return NULL;
    }
    described->texts = texts.bytes;
    return described;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct etwas_described **find_slot(const struct etwas_descriptions *descriptions,
                                          const etwas_schema *schema)
{
    size_t mask = descriptions->capacity - 1;
    size_t at = (size_t)(((uintptr_t)schema * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;

    while (descriptions->table[at] != NULL && descriptions->table[at]->schema != schema) {
        at = (at + 1) & mask;
    }
    return &descriptions->table[at];
}

static bool grow(struct etwas_descriptions *descriptions)
{
    struct etwas_descriptions larger = {
        .capacity = descriptions->capacity > 0 ? 2 * descriptions->capacity : 64};

    larger.table = calloc(larger.capacity, sizeof(struct etwas_described *));
    if (larger.table == NULL) {
        return false;
    }
    for (size_t i = 0; i < descriptions->capacity; i++) {
        if (descriptions->table[i] != NULL) {
            *find_slot(&larger, descriptions->table[i]->schema) = descriptions->table[i];
        }
    }
    free(descriptions->table);
    descriptions->table = larger.table;
    descriptions->capacity = larger.capacity;
    return true;
}

static struct etwas_described *described_of(struct etwas_descriptions *descriptions,
                                            const etwas_schema *schema)
{
    struct etwas_described **slot = find_slot(descriptions, schema);

    if (*slot != NULL) {
        return *slot;
    }
    if (2 * descriptions->count >= descriptions->capacity) {
        if (!grow(descriptions)) {
            descriptions->out_of_memory = true;
            return NULL;
        }
        slot = find_slot(descriptions, schema);
    }
    *slot = describe(schema, descriptions->paths);
    if (*slot == NULL) {
        descriptions->out_of_memory = true;
        return NULL;
    }
    descriptions->count++;
    return *slot;
}

bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths)
{
    *descriptions = (struct etwas_descriptions){.path = path, .paths = paths};
    if (etwas_decoder_open(&descriptions->decoder) != ERROR_SUCCESS) {
        return false;
    }
    if (!grow(descriptions)) {
        etwas_decoder_close(descriptions->decoder);
        return false;
    }
    return true;
}

void etwas_descriptions_close(struct etwas_descriptions *descriptions)
{
    for (size_t i = 0; i < descriptions->capacity; i++) {
        if (descriptions->table[i] != NULL) {
            free(descriptions->table[i]->texts);
            free(descriptions->table[i]);
        }
    }
    free(descriptions->table);
    etwas_decoder_close(descriptions->decoder);
}

/* ---- reading --------------------------------------------------------------------------------- */

uint32_t etwas_descriptions_take(struct etwas_descriptions *descriptions,
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

/*
 * Is an event's header all that says what it is? Id 0xFFFE may be that of a manifest, and with
 * TraceLogging's channel a payload may say it.
 */
static bool is_said_by_header(const EVENT_RECORD *record)
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

    return (hash ^ hash >> 16) & (ETWAS_DESCRIBED_KINDS - 1);
}

static bool is_classic(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
}

struct etwas_described *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                 const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    const struct etwas_described_kind *kind = &descriptions->kinds[kind_index(header)];

    return kind->known && kind->classic == is_classic(record) &&
                   memcmp(&kind->guid, &header->ProviderId, sizeof kind->guid) == 0 &&
                   memcmp(&kind->descriptor, &header->EventDescriptor, sizeof kind->descriptor) ==
                       0 &&
                   is_said_by_header(record)
               ? kind->described
               : NULL;
}

static void keep_kind(struct etwas_descriptions *descriptions, const EVENT_RECORD *record,
                      struct etwas_described *described)
{
    const EVENT_HEADER *header = &record->EventHeader;

    if (described != NULL && !described->schema->other_version && is_said_by_header(record)) {
        descriptions->kinds[kind_index(header)] = (struct etwas_described_kind){
            true, is_classic(record), header->ProviderId, header->EventDescriptor, described};
    }
}

/* ---- the whole file -------------------------------------------------------------------------- */

static void on_record(EVENT_RECORD *record)
{
    struct etwas_descriptions *descriptions = record->UserContext;

    descriptions->out_of_memory |=
        etwas_decoder_learn_ahead(descriptions->decoder, record) == ERROR_NOT_ENOUGH_MEMORY;
}

void etwas_descriptions_read_whole(struct etwas_descriptions *descriptions)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)descriptions->path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_record,
        .Context = descriptions,
    };
    etwas_trace_handle trace;

    if (descriptions->read_whole) {
        return;
    }
    descriptions->read_whole = true;
    memset(descriptions->kinds, 0, sizeof descriptions->kinds);
    trace = OpenTraceA(&logfile);
    if (trace != INVALID_PROCESSTRACE_HANDLE) {
        /* What is wrong with the file is said when its events are read. */
        (void)ProcessTrace(&trace, 1, NULL, NULL);
        CloseTrace(trace);
    }
}

struct etwas_described *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                const EVENT_RECORD *record, bool *senseless)
{
    const etwas_schema *schema = NULL;
    struct etwas_described *described;
    uint32_t code = etwas_decoder_schema(descriptions->decoder, record, &schema);

    if ((code == ERROR_NOT_FOUND || (code == ERROR_SUCCESS && schema->other_version)) &&
        !descriptions->read_whole) {
        etwas_descriptions_read_whole(descriptions);
        code = etwas_decoder_schema(descriptions->decoder, record, &schema);
    }
    *senseless = code == ERROR_INVALID_DATA;
    descriptions->out_of_memory |= code == ERROR_NOT_ENOUGH_MEMORY;
    described = code == ERROR_SUCCESS ? described_of(descriptions, schema) : NULL;
    keep_kind(descriptions, record, described);
    return described;
}

const char *etwas_descriptions_provider(const struct etwas_descriptions *descriptions,
                                        const EVENT_RECORD *record)
{
    static char name[512];

    etwas_decoder_provider(descriptions->decoder, record, name, sizeof name);
    return name;
}
