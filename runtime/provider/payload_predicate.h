/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Predicates: what the value of a field is compared with. */
#ifndef ETWAS_PROVIDER_PAYLOAD_PREDICATE_H
#define ETWAS_PROVIDER_PAYLOAD_PREDICATE_H

#include <etwas/recorder.h>

#include "provider/payload_field.h"

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

#endif
