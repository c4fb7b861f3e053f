/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a manifest says of an event, as TDH has it: references looked up, names as they are shown. */
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "decode/manifest.h"
#include "decode/manifest_types.h"

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/*
 * A message, or what it refers to in the table of strings; NULL: none, or the table has it not. What
 * it refers to elsewhere, as $(mc.…), is not in a manifest.
 */
static const char *message_of(const struct etwas_manifest *manifest, const char *message)
{
    static const char reference[] = "$(string.";
    const struct etwas_manifest_word *string;
    size_t id_bytes;

    if (message == NULL || !begins_with(message, reference)) {
        return message == NULL || begins_with(message, "$(mc.") ? NULL : message;
    }
    message += strlen(reference);
    id_bytes = strcspn(message, ")");
    string =
        etwas_manifest_find(manifest, ETWAS_MANIFEST_STRING, manifest->strings, message, id_bytes);
    return string == NULL ? NULL : string->message;
}

static const struct etwas_manifest_word *word_of(const struct etwas_manifest *manifest,
                                                 enum etwas_manifest_kind kind, const void *owner,
                                                 const char *name, size_t name_bytes)
{
    const struct etwas_manifest_word *word =
        etwas_manifest_find(manifest, kind, owner, name, name_bytes);

    return word != NULL ? word : etwas_manifest_predefined(kind, name, name_bytes);
}

static uint32_t put_text(struct etwas_build *build, const char *text)
{
    return text == NULL ? 0 : etwas_build_string(build, text, strlen(text));
}

/* The text of a word; of one that is not declared its name. */
static uint32_t put_word(struct etwas_build *build, const struct etwas_manifest *manifest,
                         const struct etwas_manifest_word *word, const char *name,
                         size_t name_bytes)
{
    const char *message = word == NULL ? NULL : message_of(manifest, word->message);
    size_t prefix = begins_with(name, "win:") && name_bytes > 4 ? 4 : 0;

    if (message != NULL && message[0] != 0) {
        return put_text(build, message);
    }
    return etwas_build_string(build, name + prefix, name_bytes - prefix);
}

/* What is being made of an event. */
struct making {
    struct etwas_build build;
    const struct etwas_manifest *manifest;
    const struct etwas_manifest_provider *provider;
    const struct etwas_manifest_event *event;
};

/* Sets the offset of the name, and returns the value; 0 where the event says none. */
static uint64_t set_word(struct making *making, enum etwas_manifest_kind kind, const char *name,
                         uint32_t *offset)
{
    const struct etwas_manifest_word *word;

    if (name == NULL) {
        return 0;
    }
    word = word_of(making->manifest, kind, making->provider, name, strlen(name));
    *offset = put_word(&making->build, making->manifest, word, name, strlen(name));
    return word == NULL ? 0 : word->value;
}

/* A task's own opcode hides the provider's of that name. */
static void set_task_and_opcode(struct making *making)
{
    const struct etwas_manifest_event *event = making->event;
    TRACE_EVENT_INFO *head = &making->build.head;
    const struct etwas_manifest_word *opcode = NULL;
    const struct etwas_manifest_word *task = NULL;

    if (event->task != NULL) {
        task = etwas_manifest_find(making->manifest, ETWAS_MANIFEST_TASK, making->provider,
                                   event->task, strlen(event->task));
        head->TaskNameOffset =
            put_word(&making->build, making->manifest, task, event->task, strlen(event->task));
    }
    if (task != NULL) {
        head->EventDescriptor.Task = (uint16_t)task->value;
        head->EventGuid = task->guid;
    }
    if (task != NULL && event->opcode != NULL) {
        opcode = etwas_manifest_find(making->manifest, ETWAS_MANIFEST_OPCODE, task, event->opcode,
                                     strlen(event->opcode));
    }
    if (opcode != NULL) {
        head->EventDescriptor.Opcode = (uint8_t)opcode->value;
        head->OpcodeNameOffset = put_word(&making->build, making->manifest, opcode, event->opcode,
                                          strlen(event->opcode));
    } else {
        head->EventDescriptor.Opcode = (uint8_t)set_word(making, ETWAS_MANIFEST_OPCODE,
                                                         event->opcode, &head->OpcodeNameOffset);
    }
}

/* One string behind the other, and an empty one. */
static void set_keywords(struct making *making)
{
    static const char blanks[] = " \t\r\n";
    TRACE_EVENT_INFO *head = &making->build.head;
    const char *at = making->event->keywords;

    if (at == NULL) {
        return;
    }
    for (at += strspn(at, blanks); *at != 0; at += strspn(at, blanks)) {
        size_t bytes = strcspn(at, blanks);
        const struct etwas_manifest_word *keyword =
            word_of(making->manifest, ETWAS_MANIFEST_KEYWORD, making->provider, at, bytes);
        uint32_t offset = put_word(&making->build, making->manifest, keyword, at, bytes);

        if (head->KeywordsNameOffset == 0) {
            head->KeywordsNameOffset = offset;
        }
        head->EventDescriptor.Keyword |= keyword == NULL ? 0 : keyword->value;
        at += bytes;
    }
    if (head->KeywordsNameOffset != 0) {
        etwas_build_bytes(&making->build, u"", sizeof u"");
    }
}

static void set_head(struct making *making)
{
    const struct etwas_manifest_event *event = making->event;
    TRACE_EVENT_INFO *head = &making->build.head;

    head->ProviderGuid = making->provider->guid;
    head->DecodingSource = DecodingSourceXMLFile;
    head->EventDescriptor.Id = event->id;
    head->EventDescriptor.Version = event->version;
    head->ProviderNameOffset = put_text(&making->build, making->provider->name);
    head->ProviderMessageOffset =
        put_text(&making->build, message_of(making->manifest, making->provider->message));
    head->EventMessageOffset =
        put_text(&making->build, message_of(making->manifest, event->message));
    head->EventAttributesOffset = put_text(&making->build, event->attributes);
    head->EventDescriptor.Level =
        (uint8_t)set_word(making, ETWAS_MANIFEST_LEVEL, event->level, &head->LevelNameOffset);
    head->EventDescriptor.Channel =
        (uint8_t)set_word(making, ETWAS_MANIFEST_CHANNEL, event->channel, &head->ChannelNameOffset);
    set_task_and_opcode(making);
    set_keywords(making);
    if (event->name != NULL || event->task == NULL) {
        head->EventNameOffset =
            put_text(&making->build, event->name != NULL ? event->name : event->symbol);
    }
}

/* A template that is not there is one field of no known type. */
static void set_fields(struct making *making)
{
    static const char missing[] = "?";
    const char *name = making->event->template_name;
    const struct etwas_manifest_template *template;

    if (name == NULL) {
        return;
    }
    template = etwas_manifest_find(making->manifest, ETWAS_MANIFEST_TEMPLATE, making->provider,
                                   name, strlen(name));
    if (template == NULL) {
        etwas_build_property(&making->build, ETWAS_BUILD_TOP,
                             &(EVENT_PROPERTY_INFO){
                                 .NameOffset = put_text(&making->build, missing),
                                 .nonStructType.InType = ETWAS_BUILD_NO_TYPE,
                                 .count = 1,
                             });
        return;
    }
    making->build.head.Flags = (TEMPLATE_FLAGS) template->flags;
    for (const struct etwas_manifest_field *field = template->first; field != NULL;
         field = field->next) {
        EVENT_PROPERTY_INFO info = field->info;

        info.NameOffset = put_text(&making->build, field->name);
        if ((info.Flags & PropertyStruct) == 0) {
            info.nonStructType.MapNameOffset = put_text(&making->build, field->map);
        }
        etwas_build_property(&making->build, field->parent, &info);
    }
}

uint32_t etwas_manifest_schema(const struct etwas_manifest *manifest,
                               const struct etwas_manifest_provider *provider,
                               const struct etwas_manifest_event *event, TRACE_EVENT_INFO **info,
                               size_t *bytes)
{
    struct making making = {.manifest = manifest, .provider = provider, .event = event};

    etwas_build_begin(&making.build);
    set_head(&making);
    set_fields(&making);
    return etwas_build_end(&making.build, info, bytes);
}

uint32_t etwas_manifest_map(const struct etwas_manifest *manifest,
                            const struct etwas_manifest_map *map, EVENT_MAP_INFO **info,
                            size_t *bytes)
{
    struct etwas_build_entry *entries = calloc(map->count + 1, sizeof *entries);
    struct etwas_build build;
    size_t count = 0;
    uint32_t error;

    if (entries == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_build_begin(&build);
    for (const struct etwas_manifest_entry *entry = map->first; entry != NULL;
         entry = entry->next) {
        entries[count++] = (struct etwas_build_entry){
            .value = entry->value,
            .text = put_text(&build, message_of(manifest, entry->message)),
        };
    }
    error = etwas_build_map_end(&build, put_text(&build, map->name.name), map->flag, entries, count,
                                info, bytes);
    free(entries);
    return error;
}
