/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event classes: one for each way in which the events of a trace are declared, numbered as they
 * appear.
 */

#include "convert/ctf/ctf.h"

/* What an event's class is found by. */
struct key {
    const struct etwas_schema_texts *schema_texts;
    const char *name;
    size_t name_bytes;
    uint8_t level;
    uint8_t has;
    uint8_t form;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint32_t hash_of(const struct key *key)
{
    uint64_t hash = mix((uintptr_t)key->schema_texts,
                        (uint64_t)key->level << 16 | (uint64_t)key->has << 8 | key->form);

    for (size_t i = 0; i < key->name_bytes; i++) {
        hash = mix(hash, (uint8_t)key->name[i]);
    }
    return (uint32_t)(hash >> 32);
}

static struct key key_of(const struct etwas_ctf_class *class)
{
    return (struct key){class->schema_texts, (const char *)class->name.data,
                        class->name.used,    class->level,
                        class->has,          class->form};
}

static bool is_same(const struct key *left, const struct key *right)
{
    return left->schema_texts == right->schema_texts && left->level == right->level &&
           left->has == right->has && left->form == right->form &&
           left->name_bytes == right->name_bytes &&
           (left->name_bytes == 0 || memcmp(left->name, right->name, left->name_bytes) == 0);
}

/* Where the class is in the table, or would be. */
static uint32_t *find_slot(const struct etwas_ctf_classes *classes, const struct key *key)
{
    uint32_t mask = 2 * classes->capacity - 1;
    uint32_t at = hash_of(key) & mask;

    while (classes->table[at] != 0) {
        struct key other = key_of(classes->classes[classes->table[at] - 1]);

        if (is_same(&other, key)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &classes->table[at];
}

static bool grow(struct etwas_ctf_classes *classes)
{
    struct etwas_ctf_classes larger = *classes;
    struct etwas_ctf_class **all;

    larger.capacity = classes->capacity > 0 ? 2 * classes->capacity : 64;
    all = realloc(classes->classes, larger.capacity * sizeof(struct etwas_ctf_class *));
    if (all == NULL) {
        return false;
    }
    classes->classes = all;
    larger.classes = all;
    larger.table = calloc(2 * (size_t)larger.capacity, sizeof *larger.table);
    if (larger.table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < classes->count; i++) {
        struct key key = key_of(all[i]);

        *find_slot(&larger, &key) = i + 1;
    }
    free(classes->table);
    *classes = larger;
    return true;
}

static struct etwas_ctf_class *make(struct etwas_ctf_classes *classes, const struct key *key)
{
    size_t fields = key->schema_texts != NULL ? key->schema_texts->schema->field_count : 0;
    size_t bytes = sizeof(struct etwas_ctf_class) + fields * sizeof(struct etwas_ctf_shape);
    struct etwas_ctf_class *class;

    classes->bytes += bytes + key->name_bytes;
    if (classes->bytes > ETWAS_CTF_CLASSES_BYTES) {
        return NULL;
    }
    class = calloc(1, bytes);
    if (class == NULL) {
        return NULL;
    }
    *class = (struct etwas_ctf_class){
        .schema_texts = key->schema_texts,
        .id = classes->count,
        .level = key->level,
        .has = key->has,
        .form = key->form,
    };
    etwas_bytes_put(&class->name, key->name, key->name_bytes);
    if (class->name.failed) {
        free(class);
        return NULL;
    }
    return class;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Looks at the event's values, as long as there is a field of which none has been seen. */
static void learn(struct etwas_ctf_class *class, const EVENT_RECORD *record)
{
    const etwas_schema *schema = class->schema_texts->schema;
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        struct etwas_ctf_shape *shape =
            value.field != NULL ? &class->shape[value.field - schema->fields] : NULL;

        if (value.token == ETWAS_TOKEN_ARRAY_BEGIN) {
            shape->is_array = true;
        } else if (value.token == ETWAS_TOKEN_STRUCT_BEGIN) {
            shape->has_value = true;
        } else if (value.token == ETWAS_TOKEN_VALUE) {
            shape->in_type = value.in_type;
            shape->out_type = value.out_type;
            shape->bytes = (uint8_t)etwas_ctf_number_bytes(&value);
            shape->has_value = true;
        }
    }
    class->is_complete = true;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        class->is_complete &= class->shape[i].has_value;
    }
}

struct etwas_ctf_class *etwas_ctf_class_of(struct etwas_ctf_classes *classes,
                                           const struct etwas_convert *convert, uint8_t has,
                                           enum etwas_ctf_form form)
{
    static struct etwas_output title;
    const struct etwas_current_event *current = &convert->current;
    struct key key = {.level = current->record->EventHeader.EventDescriptor.Level,
                      .has = has,
                      .form = (uint8_t)form};
    uint32_t *slot;
    struct etwas_ctf_class *class;

    if (current->schema_texts != NULL && !current->event.message) {
        key.schema_texts = current->schema_texts;
    } else {
        etwas_output_anew(&title);
        etwas_current_event_print_title(&title, ETWAS_TEXT_WORD, current);
        key.name = title.bytes;
        key.name_bytes = title.used_bytes;
    }
    if (classes->count == classes->capacity && !grow(classes)) {
        return NULL;
    }
    slot = find_slot(classes, &key);
    if (*slot == 0) {
        class = make(classes, &key);
        if (class == NULL) {
            return NULL;
        }
        classes->classes[classes->count++] = class;
        *slot = classes->count;
    }
    class = classes->classes[*slot - 1];
    if (class->schema_texts != NULL && !class->is_complete && form != ETWAS_CTF_TRUNCATED &&
        form != ETWAS_CTF_UNDESCRIBED) {
        learn(class, current->record);
    }
    return class;
}

void etwas_ctf_classes_free(struct etwas_ctf_classes *classes)
{
    for (uint32_t i = 0; i < classes->count; i++) {
        etwas_bytes_free(&classes->classes[i]->name);
        free(classes->classes[i]);
    }
    free(classes->classes);
    free(classes->table);
    *classes = (struct etwas_ctf_classes){0};
}
