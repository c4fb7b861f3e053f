/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event classes: one for each distinct declaration of events in a trace, numbered as they appear.
 */

#include "convert/ctf/ctf.h"

#include "math/array.h"
#include "math/hash.h"

/* The key of an event class. */
struct key {
    const struct etwas_schema_texts *schema_texts;
    const char *name;
    size_t name_bytes;
    uint8_t level;
    uint8_t has;
    uint8_t form;
};

static uint64_t hash_key(const struct key *key)
{
    uint64_t hash = etwas_hash((uintptr_t)key->schema_texts, key->name, key->name_bytes);

    return etwas_hash_number(hash,
                             (uint64_t)key->level << 16 | (uint64_t)key->has << 8 | key->form);
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

/* Returns NULL if the class is new. */
static struct etwas_ctf_class *find_class(const struct etwas_ctf_classes *classes,
                                          const struct key *key, uint64_t hash)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&classes->places, hash, &place);

    for (; number != 0; number = etwas_hash_index_next(&classes->places, &place)) {
        struct key other = key_of(classes->classes[number - 1]);

        if (is_same(&other, key)) {
            return classes->classes[number - 1];
        }
    }
    return NULL;
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

/* Returns NULL if memory runs out. */
static struct etwas_ctf_class *add_class(struct etwas_ctf_classes *classes, const struct key *key,
                                         uint64_t hash)
{
    struct etwas_ctf_class *class;

    if (!etwas_array_reserve(&classes->classes, &classes->capacity, classes->count + 1,
                             sizeof(struct etwas_ctf_class *))) {
        return NULL;
    }
    class = make(classes, key);
    if (class == NULL) {
        return NULL;
    }
    if (!etwas_hash_index_add(&classes->places, hash, classes->count + 1)) {
        etwas_bytes_free(&class->name);
        free(class);
        return NULL;
    }
    classes->classes[classes->count++] = class;
    return class;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Learns the shapes of fields from the event's values. */
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
    struct etwas_output *title = etwas_output_anew(&classes->title);
    const struct etwas_current_event *current = &convert->current;
    struct key key = {.level = current->record->EventHeader.EventDescriptor.Level,
                      .has = has,
                      .form = (uint8_t)form};
    struct etwas_ctf_class *class;
    uint64_t hash;

    if (current->schema_texts != NULL && !current->event.message) {
        key.schema_texts = current->schema_texts;
    } else {
        etwas_current_event_print_title(title, ETWAS_TEXT_WORD, current);
        key.name = title->bytes;
        key.name_bytes = title->used_bytes;
    }
    hash = hash_key(&key);
    class = find_class(classes, &key, hash);
    class = class != NULL ? class : add_class(classes, &key, hash);
    if (class == NULL) {
        return NULL;
    }
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
    etwas_hash_index_clear(&classes->places);
    etwas_output_free(&classes->title);
    *classes = (struct etwas_ctf_classes){0};
}
