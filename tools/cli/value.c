/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Parses numbers with units, and lists. */

#include "cli/value.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit counts[] = {{"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

static const struct unit sizes[] = {
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)},
    {NULL, 0},
};

static const struct unit durations[] = {
    {"ns", 1},
    {"us", 1000},
    {"\u00B5s", 1000}, /* micro sign */
    {"\u03BCs", 1000}, /* Greek mu */
    {"ms", 1000000},
    {"s", 1000000000},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {NULL, 0},
};

/* Returns 0 if there is no such unit. */
static uint64_t unit_factor(const struct unit *units, const char *name)
{
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, name) == 0) {
            return units->factor;
        }
    }
    return 0;
}

static const char *digits_end(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* Reads decimal digits. Returns false if the number does not fit. */
static bool read_digits(const char *text, const char *end, uint64_t *number)
{
    *number = 0;
    for (; text < end; text++) {
        if (__builtin_mul_overflow(*number, 10U, number) ||
            __builtin_add_overflow(*number, (unsigned)(*text - '0'), number)) {
            return false;
        }
    }
    return true;
}

/*
 * Reads a number with a unit; without one it is in units of `unit`. Digits after the 18th decimal
 * place are ignored, since they have no visible effect.
 */
static bool read_with_unit(const char *text, const struct unit *units, uint64_t unit,
                           uint64_t *value)
{
    const char *end = digits_end(text);
    uint64_t part_of = 1;
    uint64_t part = 0;
    uint64_t factor;
    wide product;

    if (end == text || !read_digits(text, end, value)) {
        return false;
    }
    if (*end == '.') {
        const char *digit = end + 1;

        end = digits_end(digit);
        if (end == digit) {
            return false;
        }
        for (; digit < end && part_of < UINT64_C(1000000000000000000); digit++) {
            part = part * 10 + (unsigned)(*digit - '0');
            part_of *= 10;
        }
    }
    factor = *end == '\0' ? unit : unit_factor(units, end);
    product = (wide)*value * factor + (wide)part * factor / part_of;
    *value = (uint64_t)product;
    return factor != 0 && product <= UINT64_MAX;
}

static bool read_hexadecimal(const char *text, uint64_t *value)
{
    static const char digits[] = "0123456789abcdef";
    size_t count = strspn(text, "0123456789abcdefABCDEF");

    *value = 0;
    for (size_t i = 0; i < count && i < 16; i++) {
        *value = *value << 4 | (uint64_t)(strchr(digits, text[i] | 0x20) - digits);
    }
    return count > 0 && count <= 16 && text[count] == '\0';
}

bool etwas_value_count(const char *text, uint64_t *count)
{
    if (text[0] == '0' && (text[1] | 0x20) == 'x') {
        return read_hexadecimal(text + 2, count);
    }
    return strchr(text, '.') == NULL && read_with_unit(text, counts, 1, count);
}

bool etwas_value_size(const char *text, uint64_t unit, uint64_t *bytes)
{
    return read_with_unit(text, sizes, unit, bytes);
}

bool etwas_value_duration(const char *text, uint64_t unit_ns, uint64_t *ns)
{
    return read_with_unit(text, durations, unit_ns, ns);
}

bool etwas_value_level_name(const char *text, uint8_t *level)
{
    static const char *const names[] = {"critical", "error", "warning", "information", "verbose"};

    for (uint8_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *level = (uint8_t)(i + 1); /* critical is 1 */
            return true;
        }
    }
    return false;
}

bool etwas_value_real(const char *text, double *number)
{
    const char *end = digits_end(text);

    if (*end == '.') {
        end = digits_end(end + 1);
    }
    if (end == text || *end != '\0' || end[-1] == '.') {
        return false;
    }
    *number = strtod(text, NULL);
    return true;
}

bool etwas_value_item(const char **list, char *item, size_t room)
{
    const char *text = *list;
    size_t used = 0;
    bool is_quoted = false;
    bool is_item;

    if (text == NULL || *text == '\0') {
        *list = NULL;
        return false;
    }
    for (; *text != '\0' && (is_quoted || *text != ','); text++) {
        if (*text == '"') {
            if (!is_quoted || text[1] != '"') {
                is_quoted = !is_quoted;
                continue;
            }
            text++;
        }
        if (used + 1 >= room) {
            return false;
        }
        item[used++] = *text;
    }
    item[used] = '\0';
    is_item = used > 0 && !is_quoted && (*text != ',' || text[1] != '\0');
    *list = *text == ',' ? text + 1 : is_item ? NULL : text;
    return is_item;
}
