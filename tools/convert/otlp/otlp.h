/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_OTLP_H
#define ETWAS_TOOLS_CONVERT_OTLP_H

/*
 * OTLP in JSON, as the OpenTelemetry collector's file receiver reads it: each line is one
 * ExportTraceServiceRequest or ExportLogsServiceRequest, in protobuf's JSON mapping with ids in hex
 * and enumerations as numbers.
 *
 *     event ─▶ item (one Span or LogRecord) ─▶ batch of its kind ─▶ a line
 *
 * A span is written when it ends; the data of its START is kept until then.
 */

#include "convert/convert.h"

enum {
    ETWAS_OTLP_NAME_BYTES = 1024, /* limit of event and field names; longer ones are cut */
    ETWAS_OTLP_SCOPE_BYTES = 256, /* limit of scope names, with the NUL; longer ones are cut */
    /* A line ends when it reaches this size. The collector reads lines of at most 1 MiB. */
    ETWAS_OTLP_LINE_BYTES = 131072,
    /* Fields are left out, and counted, once their item has this size. */
    ETWAS_OTLP_FIELDS_BYTES = 102400,
    ETWAS_OTLP_KEPT_BYTES = 64 << 20, /* limit of the START data of all open spans */
};

struct etwas_otlp_id {
    uint8_t trace[16];
    uint8_t span[8];
};

/* The origin of an item: its resource is a process of a session, its scope a provider. */
struct etwas_otlp_source {
    const struct etwas_input *input;
    uint32_t process;
    char scope[ETWAS_OTLP_SCOPE_BYTES];
};

enum etwas_otlp_kind {
    ETWAS_OTLP_SPANS,
    ETWAS_OTLP_LOGS,
    ETWAS_OTLP_KINDS
};

/* A line being built. */
struct etwas_otlp_batch {
    char *bytes;
    size_t used;
    size_t room;
    struct etwas_otlp_source source; /* of the last item */
};

/* An open span; entries are indexed by etwas_span.place. */
struct etwas_otlp_open {
    uint64_t number; /* 0: none */
    struct etwas_otlp_id id;
    uint8_t parent[8]; /* 0: none */
    struct etwas_otlp_source source;
    uint32_t thread;
    uint32_t left_out; /* dropped attributes of its START */
    int64_t start_ns;
    bool is_wanted;
    char *text; /* name and attributes */
    size_t bytes;
};

struct etwas_otlp {
    struct etwas_convert *convert;
    struct etwas_output item; /* in memory */
    struct etwas_otlp_batch batches[ETWAS_OTLP_KINDS];
    struct etwas_otlp_open *open;
    size_t open_capacity;
    uint64_t kept_bytes;
    int64_t last_ns;
    char *services[ETWAS_INPUT_FILES]; /* session names in JSON, by file number - 1 */
};

/* ---- attributes.c: items of "attributes", with a comma before all but the first ------------- */

void etwas_otlp_text(struct etwas_output *item, const char *key, const char *text, size_t bytes);
void etwas_otlp_number(struct etwas_output *item, const char *key, int64_t number);

/* Writes the time as text, if etwas_otlp_put_time cannot represent it. */
void etwas_otlp_early_time(struct etwas_output *item, const char *key, int64_t time_ns);

/* Writes the attributes that come from the event's header. */
void etwas_otlp_header(struct etwas_otlp *otlp);

/*
 * Writes the event's fields, or its payload if it has no schema. The keys begin with `prefix`.
 * Returns how many fields were left out.
 */
uint32_t etwas_otlp_fields(struct etwas_otlp *otlp, const char *prefix);

/* ---- ids.c ---- */

/*
 * Returns the ids of a span that begins. A span has the same ids in each run, whatever other files
 * are read. All spans of a tree have the trace id of its root. An activity whose parent is not in
 * the files has the trace id of its related activity.
 */
struct etwas_otlp_id etwas_otlp_id_of(const struct etwas_otlp *otlp,
                                      const struct etwas_otlp_open *parent);

/* Writes "key":"hex". */
void etwas_otlp_put_id(struct etwas_output *item, const char *key, const uint8_t *id, size_t bytes);

/* ---- batch.c ---- */

/* Fills the provider and process of the current event. */
void etwas_otlp_source_of(struct etwas_otlp *otlp, struct etwas_otlp_source *source);

/* Appends the item to its batch, and clears the item. */
void etwas_otlp_add(struct etwas_otlp *otlp, enum etwas_otlp_kind kind,
                    const struct etwas_otlp_source *source);

/* Ends and writes all open lines. */
void etwas_otlp_end_lines(struct etwas_otlp *otlp);

/* Writes "key":"nanoseconds since 1970". Times that do not fit become 0, which means unknown. */
void etwas_otlp_put_time(struct etwas_output *item, const char *key, int64_t time_ns);

/* ---- spans.c ---- */

/* Handles a START or END event. */
void etwas_otlp_span(struct etwas_otlp *otlp);

/* Returns the span around the current event, or NULL. */
const struct etwas_otlp_open *etwas_otlp_span_around(const struct etwas_otlp *otlp);

/* Ends the spans that have no END. */
void etwas_otlp_end_spans(struct etwas_otlp *otlp);

/* ---- logs.c ---- */

void etwas_otlp_log(struct etwas_otlp *otlp);
void etwas_otlp_log_damage(struct etwas_otlp *otlp, const struct etwas_input *input,
                           const etwas_damage *damage);
void etwas_otlp_log_losses(struct etwas_otlp *otlp, const struct etwas_input *input);

#endif
