/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes instances and activities as spans. A span is written when it ends, with the data of its
 * START and END. A span without an END is written at the end of all files, or when another START
 * takes its place. It is marked as such.
 */

#include "convert/otlp/otlp.h"

#include "math/array.h"
#include "print/json.h"
#include "trace/span_name.h"

#include <stdlib.h>

enum {
    KIND_INTERNAL = 1,
};

/* Returns NULL if memory runs out. */
static struct etwas_otlp_open *open_at(struct etwas_otlp *otlp, uint32_t place)
{
    if (!etwas_array_reach(&otlp->open, &otlp->open_capacity, place, sizeof *otlp->open)) {
        otlp->convert->out_of_memory = true;
        return NULL;
    }
    return &otlp->open[place];
}

static struct etwas_otlp_open *find_open(const struct etwas_otlp *otlp, uint64_t number,
                                         uint32_t place)
{
    return number != 0 && place < otlp->open_capacity && otlp->open[place].number == number
               ? &otlp->open[place]
               : NULL;
}

const struct etwas_otlp_open *etwas_otlp_span_around(const struct etwas_otlp *otlp)
{
    const etwas_span *span = otlp->convert->span;

    return otlp->convert->span_role == ETWAS_SPAN_INSIDE
               ? find_open(otlp, span->number, span->place)
               : NULL;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Writes the name and the attributes, whose list stays open. Returns how many were left out. */
static uint32_t put_start(struct etwas_otlp *otlp)
{
    const struct etwas_current_event *current = &otlp->convert->current;
    char name[ETWAS_SPAN_NAME_BYTES];

    etwas_span_name_make(name, current->schema_texts, current->record);
    etwas_output_text(&otlp->item, ",\"name\":");
    etwas_json_string(&otlp->item, name);
    etwas_output_text(&otlp->item, ",\"attributes\":[");
    etwas_otlp_header(otlp);
    etwas_otlp_early_time(&otlp->item, "etwas.time", otlp->convert->time_ns);
    return etwas_otlp_fields(otlp, "");
}

/* Moves the item to the open span, or drops it if the limit is reached. */
static void keep_open(struct etwas_otlp *otlp, struct etwas_otlp_open *open)
{
    size_t bytes = otlp->item.used_bytes;

    open->text = otlp->kept_bytes + bytes <= ETWAS_OTLP_KEPT_BYTES ? malloc(bytes) : NULL;
    if (open->text != NULL) {
        memcpy(open->text, otlp->item.bytes, bytes);
        open->bytes = bytes;
        otlp->kept_bytes += bytes;
    }
    etwas_output_anew(&otlp->item);
}

static void begin_span(struct etwas_otlp *otlp, struct etwas_otlp_open *open)
{
    const etwas_span *span = otlp->convert->span;
    const struct etwas_otlp_open *parent = find_open(otlp, span->parent, span->parent_place);

    *open = (struct etwas_otlp_open){
        .number = span->number,
        .id = etwas_otlp_id_of(otlp, parent),
        .thread = otlp->convert->current.event.thread,
        .start_ns = otlp->convert->time_ns,
        .is_wanted = otlp->convert->is_wanted,
    };
    if (parent != NULL) {
        memcpy(open->parent, parent->id.span, sizeof open->parent);
    }
    etwas_otlp_source_of(otlp, &open->source);
    open->left_out = put_start(otlp);
    keep_open(otlp, open);
}

/* ---- end ------------------------------------------------------------------------------------- */

static void put_head(struct etwas_otlp *otlp, const struct etwas_otlp_open *open, int64_t end_ns)
{
    static const uint8_t none[sizeof open->parent];
    struct etwas_output *item = &otlp->item;

    etwas_output_format(item, "{\"kind\":%d", KIND_INTERNAL);
    etwas_otlp_put_id(item, "traceId", open->id.trace, sizeof open->id.trace);
    etwas_otlp_put_id(item, "spanId", open->id.span, sizeof open->id.span);
    if (memcmp(open->parent, none, sizeof none) != 0) {
        etwas_otlp_put_id(item, "parentSpanId", open->parent, sizeof open->parent);
    }
    etwas_otlp_put_time(item, "startTimeUnixNano", open->start_ns);
    etwas_otlp_put_time(item, "endTimeUnixNano", end_ns > open->start_ns ? end_ns : open->start_ns);
    if (open->text != NULL) {
        etwas_output_bytes(item, open->text, open->bytes);
    } else {
        etwas_output_text(item, ",\"name\":\"\",\"attributes\":[");
        etwas_otlp_text(item, "etwas.start", "no room", strlen("no room"));
    }
}

static void forget(struct etwas_otlp *otlp, struct etwas_otlp_open *open)
{
    otlp->kept_bytes -= open->bytes;
    free(open->text);
    *open = (struct etwas_otlp_open){0};
}

/* Ends and adds the item. `left_out` counts the dropped attributes of the END. */
static void put_tail(struct etwas_otlp *otlp, struct etwas_otlp_open *open, uint32_t left_out)
{
    left_out += open->left_out;
    etwas_output_char(&otlp->item, ']');
    if (left_out != 0) {
        etwas_json_number(&otlp->item, "droppedAttributesCount", left_out);
    }
    etwas_output_char(&otlp->item, '}');
    etwas_otlp_add(otlp, ETWAS_OTLP_SPANS, &open->source);
    forget(otlp, open);
}

static void end_lost(struct etwas_otlp *otlp, struct etwas_otlp_open *open)
{
    if (open->number != 0 && open->is_wanted) {
        put_head(otlp, open, otlp->last_ns);
        etwas_otlp_text(&otlp->item, "etwas.end", "lost", strlen("lost"));
        put_tail(otlp, open, 0);
    }
    forget(otlp, open);
}

/*
 * Where time stamps decrease, an END may precede its START. The span then has no length, and an
 * attribute has the difference.
 */
static void put_end_time(struct etwas_otlp *otlp, const struct etwas_otlp_open *open)
{
    int64_t end_ns = otlp->convert->time_ns;
    uint64_t early_ns = (uint64_t)open->start_ns - (uint64_t)end_ns;

    if (end_ns < open->start_ns) {
        etwas_otlp_number(&otlp->item, "end.etwas.before_start_ns",
                          early_ns < INT64_MAX ? (int64_t)early_ns : INT64_MAX);
    }
    etwas_otlp_early_time(&otlp->item, "end.etwas.time", end_ns);
}

static void end_span(struct etwas_otlp *otlp, struct etwas_otlp_open *open)
{
    uint32_t thread = otlp->convert->current.event.thread;

    if (open->is_wanted || otlp->convert->is_wanted) {
        put_head(otlp, open, otlp->convert->time_ns);
        put_end_time(otlp, open);
        if (thread != open->thread && thread != ETWAS_EVENT_UNKNOWN_ID) {
            etwas_otlp_number(&otlp->item, "end.thread.id", thread);
        }
        put_tail(otlp, open, etwas_otlp_fields(otlp, "end."));
    }
    forget(otlp, open);
}

void etwas_otlp_end_spans(struct etwas_otlp *otlp)
{
    for (uint32_t place = 0; place < otlp->open_capacity; place++) {
        end_lost(otlp, &otlp->open[place]);
    }
}

void etwas_otlp_span(struct etwas_otlp *otlp)
{
    const etwas_span *span = otlp->convert->span;
    struct etwas_otlp_open *open = open_at(otlp, span->place);

    if (open == NULL) {
        return;
    }
    if (otlp->convert->span_role == ETWAS_SPAN_START) {
        end_lost(otlp, open); /* an earlier span without END has the same place */
        begin_span(otlp, open);
    } else if (open->number == span->number) {
        end_span(otlp, open);
    }
}
