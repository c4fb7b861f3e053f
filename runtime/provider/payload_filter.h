/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of payloads: which events a filter applies to, and what it requires of their fields.
 *
 * The layout of the fields is known beforehand, or comes from the event itself (TraceLogging).
 * Fields are read up to the last one that a predicate names. Records are not trusted: one with a
 * size that does not fit is malformed.
 */
#ifndef ETWAS_PROVIDER_PAYLOAD_FILTER_H
#define ETWAS_PROVIDER_PAYLOAD_FILTER_H

#include <etwas/recorder.h>

#include "provider/payload_field.h"

/* Predicates: what the value of a field is compared with. */

enum {
    /* the most bytes of a value or a field's name, with the terminating 0 */
    ETWAS_PREDICATE_BYTES = 256,
};

/* An integer of 64 bits, signed or unsigned. */
struct etwas_payload_number {
    uint64_t bits;
    bool is_large; /* above INT64_MAX; else `bits` are an int64_t */
};

struct etwas_predicate {
    uint32_t compare; /* PAYLOADFIELD_* */
    bool has_numbers; /* the value is one integer, or two for a comparison with a range */
    struct etwas_payload_number low;
    struct etwas_payload_number high;
    uint16_t text_bytes;
    uint16_t wide_bytes;
    char text[ETWAS_PREDICATE_BYTES];
    etwas_wchar wide[ETWAS_PREDICATE_BYTES];
};

/* Compiles a predicate. Returns NULL, or a sentence that says what is wrong with it. */
const char *etwas_predicate_compile(struct etwas_predicate *predicate,
                                    const etwas_payload_predicate *given);

/* Whether values of this kind can be compared by the predicate. */
bool etwas_predicate_accepts(const struct etwas_predicate *predicate, enum etwas_payload_kind kind);

/* Whether the predicate holds for a value of an accepted kind. */
bool etwas_predicate_holds(const struct etwas_predicate *predicate, enum etwas_payload_kind kind,
                           const struct etwas_payload_value *value);

/* ---- the filter ------------------------------------------------------------------------------ */

enum {
    ETWAS_FILTER_PREDICATES = 8,
};

enum etwas_payload_result {
    ETWAS_PAYLOAD_OTHER_EVENT, /* another event */
    ETWAS_PAYLOAD_NO_MATCH,
    ETWAS_PAYLOAD_MATCHES,
    ETWAS_PAYLOAD_MALFORMED, /* it lacks a field that decides, or has one of another type */
};

struct etwas_filter_field {
    struct etwas_predicate predicate;
    uint32_t index; /* the field's index, where the layout is known beforehand */
    uint16_t name_bytes;
    char name[ETWAS_PREDICATE_BYTES];
};

struct etwas_compiled_filter {
    etwas_guid guid;
    uint32_t event; /* its id, or Class.Type */
    uint32_t version;
    bool by_name;   /* a TraceLogging event */
    bool match_any; /* one predicate that holds is enough */
    uint32_t wanted_count;
    uint32_t layout_count;
    uint16_t event_name_bytes;
    char event_name[ETWAS_PREDICATE_BYTES];
    struct etwas_filter_field wanted[ETWAS_FILTER_PREDICATES];
    struct etwas_payload_layout layouts[]; /* up to the last field with a predicate */
};

/*
 * Compiles a filter, which the caller frees with free(). NULL: *code is ERROR_NOT_ENOUGH_MEMORY, or
 * ERROR_INVALID_PARAMETER with *fault a sentence that says what is wrong.
 */
struct etwas_compiled_filter *etwas_payload_filter_compile(const etwas_payload_filter *given,
                                                           uint32_t *code, const char **fault);

/* Evaluates a filter for a whole record, header included. */
enum etwas_payload_result etwas_payload_filter_evaluate(const struct etwas_compiled_filter *filter,
                                                        const uint8_t *record, size_t bytes);

#endif
