/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The classes of instances and activities, and the slowest of what is asked for.
 */

#include "why/why.h"

#include "event.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names ----------------------------------------------------------------------------------- */

/* Appends what there is room for. */
static void append(char name[ETWAS_WHY_NAME_BYTES], const char *text, size_t bytes)
{
    size_t used = strlen(name);
    size_t room = ETWAS_WHY_NAME_BYTES - 1 - used;

    memcpy(name + used, text, bytes < room ? bytes : room);
    name[used + (bytes < room ? bytes : room)] = '\0';
}

static void append_guid(char name[ETWAS_WHY_NAME_BYTES], const etwas_guid *guid)
{
    static struct etwas_output text;

    text.used_bytes = 0;
    etwas_text_guid(&text, guid);
    append(name, text.bytes, text.used_bytes);
}

/* PROVIDER/CLASS: the START's name without what says that it is one. */
static void make_name(char name[ETWAS_WHY_NAME_BYTES], struct etwas_descriptions *descriptions,
                      const EVENT_RECORD *record)
{
    const struct etwas_described *described;
    struct etwas_event event;
    const char *last;
    bool senseless;

    name[0] = '\0';
    etwas_event_read(record, &event);
    described = etwas_descriptions_find(descriptions, record, &senseless);
    if (described == NULL || described->schema->event[0] == '\0') {
        append_guid(name, &record->EventHeader.ProviderId);
        return;
    }
    if (described->schema->provider[0] != '\0') {
        append(name, described->schema->provider, strlen(described->schema->provider));
        append(name, "/", 1);
    }
    last = event.event_name.text == NULL ? strrchr(described->schema->event, '/') : NULL;
    append(name, described->schema->event,
           last != NULL ? (size_t)(last - described->schema->event)
                        : strlen(described->schema->event));
}

/* ---- classes --------------------------------------------------------------------------------- */

uint32_t etwas_why_class(struct etwas_why *why, const struct etwas_input *input,
                         const EVENT_RECORD *record)
{
    char name[ETWAS_WHY_NAME_BYTES];
    struct etwas_why_class *made;

    make_name(name, &why->descriptions[input->number - 1], record);
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

/* By its whole name, by what stands behind the provider, or by its GUID. */
static bool is_called(const struct etwas_why_class *named, const char *name)
{
    const char *last = strrchr(named->name, '/');
    char guid[ETWAS_WHY_NAME_BYTES] = "";

    append_guid(guid, &named->guid);
    return strcasecmp(named->name, name) == 0 ||
           (last != NULL && strcasecmp(last + 1, name) == 0) || strcasecmp(guid, name) == 0;
}

bool etwas_why_has_class(const struct etwas_why *why)
{
    for (uint32_t i = 0; i < why->class_count; i++) {
        if (is_called(&why->classes[i], why->class_name)) {
            return true;
        }
    }
    return why->other_classes > 0;
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
