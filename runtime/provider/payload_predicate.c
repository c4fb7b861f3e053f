/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/payload_filter.h"

#include <etwas/tdh.h>
#include <string.h>

#include "etl/utf16.h"

enum {
    DECIMAL = 10,
    HEXADECIMAL = 16,
};

/* ---- integers -------------------------------------------------------------------------------- */

static uint32_t predicate_digit_of(char character)
{
    if (character >= '0' && character <= '9') {
        return (uint32_t)(character - '0');
    }
    if (character >= 'a' && character <= 'f') {
        return (uint32_t)(character - 'a') + DECIMAL;
    }
    return character >= 'A' && character <= 'F' ? (uint32_t)(character - 'A') + DECIMAL
                                                : HEXADECIMAL;
}

/*
 * Parses "17", "-3" or "0x1F" at *text, and moves it past the number. Returns false if there is
 * none, or it is too large.
 */
static bool predicate_parse_number(const char **text, struct etwas_payload_number *number)
{
    bool is_negative = **text == '-';
    const char *at = *text + (is_negative ? 1 : 0);
    uint64_t base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? HEXADECIMAL : DECIMAL;
    uint64_t bits = 0;
    const char *first;

    at += base == HEXADECIMAL ? 2 : 0;
    for (first = at; predicate_digit_of(*at) < base; at++) {
        uint32_t digit = predicate_digit_of(*at);

        if (bits > (UINT64_MAX - digit) / base) {
            return false;
        }
        bits = bits * base + digit;
    }
    if (at == first || (is_negative && bits > (uint64_t)INT64_MAX + 1)) {
        return false;
    }
    *text = at;
    number->is_large = !is_negative && bits > INT64_MAX;
    number->bits = is_negative ? 0 - bits : bits;
    return true;
}

static int predicate_compare_numbers(struct etwas_payload_number left,
                                     struct etwas_payload_number right)
{
    if (left.is_large != right.is_large) {
        return left.is_large ? 1 : -1;
    }
    if (left.is_large) {
        return left.bits < right.bits ? -1 : left.bits > right.bits;
    }
    return (int64_t)left.bits < (int64_t)right.bits ? -1 : (int64_t)left.bits > (int64_t)right.bits;
}

static uint64_t predicate_magnitude(struct etwas_payload_number number)
{
    return !number.is_large && (int64_t)number.bits < 0 ? 0 - number.bits : number.bits;
}

static struct etwas_payload_number predicate_number_of(enum etwas_payload_kind kind,
                                                       const struct etwas_payload_value *value)
{
    uint64_t bits = etwas_payload_load(value);
    unsigned unused = (unsigned)(64 - 8 * value->bytes);

    if (kind == ETWAS_PAYLOAD_SIGNED) {
        return (struct etwas_payload_number){(uint64_t)((int64_t)(bits << unused) >> unused),
                                             false};
    }
    return (struct etwas_payload_number){bits, bits > INT64_MAX};
}

static bool predicate_number_holds(const struct etwas_predicate *predicate,
                                   struct etwas_payload_number number)
{
    int low = predicate_compare_numbers(number, predicate->low);

    switch (predicate->compare) {
    case PAYLOADFIELD_EQ:
    case PAYLOADFIELD_IS:
        return low == 0;
    case PAYLOADFIELD_NE:
    case PAYLOADFIELD_ISNOT:
        return low != 0;
    case PAYLOADFIELD_LE:
        return low <= 0;
    case PAYLOADFIELD_GT:
        return low > 0;
    case PAYLOADFIELD_LT:
        return low < 0;
    case PAYLOADFIELD_GE:
        return low >= 0;
    case PAYLOADFIELD_BETWEEN:
        return low >= 0 && predicate_compare_numbers(number, predicate->high) <= 0;
    case PAYLOADFIELD_NOTBETWEEN:
        return low < 0 || predicate_compare_numbers(number, predicate->high) > 0;
    default: /* MODULO */
        return predicate_magnitude(number) % predicate_magnitude(predicate->low) == 0;
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

static bool predicate_contains(const struct etwas_payload_value *value, const void *part,
                               size_t part_bytes, size_t unit)
{
    for (size_t at = 0; at + part_bytes <= value->bytes; at += unit) {
        if (memcmp(value->data + at, part, part_bytes) == 0) {
            return true;
        }
    }
    return false;
}

static bool predicate_text_holds(const struct etwas_predicate *predicate,
                                 const struct etwas_payload_value *value, bool is_wide)
{
    const void *text = is_wide ? (const void *)predicate->wide : predicate->text;
    size_t bytes = is_wide ? predicate->wide_bytes : predicate->text_bytes;
    bool is_same = value->bytes == bytes && memcmp(value->data, text, bytes) == 0;

    switch (predicate->compare) {
    case PAYLOADFIELD_IS:
        return is_same;
    case PAYLOADFIELD_ISNOT:
        return !is_same;
    case PAYLOADFIELD_CONTAINS:
        return predicate_contains(value, text, bytes, is_wide ? sizeof(etwas_wchar) : 1);
    default: /* DOESNTCONTAIN */
        return !predicate_contains(value, text, bytes, is_wide ? sizeof(etwas_wchar) : 1);
    }
}

/* ---- the predicate --------------------------------------------------------------------------- */

static bool predicate_is_of_integers(uint32_t compare)
{
    return compare <= PAYLOADFIELD_MODULO;
}

static bool predicate_is_of_texts(uint32_t compare)
{
    return compare == PAYLOADFIELD_CONTAINS || compare == PAYLOADFIELD_DOESNTCONTAIN;
}

static bool predicate_is_of_both(uint32_t compare)
{
    return compare == PAYLOADFIELD_IS || compare == PAYLOADFIELD_ISNOT;
}

static bool predicate_has_two_values(uint32_t compare)
{
    return compare == PAYLOADFIELD_BETWEEN || compare == PAYLOADFIELD_NOTBETWEEN;
}

static bool predicate_parse_numbers(struct etwas_predicate *predicate)
{
    const char *at = predicate->text;

    if (!predicate_parse_number(&at, &predicate->low)) {
        return false;
    }
    if (predicate_has_two_values(predicate->compare)) {
        return *at++ == ',' && predicate_parse_number(&at, &predicate->high) && *at == 0;
    }
    return *at == 0;
}

static const char *predicate_check_numbers(const struct etwas_predicate *predicate)
{
    if (!predicate->has_numbers) {
        return predicate_has_two_values(predicate->compare)
                   ? "the value is not two integers with a comma between them"
                   : "the value is no integer of 64 bits";
    }
    if (predicate_has_two_values(predicate->compare) &&
        predicate_compare_numbers(predicate->low, predicate->high) > 0) {
        return "the lower bound is above the upper one";
    }
    return predicate->compare == PAYLOADFIELD_MODULO && predicate->low.bits == 0
               ? "nothing is a multiple of 0"
               : NULL;
}

const char *etwas_predicate_compile(struct etwas_predicate *predicate,
                                    const etwas_payload_predicate *given)
{
    size_t bytes = given->value != NULL ? strlen(given->value) : 0;
    size_t units;

    if (given->value == NULL) {
        return "a predicate has no value";
    }
    if (!predicate_is_of_integers(given->compare) && !predicate_is_of_texts(given->compare) &&
        !predicate_is_of_both(given->compare)) {
        return "a comparison is unknown: it is none of PAYLOAD_OPERATOR";
    }
    if (bytes >= ETWAS_PREDICATE_BYTES) {
        return "a value is longer than 255 bytes";
    }
    *predicate = (struct etwas_predicate){
        .compare = given->compare,
        .text_bytes = (uint16_t)bytes,
    };
    memcpy(predicate->text, given->value, bytes);
    if (etwas_utf8_to_utf16(given->value, bytes, predicate->wide, ETWAS_PREDICATE_BYTES, &units) !=
        ETWAS_UTF_OK) {
        return "a value is no UTF-8";
    }
    predicate->wide_bytes = (uint16_t)((units - 1) * sizeof predicate->wide[0]);
    if (predicate_is_of_texts(given->compare) && bytes == 0) {
        return "a value is empty: every text contains it";
    }
    predicate->has_numbers = predicate_parse_numbers(predicate);
    return predicate_is_of_integers(given->compare) ? predicate_check_numbers(predicate) : NULL;
}

bool etwas_predicate_accepts(const struct etwas_predicate *predicate, enum etwas_payload_kind kind)
{
    switch (kind) {
    case ETWAS_PAYLOAD_SIGNED:
    case ETWAS_PAYLOAD_UNSIGNED:
        return predicate->has_numbers && !predicate_is_of_texts(predicate->compare);
    case ETWAS_PAYLOAD_TEXT:
    case ETWAS_PAYLOAD_WIDE_TEXT:
        return !predicate_is_of_integers(predicate->compare);
    default:
        return false;
    }
}

bool etwas_predicate_holds(const struct etwas_predicate *predicate, enum etwas_payload_kind kind,
                           const struct etwas_payload_value *value)
{
    return kind == ETWAS_PAYLOAD_TEXT || kind == ETWAS_PAYLOAD_WIDE_TEXT
               ? predicate_text_holds(predicate, value, kind == ETWAS_PAYLOAD_WIDE_TEXT)
               : predicate_number_holds(predicate, predicate_number_of(kind, value));
}
