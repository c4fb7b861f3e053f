/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes the schema of a manifest's event as TDH has it: references are resolved, and names are as
 * they are printed.
 */
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "decode/manifest.h"

static bool manifest_begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/*
 * Returns a message, or the string of the table that it refers to; NULL: none, or the table lacks
 * it. The manifest cannot resolve other references, such as $(mc.…).
 */
static const char *manifest_message_of(const struct etwas_manifest *manifest, const char *message)
{
    static const char reference[] = "$(string.";
    const struct etwas_manifest_value *string;
    size_t id_bytes;

    if (message == NULL || !manifest_begins_with(message, reference)) {
        return message == NULL || manifest_begins_with(message, "$(mc.") ? NULL : message;
    }
    message += strlen(reference);
    id_bytes = strcspn(message, ")");
    string =
        etwas_manifest_find(manifest, ETWAS_MANIFEST_STRING, manifest->strings, message, id_bytes);
    return string == NULL ? NULL : string->message;
}

static const struct etwas_manifest_value *manifest_value_of(const struct etwas_manifest *manifest,
                                                            enum etwas_manifest_kind kind,
                                                            const void *owner, const char *name,
                                                            size_t name_bytes)
{
    const struct etwas_manifest_value *word =
        etwas_manifest_find(manifest, kind, owner, name, name_bytes);

    return word != NULL ? word : etwas_manifest_predefined(kind, name, name_bytes);
}

static uint32_t manifest_add_text(struct etwas_info_builder *builder, const char *text)
{
    return text == NULL ? 0 : etwas_builder_add_string(builder, text, strlen(text));
}

/* Adds the text of a word; if it is not declared, its name. */
static uint32_t manifest_add_value_text(struct etwas_info_builder *builder,
                                        const struct etwas_manifest *manifest,
                                        const struct etwas_manifest_value *word, const char *name,
                                        size_t name_bytes)
{
    const char *message = word == NULL ? NULL : manifest_message_of(manifest, word->message);
    size_t prefix = manifest_begins_with(name, "win:") && name_bytes > 4 ? 4 : 0;

    if (message != NULL && message[0] != 0) {
        return manifest_add_text(builder, message);
    }
    return etwas_builder_add_string(builder, name + prefix, name_bytes - prefix);
}

/* The schema under construction. */
struct manifest_schema_build {
    struct etwas_info_builder builder;
    const struct etwas_manifest *manifest;
    const struct etwas_manifest_provider *provider;
    const struct etwas_manifest_event *event;
};

/* Sets the offset of the name, and returns the value; 0 if the event names none. */
static uint64_t manifest_set_value(struct manifest_schema_build *build,
                                   enum etwas_manifest_kind kind, const char *name,
                                   uint32_t *offset)
{
    const struct etwas_manifest_value *word;

    if (name == NULL) {
        return 0;
    }
    word = manifest_value_of(build->manifest, kind, build->provider, name, strlen(name));
    *offset = manifest_add_value_text(&build->builder, build->manifest, word, name, strlen(name));
    return word == NULL ? 0 : word->value;
}

/* An opcode of the task hides an opcode of the provider with the same name. */
static void manifest_set_task_and_opcode(struct manifest_schema_build *build)
{
    const struct etwas_manifest_event *event = build->event;
    TRACE_EVENT_INFO *head = &build->builder.head;
    const struct etwas_manifest_value *opcode = NULL;
    const struct etwas_manifest_value *task = NULL;

    if (event->task != NULL) {
        task = etwas_manifest_find(build->manifest, ETWAS_MANIFEST_TASK, build->provider,
                                   event->task, strlen(event->task));
        head->TaskNameOffset = manifest_add_value_text(&build->builder, build->manifest, task,
                                                       event->task, strlen(event->task));
    }
    if (task != NULL) {
        head->EventDescriptor.Task = (uint16_t)task->value;
        head->EventGuid = task->guid;
    }
    if (task != NULL && event->opcode != NULL) {
        opcode = etwas_manifest_find(build->manifest, ETWAS_MANIFEST_OPCODE, task, event->opcode,
                                     strlen(event->opcode));
    }
    if (opcode != NULL) {
        head->EventDescriptor.Opcode = (uint8_t)opcode->value;
        head->OpcodeNameOffset = manifest_add_value_text(&build->builder, build->manifest, opcode,
                                                         event->opcode, strlen(event->opcode));
    } else {
        head->EventDescriptor.Opcode = (uint8_t)manifest_set_value(
            build, ETWAS_MANIFEST_OPCODE, event->opcode, &head->OpcodeNameOffset);
    }
}

/* Adds one string after the other, and an empty string at the end. */
static void manifest_set_keywords(struct manifest_schema_build *build)
{
    static const char blanks[] = " \t\r\n";
    TRACE_EVENT_INFO *head = &build->builder.head;
    const char *at = build->event->keywords;

    if (at == NULL) {
        return;
    }
    for (at += strspn(at, blanks); *at != 0; at += strspn(at, blanks)) {
        size_t bytes = strcspn(at, blanks);
        const struct etwas_manifest_value *keyword =
            manifest_value_of(build->manifest, ETWAS_MANIFEST_KEYWORD, build->provider, at, bytes);
        uint32_t offset =
            manifest_add_value_text(&build->builder, build->manifest, keyword, at, bytes);

        if (head->KeywordsNameOffset == 0) {
            head->KeywordsNameOffset = offset;
        }
        head->EventDescriptor.Keyword |= keyword == NULL ? 0 : keyword->value;
        at += bytes;
    }
    if (head->KeywordsNameOffset != 0) {
        etwas_builder_add_bytes(&build->builder, u"", sizeof u"");
    }
}

static void manifest_set_head(struct manifest_schema_build *build)
{
    const struct etwas_manifest_event *event = build->event;
    TRACE_EVENT_INFO *head = &build->builder.head;

    head->ProviderGuid = build->provider->guid;
    head->DecodingSource = DecodingSourceXMLFile;
    head->EventDescriptor.Id = event->id;
    head->EventDescriptor.Version = event->version;
    head->ProviderNameOffset = manifest_add_text(&build->builder, build->provider->name);
    head->ProviderMessageOffset = manifest_add_text(
        &build->builder, manifest_message_of(build->manifest, build->provider->message));
    head->EventMessageOffset =
        manifest_add_text(&build->builder, manifest_message_of(build->manifest, event->message));
    head->EventAttributesOffset = manifest_add_text(&build->builder, event->attributes);
    head->EventDescriptor.Level = (uint8_t)manifest_set_value(build, ETWAS_MANIFEST_LEVEL,
                                                              event->level, &head->LevelNameOffset);
    head->EventDescriptor.Channel = (uint8_t)manifest_set_value(
        build, ETWAS_MANIFEST_CHANNEL, event->channel, &head->ChannelNameOffset);
    manifest_set_task_and_opcode(build);
    manifest_set_keywords(build);
    if (event->name != NULL || event->task == NULL) {
        head->EventNameOffset =
            manifest_add_text(&build->builder, event->name != NULL ? event->name : event->symbol);
    }
}

/* A missing template becomes one field of unknown type. */
static void manifest_set_fields(struct manifest_schema_build *build)
{
    static const char missing[] = "?";
    const char *name = build->event->template_name;
    const struct etwas_manifest_template *template;

    if (name == NULL) {
        return;
    }
    template = etwas_manifest_find(build->manifest, ETWAS_MANIFEST_TEMPLATE, build->provider, name,
                                   strlen(name));
    if (template == NULL) {
        etwas_builder_property(&build->builder, ETWAS_BUILDER_TOP,
                               &(EVENT_PROPERTY_INFO){
                                   .NameOffset = manifest_add_text(&build->builder, missing),
                                   .nonStructType.InType = ETWAS_BUILDER_NO_TYPE,
                                   .count = 1,
                               });
        return;
    }
    build->builder.head.Flags = (TEMPLATE_FLAGS) template->flags;
    for (const struct etwas_manifest_field *field = template->first; field != NULL;
         field = field->next) {
        EVENT_PROPERTY_INFO info = field->info;

        info.NameOffset = manifest_add_text(&build->builder, field->name);
        if ((info.Flags & PropertyStruct) == 0) {
            info.nonStructType.MapNameOffset = manifest_add_text(&build->builder, field->map);
        }
        etwas_builder_property(&build->builder, field->parent, &info);
    }
}

uint32_t etwas_manifest_make_schema(const struct etwas_manifest *manifest,
                                    const struct etwas_manifest_provider *provider,
                                    const struct etwas_manifest_event *event,
                                    TRACE_EVENT_INFO **info, size_t *bytes)
{
    struct manifest_schema_build build = {
        .manifest = manifest, .provider = provider, .event = event};

    etwas_builder_begin(&build.builder);
    manifest_set_head(&build);
    manifest_set_fields(&build);
    return etwas_builder_end(&build.builder, info, bytes);
}

uint32_t etwas_manifest_make_map(const struct etwas_manifest *manifest,
                                 const struct etwas_manifest_map *map, EVENT_MAP_INFO **info,
                                 size_t *bytes)
{
    struct etwas_builder_entry *entries = calloc(map->count + 1, sizeof *entries);
    struct etwas_info_builder builder;
    size_t count = 0;
    uint32_t error;

    if (entries == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_builder_begin(&builder);
    for (const struct etwas_manifest_entry *entry = map->first; entry != NULL;
         entry = entry->next) {
        entries[count++] = (struct etwas_builder_entry){
            .value = entry->value,
            .text = manifest_add_text(&builder, manifest_message_of(manifest, entry->message)),
        };
    }
    error = etwas_builder_end_map(&builder, manifest_add_text(&builder, map->name.name), map->flag,
                                  entries, count, info, bytes);
    free(entries);
    return error;
}
