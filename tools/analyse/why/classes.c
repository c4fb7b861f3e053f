/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The classes of instances and activities, and the slowest of the requested ones.
 */

#include "analyse/why/why.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes --------------------------------------------------------------------------------- */

uint32_t etwas_why_class(struct etwas_why *why, const struct etwas_input *input,
                         const EVENT_RECORD *record)
{
    char name[ETWAS_SPAN_NAME_BYTES];
    struct etwas_why_class *made;

    etwas_span_name_make(
        name,
        etwas_descriptions_find(etwas_descriptions_of(&why->descriptions, input), record, NULL),
        record);
    for (uint32_t i = 0; i < why->class_count; i++) {
        const struct etwas_why_class *known = &why->classes[i];

        if (memcmp(&known->guid, &record->EventHeader.ProviderId, sizeof known->guid) == 0 &&
            strcmp(known->name, name) == 0) {
            return i;
        }
    }
    if (why->class_count == ETWAS_WHY_CLASSES) {
        why->other_classes++;
        return UINT32_MAX;
    }
    made = &why->classes[why->class_count];
    *made = (struct etwas_why_class){.guid = record->EventHeader.ProviderId};
    memcpy(made->name, name, sizeof name);
    return why->class_count++;
}

static bool is_called(const struct etwas_why_class *named, const char *name)
{
    return etwas_span_name_is(named->name, &named->guid, name);
}

bool etwas_why_has_class(const void *context, const char *name)
{
    const struct etwas_why *why = context;

    for (uint32_t i = 0; i < why->class_count; i++) {
        if (is_called(&why->classes[i], name)) {
            return true;
        }
    }
    return false;
}

bool etwas_why_shows(const struct etwas_why *why, const struct etwas_why_class *its)
{
    return its->count > 0 && (why->class_name == NULL || is_called(its, why->class_name));
}

bool etwas_why_is_asked_for(const struct etwas_why *why, uint32_t class_index,
                            const etwas_span *span)
{
    return (why->class_name == NULL || (class_index != UINT32_MAX &&
                                        is_called(&why->classes[class_index], why->class_name))) &&
           (!why->has_instance || span->instance == why->instance);
}

/* ---- the slowest ----------------------------------------------------------------------------- */

void etwas_why_choose(struct etwas_why *why, const etwas_span *span, uint32_t class_index,
                      uint64_t duration_ns)
{
    uint32_t at = why->chosen_count;

    if (!etwas_why_is_asked_for(why, class_index, span)) {
        return;
    }
    while (at > 0 && why->slow[at - 1].duration_ns < duration_ns) {
        at--;
    }
    if (at == why->slowest) {
        return;
    }
    why->chosen_count += why->chosen_count < why->slowest;
    memmove(&why->slow[at + 1], &why->slow[at], (why->chosen_count - at - 1) * sizeof *why->slow);
    why->slow[at] = (struct etwas_why_slow){span->number, duration_ns};
}

struct etwas_why_chosen *etwas_why_chosen(const struct etwas_why *why, uint64_t number)
{
    for (uint32_t i = 0; i < why->chosen_count; i++) {
        if (why->slow[i].number == number) {
            return &why->chosen[i];
        }
    }
    return NULL;
}
