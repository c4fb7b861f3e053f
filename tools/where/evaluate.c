/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether an expression of --where holds for an event.
 */

#include "where/where.h"

#include <math.h>
#include <string.h>

/* ---- one value against another --------------------------------------------------------------- */

static bool is_number(const struct etwas_where_number *value)
{
    return value->kind == ETWAS_WHERE_UNSIGNED || value->kind == ETWAS_WHERE_SIGNED ||
           value->kind == ETWAS_WHERE_FLOAT;
}

/* Are both numbers, times or GUIDs? Else their texts are compared. */
static bool are_alike(const struct etwas_where_number *a, const struct etwas_where_number *b)
{
    return is_number(a) ? is_number(b) : a->kind == b->kind && a->kind != ETWAS_WHERE_TEXT;
}

/* Of two numbers: -1, 0, 1; 2: neither is larger, nor are they equal. */
static int order_of_numbers(const struct etwas_where_number *a, const struct etwas_where_number *b)
{
    if (a->kind == ETWAS_WHERE_FLOAT || b->kind == ETWAS_WHERE_FLOAT) {
        const struct etwas_where_number *both[] = {a, b};
        long double values[2];

        /* A long double has 64 bits for the digits: every whole number stays what it is. */
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
        /* Both at least 0, or both below it: as unsigned numbers they have the same order. */
        return a->u < b->u ? -1 : a->u > b->u;
    }
}

/* Of two that are alike. */
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

static uint32_t count_of(const struct etwas_where_operand *operand,
                         const struct etwas_where_values *values)
{
    return operand->source == ETWAS_WHERE_CONSTANT ? 1 : values->count(values->context, operand);
}

static struct etwas_where_number number_of(const struct etwas_where_operand *operand,
                                           uint32_t index, const struct etwas_where_values *values)
{
    struct etwas_where_number number;

    if (operand->source == ETWAS_WHERE_CONSTANT) {
        return operand->number;
    }
    number = values->number(values->context, operand, index);
    if (operand->masked) {
        if (number.kind == ETWAS_WHERE_UNSIGNED || number.kind == ETWAS_WHERE_SIGNED) {
            number.kind = ETWAS_WHERE_UNSIGNED;
            number.u &= operand->mask;
        } else {
            number.kind = ETWAS_WHERE_TEXT;
        }
    }
    return number;
}

static const char *text_of(const struct etwas_where_operand *operand, uint32_t index, unsigned side,
                           const struct etwas_where_values *values, size_t *bytes)
{
    if (operand->source == ETWAS_WHERE_CONSTANT) {
        *bytes = operand->bytes;
        return operand->text;
    }
    /* Bits of a text are nothing. */
    return operand->masked ? NULL : values->text(values->context, operand, index, side, bytes);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static bool compare_texts(const struct etwas_where_node *node, const uint32_t index[2],
                          const struct etwas_where_values *values)
{
    size_t bytes[2];
    const char *texts[2];

    for (unsigned side = 0; side < 2; side++) {
        texts[side] = text_of(&node->operands[side], index[side], side, values, &bytes[side]);
        if (texts[side] == NULL) {
            return false;
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

static bool compare_values(const struct etwas_where_node *node, const uint32_t index[2],
                           const struct etwas_where_values *values)
{
    struct etwas_where_number numbers[2];

    if (node->relation == ETWAS_WHERE_MATCHES || node->relation == ETWAS_WHERE_CONTAINS) {
        return compare_texts(node, index, values);
    }
    for (unsigned side = 0; side < 2; side++) {
        numbers[side] = number_of(&node->operands[side], index[side], values);
    }
    if (are_alike(&numbers[0], &numbers[1])) {
        return fits(node->relation, order_of(&numbers[0], &numbers[1]));
    }
    return compare_texts(node, index, values);
}

static bool is_event(const struct etwas_where_operand *operand)
{
    return operand->source == ETWAS_WHERE_OF_PROPERTY && operand->property == ETWAS_PROPERTY_EVENT;
}

/* Values that are one event's name spelled in two ways are both to be unequal. */
static bool needs_all(const struct etwas_where_node *node)
{
    return node->relation == ETWAS_WHERE_UNEQUAL &&
           (is_event(&node->operands[0]) || is_event(&node->operands[1]));
}

static bool compare(const struct etwas_where_node *node, const struct etwas_where_values *values)
{
    uint32_t left = count_of(&node->operands[0], values);
    uint32_t right = count_of(&node->operands[1], values);
    bool all = needs_all(node);

    for (uint32_t i = 0; i < left; i++) {
        for (uint32_t k = 0; k < right; k++) {
            const uint32_t index[2] = {i, k};

            if (compare_values(node, index, values) != all) {
                return !all;
            }
        }
    }
    return all && left > 0 && right > 0;
}

static bool is_something(const struct etwas_where_operand *operand, uint32_t index,
                         const struct etwas_where_values *values)
{
    struct etwas_where_number number = number_of(operand, index, values);
    size_t bytes = 0;

    if (number.kind == ETWAS_WHERE_FLOAT) {
        return number.f < 0 || number.f > 0;
    }
    return is_number(&number) ? number.u != 0
                              : text_of(operand, index, 0, values, &bytes) != NULL && bytes > 0;
}

static bool holds_alone(const struct etwas_where_operand *operand,
                        const struct etwas_where_values *values)
{
    uint32_t count = count_of(operand, values);

    for (uint32_t i = 0; i < count; i++) {
        if (is_something(operand, i, values)) {
            return true;
        }
    }
    return false;
}

/* Deeper nodes come before those that they are in, so this ends; how deep is bounded by NODES. */
static bool holds(const struct etwas_where *where, uint32_t number,
                  const struct etwas_where_values *values)
{
    const struct etwas_where_node *node = &where->nodes[number];

    switch (node->relation) {
    case ETWAS_WHERE_OR:
        return holds(where, node->left, values) || holds(where, node->right, values);
    case ETWAS_WHERE_AND:
        return holds(where, node->left, values) && holds(where, node->right, values);
    case ETWAS_WHERE_NOT:
        return !holds(where, node->left, values);
    case ETWAS_WHERE_HOLDS:
        return holds_alone(&node->operands[0], values);
    default:
        return compare(node, values);
    }
}

bool etwas_where_holds(const struct etwas_where *where, const struct etwas_where_values *values)
{
    return holds(where, where->root, values);
}
