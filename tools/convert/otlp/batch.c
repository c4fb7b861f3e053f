/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Gathers items of one kind into lines. Consecutive items of the same source share their resource
 * and scope.
 */

#include "convert/otlp/otlp.h"

#include "math/array.h"
#include "print/text.h"

#include <stdlib.h>

static const struct kind {
    const char *resources;
    const char *scopes;
    const char *items;
} kinds[ETWAS_OTLP_KINDS] = {
    [ETWAS_OTLP_SPANS] = {"resourceSpans", "scopeSpans", "spans"},
    [ETWAS_OTLP_LOGS] = {"resourceLogs", "scopeLogs", "logRecords"},
};

static void append(struct etwas_otlp *otlp, struct etwas_otlp_batch *batch, const void *bytes,
                   size_t count)
{
    if (!etwas_array_reserve(&batch->bytes, &batch->room, batch->used + count, 1)) {
        otlp->convert->out_of_memory = true;
        return;
    }
    memcpy(batch->bytes + batch->used, bytes, count);
    batch->used += count;
}

static void append_text(struct etwas_otlp *otlp, struct etwas_otlp_batch *batch, const char *text)
{
    append(otlp, batch, text, strlen(text));
}

void etwas_otlp_source_of(struct etwas_otlp *otlp, struct etwas_otlp_source *source)
{
    char guid[ETWAS_TEXT_GUID_CHARACTERS];
    const struct etwas_current_event *current = &otlp->convert->current;
    struct etwas_event_string name = etwas_current_event_string(current, ETWAS_PROPERTY_PROVIDER);

    if (name.text == NULL) {
        etwas_text_guid_characters(guid, &current->record->EventHeader.ProviderId);
        name = (struct etwas_event_string){guid, sizeof guid};
    }
    if (name.bytes > sizeof source->scope - 1) {
        name.bytes = sizeof source->scope - 1;
    }
    source->input = current->input;
    source->process = current->event.process;
    memcpy(source->scope, name.text, name.bytes);
    source->scope[name.bytes] = '\0';
}

static bool is_same_resource(const struct etwas_otlp_source *one,
                             const struct etwas_otlp_source *other)
{
    return one->input == other->input && one->process == other->process;
}

/* Begins a resource, up to its list of scopes. */
static void begin_resource(struct etwas_otlp *otlp, struct etwas_otlp_batch *batch,
                           const struct kind *kind, const struct etwas_otlp_source *source)
{
    struct etwas_output *text = etwas_output_scratch(&otlp->item);

    etwas_output_text(text, "{\"resource\":{\"attributes\":["
                            "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"");
    etwas_output_text(text, otlp->services[source->input->number - 1]);
    etwas_output_text(text, "\"}}");
    if (source->process != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_otlp_number(text, "process.pid", source->process);
    }
    etwas_output_format(text, "]},\"%s\":[", kind->scopes);
    append(otlp, batch, text->bytes, text->used_bytes);
}

static void begin_scope(struct etwas_otlp *otlp, struct etwas_otlp_batch *batch,
                        const struct kind *kind, const struct etwas_otlp_source *source)
{
    struct etwas_output *text = etwas_output_scratch(&otlp->item);

    etwas_output_text(text, "{\"scope\":{\"name\":\"");
    etwas_text_utf8(text, ETWAS_TEXT_JSON, source->scope, strlen(source->scope));
    etwas_output_format(text, "\"},\"%s\":[", kind->items);
    append(otlp, batch, text->bytes, text->used_bytes);
}

static void end_line(struct etwas_otlp *otlp, struct etwas_otlp_batch *batch)
{
    struct etwas_output *output = otlp->convert->output;

    if (batch->used == 0) {
        return;
    }
    append_text(otlp, batch, "]}]}]}\n");
    etwas_output_bytes(output, batch->bytes, batch->used);
    batch->used = 0;
}

void etwas_otlp_add(struct etwas_otlp *otlp, enum etwas_otlp_kind kind,
                    const struct etwas_otlp_source *source)
{
    struct etwas_otlp_batch *batch = &otlp->batches[kind];

    if (batch->used == 0) {
        append_text(otlp, batch, "{\"");
        append_text(otlp, batch, kinds[kind].resources);
        append_text(otlp, batch, "\":[");
        begin_resource(otlp, batch, &kinds[kind], source);
        begin_scope(otlp, batch, &kinds[kind], source);
    } else if (!is_same_resource(&batch->source, source)) {
        append_text(otlp, batch, "]}]},");
        begin_resource(otlp, batch, &kinds[kind], source);
        begin_scope(otlp, batch, &kinds[kind], source);
    } else if (strcmp(batch->source.scope, source->scope) != 0) {
        append_text(otlp, batch, "]},");
        begin_scope(otlp, batch, &kinds[kind], source);
    } else {
        append_text(otlp, batch, ",");
    }
    append(otlp, batch, otlp->item.bytes, otlp->item.used_bytes);
    etwas_output_anew(&otlp->item);
    batch->source = *source;
    if (batch->used >= ETWAS_OTLP_LINE_BYTES) {
        end_line(otlp, batch);
    }
}

void etwas_otlp_end_lines(struct etwas_otlp *otlp)
{
    for (uint32_t kind = 0; kind < ETWAS_OTLP_KINDS; kind++) {
        end_line(otlp, &otlp->batches[kind]);
    }
}

void etwas_otlp_put_time(struct etwas_output *item, const char *key, int64_t time_ns)
{
    etwas_output_text(item, ",\"");
    etwas_output_text(item, key);
    etwas_output_text(item, "\":\"");
    etwas_output_unsigned(item,
                          time_ns > 0 && !etwas_text_is_beyond(time_ns) ? (uint64_t)time_ns : 0);
    etwas_output_char(item, '"');
}
