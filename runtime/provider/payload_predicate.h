/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the value of a field is compared with.
 */
#ifndef ETWAS_PROVIDER_PAYLOAD_PREDICATE_H
#define ETWAS_PROVIDER_PAYLOAD_PREDICATE_H

#include <etwas/recorder.h>

#include "provider/payload_field.h"

enum {
    ETWAS_PREDICATE_BYTES = 256, /* of a value, and of a field's name, with their 0 */
};

/* An integer of 64 bits, of either kind. */
struct etwas_payload_number {
    uint64_t bits;
    bool is_large; /* above INT64_MAX; else `bits` are an int64_t */
};

struct etwas_predicate {
    uint32_t compare; /* PAYLOADFIELD_* */
    bool has_numbers; /* the value is one integer, or two where there are to be two */
    struct etwas_payload_number low;
    struct etwas_payload_number high;
    uint16_t text_bytes;
    uint16_t wide_bytes;
    char text[ETWAS_PREDICATE_BYTES];
    etwas_wchar wide[ETWAS_PREDICATE_BYTES];
};

/* NULL, or a sentence that says what is wrong with it. */
const char *etwas_predicate_compile(struct etwas_predicate *predicate,
                                    const etwas_payload_predicate *given);

/* Whether values of the kind can be compared so. */
bool etwas_predicate_accepts(const struct etwas_predicate *predicate, enum etwas_payload_kind kind);

/* Of a value that fits. */
bool etwas_predicate_holds(const struct etwas_predicate *predicate, enum etwas_payload_kind kind,
                           const struct etwas_payload_value *value);

#endif
