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

static struct etwas_span_memo *memo_of(const struct etwas_span_classes *classes,
                                       const struct etwas_schema_texts *schema_texts,
                                       const etwas_guid *guid, bool is_of_span)
{
    uint64_t words[2];
    uint64_t hash;

    memcpy(words, guid, sizeof words);
    hash = (words[0] ^ words[1] ^ (uintptr_t)schema_texts) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct etwas_span_memo *memo = &classes->memo[i % ETWAS_SPAN_CLASSES_MEMO];

        if (memo->class_number == 0 ||
            (memo->schema_texts == schema_texts && memo->is_of_span == is_of_span &&
             memcmp(&memo->guid, guid, sizeof *guid) == 0)) {
            return memo;
        }
    }
}

uint32_t etwas_span_classes_find(struct etwas_span_classes *classes,
                                 const struct etwas_schema_texts *schema_texts,
                                 const EVENT_RECORD *record)
{
    const etwas_guid *guid = &record->EventHeader.ProviderId;
    bool is_of_span = etwas_span_name_is_of_span(record);
    struct etwas_span_memo *memo = memo_of(classes, schema_texts, guid, is_of_span);
    uint32_t found;

    if (memo->class_number != 0) {
        return memo->class_number - 1;
    }
    found = find_by_name(classes, schema_texts, record);
    /* Half of them stay empty, so that a search ends. */
    if (found != UINT32_MAX && classes->memo_count < ETWAS_SPAN_CLASSES_MEMO / 2) {
        *memo = (struct etwas_span_memo){schema_texts, *guid, is_of_span, found + 1};
        classes->memo_count++;
    }
    return found;
}

void etwas_span_classes_forget(struct etwas_span_classes *classes)
{
    memset(classes->memo, 0, ETWAS_SPAN_CLASSES_MEMO * sizeof *classes->memo);
    classes->memo_count = 0;
}

bool etwas_span_classes_is(const struct etwas_span_classes *classes, uint32_t class_index,
                           const char *wanted)
{
    return class_index != UINT32_MAX &&
           (wanted == NULL || etwas_span_name_is(classes->all[class_index].name,
                                                 &classes->all[class_index].guid, wanted));
}
