/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes log records: for all events that neither begin nor end a span, and, in the scope "etwas",
 * for damage and losses.
 */

#include "convert/otlp/otlp.h"

#include "print/json.h"

#include <etwas/evntrace.h>
#include <inttypes.h>

/* The SeverityNumber of each level. Level 0 means no level, and has no severity. */
static const struct severity {
    uint32_t number;
    const char *text;
} severities[] = {
    [TRACE_LEVEL_NONE] = {0, NULL},           [TRACE_LEVEL_CRITICAL] = {21, "FATAL"},
    [TRACE_LEVEL_ERROR] = {17, "ERROR"},      [TRACE_LEVEL_WARNING] = {13, "WARN"},
    [TRACE_LEVEL_INFORMATION] = {9, "INFO"},  [TRACE_LEVEL_VERBOSE] = {5, "DEBUG"},
    [TRACE_LEVEL_VERBOSE + 1] = {1, "TRACE"},
};

static void begin(struct etwas_output *item, int64_t time_ns, uint32_t level)
{
    const struct severity *severity =
        &severities[level <= TRACE_LEVEL_VERBOSE ? level : TRACE_LEVEL_VERBOSE + 1];

    etwas_output_format(item, "{\"severityNumber\":%" PRIu32, severity->number);
    if (severity->text != NULL) {
        etwas_json_text(item, "severityText", severity->text);
    }
    etwas_otlp_put_time(item, "timeUnixNano", time_ns);
    etwas_otlp_put_time(item, "observedTimeUnixNano", time_ns);
}

static void put_name(struct etwas_output *item, const struct etwas_current_event *current)
{
    struct etwas_event_string name = etwas_current_event_string(current, ETWAS_PROPERTY_EVENT);

    if (name.text == NULL) {
        struct etwas_output *title = etwas_output_scratch(item);

        etwas_current_event_print_title(title, ETWAS_TEXT_PLAIN, current);
        name = (struct etwas_event_string){title->bytes, title->used_bytes};
    }
    etwas_text_utf8(item, ETWAS_TEXT_JSON, name.text,
                    name.bytes < ETWAS_OTLP_NAME_BYTES ? name.bytes : ETWAS_OTLP_NAME_BYTES);
}

/* Writes the body: the event's message, or its name if it has none. */
static void put_body(struct etwas_otlp *otlp)
{
    struct etwas_current_event *current = &otlp->convert->current;
    struct etwas_event_string message = etwas_current_event_message(current);

    etwas_output_text(&otlp->item, ",\"eventName\":\"");
    put_name(&otlp->item, current);
    etwas_output_text(&otlp->item, "\",\"body\":{\"stringValue\":\"");
    if (message.text != NULL) {
        etwas_text_utf8(&otlp->item, ETWAS_TEXT_JSON, message.text,
                        message.bytes < ETWAS_OTLP_FIELDS_BYTES / 2 ? message.bytes
                                                                    : ETWAS_OTLP_FIELDS_BYTES / 2);
    } else {
        put_name(&otlp->item, current);
    }
    etwas_output_text(&otlp->item, "\"}");
}

void etwas_otlp_log(struct etwas_otlp *otlp)
{
    const struct etwas_convert *convert = otlp->convert;
    const struct etwas_otlp_open *around = etwas_otlp_span_around(otlp);
    struct etwas_output *item = &otlp->item;
    struct etwas_otlp_source source;
    uint32_t left_out;

    etwas_otlp_source_of(otlp, &source);
    begin(item, convert->time_ns, convert->current.record->EventHeader.EventDescriptor.Level);
    if (around != NULL) {
        etwas_otlp_put_id(item, "traceId", around->id.trace, sizeof around->id.trace);
        etwas_otlp_put_id(item, "spanId", around->id.span, sizeof around->id.span);
    }
    put_body(otlp);
    etwas_output_text(item, ",\"attributes\":[");
    etwas_otlp_header(otlp);
    etwas_otlp_early_time(item, "etwas.time", convert->time_ns);
    left_out = etwas_otlp_fields(otlp, "");
    etwas_output_char(item, ']');
    if (left_out != 0) {
        etwas_json_number(item, "droppedAttributesCount", left_out);
    }
    etwas_output_char(item, '}');
    etwas_otlp_add(otlp, ETWAS_OTLP_LOGS, &source);
}

/* ---- damage and losses ----------------------------------------------------------------------- */

static void begin_own(struct etwas_otlp *otlp, const struct etwas_input *input, const char *what)
{
    struct etwas_output *item = &otlp->item;

    begin(item, otlp->last_ns, TRACE_LEVEL_WARNING);
    etwas_output_text(item, ",\"body\":{\"stringValue\":");
    etwas_json_string(item, what);
    etwas_output_text(item, "},\"attributes\":[");
    etwas_otlp_text(item, "etwas.file", input->path, strlen(input->path));
}

static void end_own(struct etwas_otlp *otlp, const struct etwas_input *input)
{
    const struct etwas_otlp_source source = {
        .input = input, .process = ETWAS_EVENT_UNKNOWN_ID, .scope = "etwas"};

    etwas_output_text(&otlp->item, "]}");
    etwas_otlp_add(otlp, ETWAS_OTLP_LOGS, &source);
}

void etwas_otlp_log_damage(struct etwas_otlp *otlp, const struct etwas_input *input,
                           const etwas_damage *damage)
{
    const char *what = etwas_damage_name(damage->kind);

    begin_own(otlp, input, "damaged");
    etwas_otlp_text(&otlp->item, "etwas.damage", what, strlen(what));
    etwas_otlp_number(&otlp->item, "etwas.bytes_skipped", (int64_t)damage->bytes_skipped);
    end_own(otlp, input);
}

void etwas_otlp_log_losses(struct etwas_otlp *otlp, const struct etwas_input *input)
{
    uint64_t lost = etwas_input_lost(input);
    uint64_t overwritten = etwas_input_overwritten(input);

    if (lost + overwritten != 0) {
        begin_own(otlp, input, "events are lost, or were overwritten");
        etwas_otlp_number(&otlp->item, "etwas.lost", (int64_t)lost);
        etwas_otlp_number(&otlp->item, "etwas.overwritten", (int64_t)overwritten);
        end_own(otlp, input);
    }
}
