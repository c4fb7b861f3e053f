/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/span_classes.h"

#include <stdlib.h>
#include <string.h>

bool etwas_span_classes_open(struct etwas_span_classes *classes)
{
    classes->all = calloc(ETWAS_SPAN_CLASSES, sizeof *classes->all);
    classes->memo = calloc(ETWAS_SPAN_CLASSES_MEMO, sizeof *classes->memo);
    return classes->all != NULL && classes->memo != NULL;
}

void etwas_span_classes_close(struct etwas_span_classes *classes)
{
    free(classes->all);
    free(classes->memo);
    etwas_hash_index_clear(&classes->memo_places);
}

static uint32_t find_by_name(struct etwas_span_classes *classes,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record)
{
    const etwas_guid *guid = &record->EventHeader.ProviderId;
    bool is_of_span = etwas_span_name_is_of_span(record);
    char name[ETWAS_SPAN_NAME_BYTES];

    etwas_span_name_make(name, schema_texts, record);
    for (uint32_t i = 0; i < classes->count; i++) {
        const struct etwas_span_class *known = &classes->all[i];

        if (known->is_of_span == is_of_span && memcmp(&known->guid, guid, sizeof *guid) == 0 &&
            strcmp(known->name, name) == 0) {
            return i;
        }
    }
    if (classes->count == ETWAS_SPAN_CLASSES) {
        return UINT32_MAX;
    }
    classes->all[classes->count].guid = *guid;
    classes->all[classes->count].is_of_span = is_of_span;
    memcpy(classes->all[classes->count].name, name, sizeof name);
    return classes->count++;
}

static bool is_memo(const struct etwas_span_memo *one, const struct etwas_span_memo *other)
{
    return one->schema_texts == other->schema_texts && one->is_of_span == other->is_of_span &&
           memcmp(&one->guid, &other->guid, sizeof one->guid) == 0;
}

uint32_t etwas_span_classes_find(struct etwas_span_classes *classes,
                                 const struct etwas_schema_texts *schema_texts,
                                 const EVENT_RECORD *record)
{
    struct etwas_span_memo memo = {schema_texts, record->EventHeader.ProviderId,
                                   etwas_span_name_is_of_span(record), UINT32_MAX};
    struct etwas_hash_place place;
    uint64_t words[2];
    uint64_t hash;
    uint32_t number;

    memcpy(words, &memo.guid, sizeof words);
    hash = words[0] ^ words[1] ^ (uintptr_t)schema_texts;
    number = etwas_hash_index_first(&classes->memo_places, hash, &place);
    while (number != 0 && !is_memo(&classes->memo[number - 1], &memo)) {
        number = etwas_hash_index_next(&classes->memo_places, &place);
    }
    if (number != 0) {
        return classes->memo[number - 1].class_number;
    }
    memo.class_number = find_by_name(classes, schema_texts, record);
    if (memo.class_number != UINT32_MAX && classes->memo_count < ETWAS_SPAN_CLASSES_MEMO &&
        etwas_hash_index_add(&classes->memo_places, hash, classes->memo_count + 1)) {
        classes->memo[classes->memo_count++] = memo;
    }
    return memo.class_number;
}

void etwas_span_classes_forget(struct etwas_span_classes *classes)
{
    etwas_hash_index_clear(&classes->memo_places);
    classes->memo_count = 0;
}

bool etwas_span_classes_is(const struct etwas_span_classes *classes, uint32_t class_index,
                           const char *wanted)
{
    return class_index != UINT32_MAX &&
           (wanted == NULL || etwas_span_name_is(classes->all[class_index].name,
                                                 &classes->all[class_index].guid, wanted));
}

bool etwas_span_classes_have(const void *context, const char *name)
{
    const struct etwas_span_classes *classes = context;

    for (uint32_t i = 0; i < classes->count; i++) {
        if (etwas_span_classes_is(classes, i, name)) {
            return true;
        }
    }
    return false;
}
