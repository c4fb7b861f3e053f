/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Evaluates an expression of --where for an event. */

#include "where/where.h"

#include <string.h>

/* ---- comparing values ------------------------------------------------------------------------ */

static bool is_number(const struct etwas_where_number *value)
{
    return value->kind == ETWAS_WHERE_UNSIGNED || value->kind == ETWAS_WHERE_SIGNED ||
           value->kind == ETWAS_WHERE_FLOAT;
}

/* Returns whether both are numbers, times or GUIDs. Otherwise their texts are compared. */
static bool are_alike(const struct etwas_where_number *a, const struct etwas_where_number *b)
{
    return is_number(a) ? is_number(b) : a->kind == b->kind && a->kind != ETWAS_WHERE_TEXT;
}

/* Compares two numbers: -1, 0, 1, or 2 for a NaN, which is neither ordered nor equal. */
static int order_of_numbers(const struct etwas_where_number *a, const struct etwas_where_number *b)
{
    if (a->kind == ETWAS_WHERE_FLOAT || b->kind == ETWAS_WHERE_FLOAT) {
        const struct etwas_where_number *both[] = {a, b};
        long double values[2];

        /* A long double has a 64-bit significand, so integers are exact. */
        for (unsigned i = 0; i < 2; i++) {
            values[i] = both[i]->kind == ETWAS_WHERE_FLOAT    ? (long double)both[i]->f
                        : both[i]->kind == ETWAS_WHERE_SIGNED ? (long double)both[i]->i
                                                              : (long double)both[i]->u;
        }
        return values[0] < values[1]    ? -1
               : values[0] > values[1]  ? 1
               : values[0] == values[1] ? 0
                                        : 2;
    }
    {
        bool a_below = a->kind == ETWAS_WHERE_SIGNED && a->i < 0;
        bool b_below = b->kind == ETWAS_WHERE_SIGNED && b->i < 0;

        if (a_below != b_below) {
            return a_below ? -1 : 1;
        }
        /* Both are negative or both are not, so they have the same order as unsigned numbers. */
        return a->u < b->u ? -1 : a->u > b->u;
    }
}

/* Compares two values of the same kind. */
static int order_of(const struct etwas_where_number *a, const struct etwas_where_number *b)
{
    int order;

    if (a->kind == ETWAS_WHERE_TIME) {
        return a->i < b->i ? -1 : a->i > b->i;
    }
    if (a->kind == ETWAS_WHERE_GUID) {
        order = memcmp(&a->guid, &b->guid, sizeof a->guid);
        return order < 0 ? -1 : order > 0;
    }
    return order_of_numbers(a, b);
}

static int order_of_texts(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t common = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = memcmp(a, b, common);

    return order != 0 ? (order < 0 ? -1 : 1) : a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

static bool fits(enum etwas_where_relation relation, int order)
{
    switch (relation) {
    case ETWAS_WHERE_EQUAL:
        return order == 0;
    case ETWAS_WHERE_UNEQUAL:
        return order != 0;
    case ETWAS_WHERE_LESS:
        return order == -1;
    case ETWAS_WHERE_LESS_EQUAL:
        return order == -1 || order == 0;
    case ETWAS_WHERE_GREATER:
        return order == 1;
    case ETWAS_WHERE_GREATER_EQUAL:
        return order == 1 || order == 0;
    default:
        return false;
    }
}

/* ---- values of operands ---------------------------------------------------------------------- */

/* The evaluation of a comparison for one event. */
struct comparison {
    struct etwas_where *where;
    const struct etwas_where_node *node;
    const struct etwas_where_values *values;
};

/* Stores the first error, at this operand. Returns false. */
static bool fail(const struct comparison *comparison, const struct etwas_where_operand *operand,
                 const char *error)
{
    struct etwas_where *where = comparison->where;

    if (where->error == NULL) {
        where->error = error;
        where->error_at = operand->at;
        where->error_length = operand->length;
    }
    return false;
}

static uint32_t count_of(const struct comparison *comparison, unsigned side)
{
    const struct etwas_where_operand *operand = &comparison->node->operands[side];
    const struct etwas_where_values *values = comparison->values;

    return operand->source == ETWAS_WHERE_CONSTANT ? 1 : values->count(values->context, operand);
}

static struct etwas_where_number number_of(const struct comparison *comparison, unsigned side,
                                           uint32_t index)
{
    const struct etwas_where_operand *operand = &comparison->node->operands[side];
    struct etwas_where_number number;

    if (operand->source == ETWAS_WHERE_CONSTANT) {
        return operand->number;
    }
    number = comparison->values->number(comparison->values->context, operand, index);
    if (operand->masked) {
        if (number.kind == ETWAS_WHERE_UNSIGNED || number.kind == ETWAS_WHERE_SIGNED) {
            number.kind = ETWAS_WHERE_UNSIGNED;
            number.has_name = false;
            number.u &= operand->mask;
        } else {
            fail(comparison, operand, "& takes bits of a whole number, and the value is none");
        }
    }
    return number;
}

static const char *text_of(const struct comparison *comparison, unsigned side, uint32_t index,
                           size_t *bytes)
{
    const struct etwas_where_operand *operand = &comparison->node->operands[side];
    const struct etwas_where_values *values = comparison->values;

    if (operand->source == ETWAS_WHERE_CONSTANT) {
        *bytes = operand->bytes;
        return operand->text;
    }
    return values->text(values->context, operand, index, side, bytes);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static bool is_event_name(const struct etwas_where_operand *operand)
{
    return operand->source == ETWAS_WHERE_OF_PROPERTY &&
           (operand->property == ETWAS_PROPERTY_EVENT ||
            operand->property == ETWAS_PROPERTY_EVENT_CLASS ||
            operand->property == ETWAS_PROPERTY_PARENT_CLASS);
}

/* Returns whether it is the whole name, or its last one or two parts. */
static bool names_event(const char *name, size_t name_bytes, const char *text, size_t bytes)
{
    const char *slash = memchr(text, '/', bytes);
    bool is_short =
        slash == NULL || memchr(slash + 1, '/', bytes - (size_t)(slash + 1 - text)) == NULL;

    if (bytes >= name_bytes) {
        return bytes == name_bytes && memcmp(name, text, bytes) == 0;
    }
    return bytes > 0 && is_short && name[name_bytes - bytes - 1] == '/' &&
           memcmp(name + name_bytes - bytes, text, bytes) == 0;
}

/* Shortens an error code shown as "5(ERROR_ACCESS_DENIED)" to the name. */
static void strip_code(const char **text, size_t *bytes)
{
    const char *name = memchr(*text, '(', *bytes);

    if (name != NULL && name > *text &&
        strspn(*text, "0123456789xABCDEF") == (size_t)(name - *text) &&
        (*text)[*bytes - 1] == ')') {
        *bytes -= (size_t)(name + 1 - *text) + 1;
        *text = name + 1;
    }
}

/* `has_code`: one of them is a number with a name. */
static bool compare_texts(const struct comparison *comparison, const uint32_t index[2],
                          bool has_code)
{
    const struct etwas_where_node *node = comparison->node;
    bool is_equality = node->relation == ETWAS_WHERE_EQUAL || node->relation == ETWAS_WHERE_UNEQUAL;
    size_t bytes[2];
    const char *texts[2];

    for (unsigned side = 0; side < 2; side++) {
        texts[side] = text_of(comparison, side, index[side], &bytes[side]);
        if (texts[side] == NULL) {
            return false;
        }
        if (has_code) {
            strip_code(&texts[side], &bytes[side]);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        if (is_equality && is_event_name(&node->operands[side])) {
            return names_event(texts[side], bytes[side], texts[1 - side], bytes[1 - side]) ==
                   (node->relation == ETWAS_WHERE_EQUAL);
        }
    }
    switch (node->relation) {
    case ETWAS_WHERE_MATCHES:
        return regexec(&node->pattern, texts[0], 0, NULL, 0) == 0;
    case ETWAS_WHERE_CONTAINS:
        return memmem(texts[0], bytes[0], texts[1], bytes[1]) != NULL;
    default:
        return fits(node->relation, order_of_texts(texts[0], bytes[0], texts[1], bytes[1]));
    }
}

/* Returns why a constant does not fit a value of another type. */
static const char *error_of_constant(const struct etwas_where_number *value)
{
    switch (value->kind) {
    case ETWAS_WHERE_TEXT:
        return "the value is text: a string stands in quotes";
    case ETWAS_WHERE_TIME:
        return "the value is a time, as \"2026-11-21\" or \"2026-11-21T08:19:17.123456789Z\"";
    case ETWAS_WHERE_GUID:
        return "the value is a GUID, as \"68fdd900-4a3e-11d1-84f4-0000f80464e3\"";
    default:
        return "the value is a number: a number stands without quotes";
    }
}

static bool has_text(const struct etwas_where_number *value)
{
    return !is_number(value) || value->has_name;
}

/*
 * Returns whether values of different types may be compared by their texts; else stores an error.
 */
static bool are_texts(const struct comparison *comparison,
                      const struct etwas_where_number numbers[2])
{
    const struct etwas_where_operand *operands = comparison->node->operands;

    for (unsigned side = 0; side < 2; side++) {
        const struct etwas_where_operand *constant = &operands[1 - side];
        const struct etwas_where_number *value = &numbers[side];
        bool is_as_text = value->kind == ETWAS_WHERE_TEXT || value->has_name;

        if (constant->source == ETWAS_WHERE_CONSTANT) {
            return (is_as_text && constant->text != NULL) ||
                   fail(comparison, constant, error_of_constant(value));
        }
    }
    return ((numbers[0].kind == ETWAS_WHERE_TEXT || numbers[1].kind == ETWAS_WHERE_TEXT) &&
            has_text(&numbers[0]) && has_text(&numbers[1])) ||
           fail(comparison, &operands[0],
                "the two values are of different types, and do not compare");
}

static bool compare_values(const struct comparison *comparison, const uint32_t index[2])
{
    const struct etwas_where_node *node = comparison->node;
    struct etwas_where_number numbers[2];

    if (node->relation == ETWAS_WHERE_MATCHES || node->relation == ETWAS_WHERE_CONTAINS) {
        return compare_texts(comparison, index, false);
    }
    for (unsigned side = 0; side < 2; side++) {
        numbers[side] = number_of(comparison, side, index[side]);
    }
    if (are_alike(&numbers[0], &numbers[1])) {
        return fits(node->relation, order_of(&numbers[0], &numbers[1]));
    }
    return comparison->where->error == NULL && are_texts(comparison, numbers) &&
           compare_texts(comparison, index, numbers[0].has_name || numbers[1].has_name);
}

static bool compare_operands(const struct comparison *comparison)
{
    uint32_t left = count_of(comparison, 0);
    uint32_t right = count_of(comparison, 1);

    for (uint32_t i = 0; i < left; i++) {
        for (uint32_t k = 0; k < right; k++) {
            const uint32_t index[2] = {i, k};

            if (compare_values(comparison, index)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_something(const struct comparison *comparison, uint32_t index)
{
    struct etwas_where_number number = number_of(comparison, 0, index);
    size_t bytes = 0;

    if (number.kind == ETWAS_WHERE_FLOAT) {
        return number.f < 0 || number.f > 0;
    }
    return is_number(&number) ? number.u != 0
                              : text_of(comparison, 0, index, &bytes) != NULL && bytes > 0;
}

static bool holds_alone(const struct comparison *comparison)
{
    uint32_t count = count_of(comparison, 0);

    for (uint32_t i = 0; i < count; i++) {
        if (is_something(comparison, i)) {
            return true;
        }
    }
    return false;
}

/*
 * Nested nodes have smaller numbers than their parents, so the recursion ends; its depth is bounded
 * by NODES.
 */
static bool holds(struct etwas_where *where, uint32_t number,
                  const struct etwas_where_values *values)
{
    const struct etwas_where_node *node = &where->nodes[number];
    const struct comparison comparison = {where, node, values};

    switch (node->relation) {
    case ETWAS_WHERE_OR:
        return holds(where, node->left, values) || holds(where, node->right, values);
    case ETWAS_WHERE_AND:
        return holds(where, node->left, values) && holds(where, node->right, values);
    case ETWAS_WHERE_NOT:
        return !holds(where, node->left, values);
    case ETWAS_WHERE_HOLDS:
        return holds_alone(&comparison);
    default:
        return compare_operands(&comparison);
    }
}

bool etwas_where_holds(struct etwas_where *where, const struct etwas_where_values *values)
{
    return holds(where, where->root, values) && where->error == NULL;
}
