/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Scans the words of a --where expression: numbers, strings, names and operators. */

#include "where/scan.h"

#include "print/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void etwas_where_fail(struct etwas_where_scan *scan, size_t at, size_t length, const char *error)
{
    if (scan->where->error == NULL) {
        scan->where->error = error;
        scan->where->error_at = at;
        scan->where->error_length = length;
    }
    scan->word = ETWAS_WORD_WRONG;
}

static bool keep_character(struct etwas_where_scan *scan, char character)
{
    struct etwas_where *where = scan->where;

    if (where->text_bytes == ETWAS_WHERE_TEXT_BYTES) {
        etwas_where_fail(scan, scan->at, scan->length, "the expression is too long");
        return false;
    }
    where->text[where->text_bytes++] = character;
    return true;
}

static bool is_word(char character)
{
    return isalnum((unsigned char)character) != 0 || character == '_' ||
           ((unsigned char)character & 0x80) != 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t factor;
    bool is_of_time;
};

static const struct unit units[] = {
    {"k", 1000, false},         {"K", 1000, false},    {"M", 1000000, false},
    {"G", 1000000000, false},   {"Ki", 1024, false},   {"Mi", 1048576, false},
    {"Gi", 1073741824, false},  {"ns", 1, true},       {"us", 1000, true},
    {"µs", 1000, true},         {"ms", 1000000, true}, {"s", 1000000000, true},
    {"min", 60000000000, true},
};

static const struct unit *find_unit(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) == bytes && memcmp(units[i].name, text, bytes) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static const char *skip_digits(const char *text)
{
    while (isdigit((unsigned char)*text) != 0) {
        text++;
    }
    return text;
}

/* Returns the end of an unsigned decimal number, and whether it has a fraction or an exponent. */
static const char *decimal_end(const char *text, bool *is_float)
{
    const char *end = skip_digits(text);
    const char *exponent;

    *is_float = false;
    if (end[0] == '.' && isdigit((unsigned char)end[1]) != 0) {
        *is_float = true;
        end = skip_digits(end + 1);
    }
    if (*end == 'e' || *end == 'E') {
        exponent = end + (end[1] == '+' || end[1] == '-' ? 2 : 1);
        if (isdigit((unsigned char)*exponent) != 0) {
            *is_float = true;
            end = skip_digits(exponent);
        }
    }
    return end;
}

static void set_number(struct etwas_where_number *number, uint64_t magnitude, bool negative)
{
    if (negative && magnitude > 0) {
        number->kind = ETWAS_WHERE_SIGNED;
        number->i = (int64_t)(UINT64_C(0) - magnitude);
    } else {
        number->kind = ETWAS_WHERE_UNSIGNED;
        number->u = magnitude;
    }
}

static void scan_number(struct etwas_where_scan *scan)
{
    const char *start = scan->expression + scan->at;
    bool negative = start[0] == '-';
    const char *text = start + (negative ? 1 : 0);
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t factor = 1;
    bool is_float = false;
    char *end;
    uint64_t magnitude;

    scan->word = ETWAS_WORD_NUMBER;
    scan->has_time_unit = false;
    errno = 0;
    magnitude = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (hexadecimal && end == text + 1) {
        end++; /* 0x without a digit: only the 0 is a number */
        etwas_where_fail(scan, scan->at, (size_t)(end - start), "0x without a digit behind it");
        return;
    }
    if (!hexadecimal) {
        const char *unit = decimal_end(text, &is_float);
        const char *unit_end = unit;

        while (is_word(*unit_end)) {
            unit_end++;
        }
        end += unit_end - end;
        if (unit_end > unit) {
            const struct unit *found = find_unit(unit, (size_t)(unit_end - unit));

            if (found == NULL) {
                etwas_where_fail(scan, (size_t)(unit - scan->expression), (size_t)(unit_end - unit),
                                 "no such unit: there are k, M, G, Ki, Mi, Gi, ns, us, ms, s and "
                                 "min");
                return;
            }
            factor = found->factor;
            scan->has_time_unit = found->is_of_time;
        }
    } else if (is_word(*end)) {
        etwas_where_fail(scan, (size_t)(end - scan->expression), 1, "not a hexadecimal digit");
        return;
    }
    scan->length = (size_t)(end - start);
    if (is_float) {
        double value = strtod(text, NULL) * (double)factor;

        scan->number.kind = ETWAS_WHERE_FLOAT;
        scan->number.f = negative ? -value : value;
    } else if (errno == ERANGE || __builtin_mul_overflow(magnitude, factor, &magnitude) ||
               (negative && magnitude > UINT64_C(1) << 63)) {
        etwas_where_fail(scan, scan->at, scan->length, "the number does not fit in 64 bits");
    } else {
        set_number(&scan->number, magnitude, negative);
    }
}

/* ---- strings and names ----------------------------------------------------------------------- */

static int hexadecimal_digit(char character)
{
    const char *const digits = "0123456789abcdef";
    const char *found =
        character != '\0' ? strchr(digits, tolower((unsigned char)character)) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/*
 * Returns the character that an escape stands for, and in *taken its length; -1 if it is not valid.
 */
static int escaped(const char *text, size_t *taken)
{
    *taken = 2;
    switch (text[1]) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '"':
    case '\'':
    case '\\':
        return text[1];
    case 'x': {
        int high = hexadecimal_digit(text[2]);
        int low = high >= 0 ? hexadecimal_digit(text[3]) : -1;

        *taken = 4;
        return low >= 0 ? 16 * high + low : -1;
    }
    default:
        return -1;
    }
}

/* Decodes \u{N}, as columns show control characters, to UTF-8. Returns NULL if it is not valid. */
static const char *keep_point(struct etwas_where_scan *scan, const char *text)
{
    char character[ETWAS_TEXT_POINT_BYTES];
    size_t bytes;
    char *end;
    unsigned long point = strtoul(text + 3, &end, 16);

    if (hexadecimal_digit(text[3]) < 0 || *end != '}' || point < 0x80 || point > 0x10FFFF) {
        return NULL;
    }
    bytes = etwas_text_encode(character, (uint32_t)point);
    for (size_t i = 0; i < bytes && keep_character(scan, character[i]); i++) {
    }
    return end + 1;
}

static void scan_string(struct etwas_where_scan *scan)
{
    const char *text = scan->expression + scan->at;
    char quote = *text++;

    scan->word = ETWAS_WORD_STRING;
    scan->text = scan->where->text + scan->where->text_bytes;
    while (*text != quote) {
        size_t taken = 1;
        int character = (unsigned char)*text;

        if (character == '\0') {
            etwas_where_fail(scan, scan->at, 1, "the string has no end");
            return;
        }
        if (character == '\\' && text[1] == 'u' && text[2] == '{') {
            const char *end = keep_point(scan, text);

            if (end != NULL && scan->where->error == NULL) {
                text = end;
                continue;
            }
        }
        if (character == '\\') {
            character = escaped(text, &taken);
            if (character < 0) {
                etwas_where_fail(scan, (size_t)(text - scan->expression), text[1] != '\0' ? 2 : 1,
                                 "no such escape: there are \\\\ \\\" \\' \\n \\r \\t \\xNN and "
                                 "\\u{N}");
                return;
            }
        }
        if (!keep_character(scan, (char)character)) {
            return;
        }
        text += taken;
    }
    scan->length = (size_t)(text + 1 - scan->expression) - scan->at;
    scan->bytes = (size_t)(scan->where->text + scan->where->text_bytes - scan->text);
    keep_character(scan, '\0');
}

/* Scans one word of a name and terminates it with a 0. Returns its end; NULL if it is not valid. */
static const char *scan_part(struct etwas_where_scan *scan, const char *text)
{
    const char *start = text;
    bool quoted = *text == '`';

    if (quoted) {
        scan->quoted = true;
        text++;
    }
    while (quoted ? *text != '`' : is_word(*text)) {
        if (*text == '\0') {
            etwas_where_fail(scan, (size_t)(start - scan->expression), 1, "the name has no end");
            return NULL;
        }
        if (!keep_character(scan, *text)) {
            return NULL;
        }
        text++;
    }
    if (text == start || (quoted && text == start + 1)) {
        etwas_where_fail(scan, (size_t)(start - scan->expression), 1,
                         "expected the name of a member behind the dot");
        return NULL;
    }
    return keep_character(scan, '\0') ? text + (quoted ? 1 : 0) : NULL;
}

static bool is_reserved(const struct etwas_where_scan *scan, const char *word)
{
    size_t bytes = strlen(word) + 1;

    return !scan->quoted && scan->bytes == bytes && memcmp(scan->text, word, bytes) == 0;
}

/* Scans words that are names only if they are quoted with ` `. */
static void scan_reserved(struct etwas_where_scan *scan)
{
    if (is_reserved(scan, "contains")) {
        scan->word = ETWAS_WORD_RELATION;
        scan->relation = ETWAS_WHERE_CONTAINS;
    } else if (is_reserved(scan, "true") || is_reserved(scan, "false")) {
        scan->word = ETWAS_WORD_NUMBER;
        set_number(&scan->number, is_reserved(scan, "true"), false);
    }
}

static void scan_name(struct etwas_where_scan *scan)
{
    const char *text = scan->expression + scan->at;

    scan->word = ETWAS_WORD_NAME;
    scan->text = scan->where->text + scan->where->text_bytes;
    text = scan_part(scan, text);
    while (text != NULL && *text == '.') {
        text = scan_part(scan, text + 1);
    }
    if (text != NULL) {
        scan->length = (size_t)(text - scan->expression) - scan->at;
        scan->bytes = (size_t)(scan->where->text + scan->where->text_bytes - scan->text);
        scan_reserved(scan);
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

static const struct {
    char sign[3];
    enum etwas_where_word word;
    enum etwas_where_relation relation;
} signs[] = {
    /* Longer ones precede their prefixes. */
    {"||", ETWAS_WORD_RELATION, ETWAS_WHERE_OR},
    {"&&", ETWAS_WORD_RELATION, ETWAS_WHERE_AND},
    {"==", ETWAS_WORD_RELATION, ETWAS_WHERE_EQUAL},
    {"!=", ETWAS_WORD_RELATION, ETWAS_WHERE_UNEQUAL},
    {"<=", ETWAS_WORD_RELATION, ETWAS_WHERE_LESS_EQUAL},
    {">=", ETWAS_WORD_RELATION, ETWAS_WHERE_GREATER_EQUAL},
    {"=~", ETWAS_WORD_RELATION, ETWAS_WHERE_MATCHES},
    {"<", ETWAS_WORD_RELATION, ETWAS_WHERE_LESS},
    {">", ETWAS_WORD_RELATION, ETWAS_WHERE_GREATER},
    {"!", ETWAS_WORD_RELATION, ETWAS_WHERE_NOT},
    {"&", ETWAS_WORD_MASK, ETWAS_WHERE_AND},
    {"(", ETWAS_WORD_OPEN, ETWAS_WHERE_AND},
    {")", ETWAS_WORD_CLOSE, ETWAS_WHERE_AND},
};

/* Returns a hint about a character that begins no word. */
static const char *meaning_of(char character)
{
    switch (character) {
    case '=':
        return "one = means nothing: == compares";
    case '|':
        return "one | means nothing: || is 'or'";
    case '~':
        return "one ~ means nothing: =~ takes a regular expression";
    case '[':
        return "there is no [N]: a comparison holds if it does for any value of an array";
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
        return "there is no arithmetic";
    default:
        return "this means nothing here";
    }
}

static void scan_sign(struct etwas_where_scan *scan)
{
    const char *text = scan->expression + scan->at;

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t length = strlen(signs[i].sign);

        if (strncmp(text, signs[i].sign, length) == 0) {
            scan->word = signs[i].word;
            scan->relation = signs[i].relation;
            scan->length = length;
            return;
        }
    }
    etwas_where_fail(scan, scan->at, 1, meaning_of(*text));
}

void etwas_where_next(struct etwas_where_scan *scan)
{
    const char *text = scan->expression + scan->at + scan->length;

    while (isspace((unsigned char)*text) != 0) {
        text++;
    }
    scan->at = (size_t)(text - scan->expression);
    scan->length = 0;
    scan->quoted = false;
    if (*text == '\0') {
        scan->word = ETWAS_WORD_END;
    } else if (isdigit((unsigned char)*text) != 0 ||
               (*text == '-' && isdigit((unsigned char)text[1]) != 0)) {
        scan_number(scan);
    } else if (*text == '"' || *text == '\'') {
        scan_string(scan);
    } else if (is_word(*text) || *text == '`') {
        scan_name(scan);
    } else {
        scan_sign(scan);
    }
}

/* ---- dates ----------------------------------------------------------------------------------- */

/* Reads `count` digits at *text; returns -1 if there are fewer. */
static int take_digits(const char **text, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++) {
        if (isdigit((unsigned char)(*text)[i]) == 0) {
            return -1;
        }
        value = 10 * value + ((*text)[i] - '0');
    }
    *text += count;
    return value;
}

static bool take_character(const char **text, const char *allowed)
{
    if (**text != '\0' && strchr(allowed, **text) != NULL) {
        (*text)++;
        return true;
    }
    return false;
}

static bool take_day(const char **text, struct tm *day)
{
    int year = take_digits(text, 4);
    int month = take_character(text, "-") ? take_digits(text, 2) : -1;
    int of_month = take_character(text, "-") ? take_digits(text, 2) : -1;
    struct tm real;

    *day = (struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = of_month};
    real = *day;
    (void)timegm(&real);
    /*
     * In these years, nanoseconds since 1970 fit in 64 bits. The last check refuses a February 30.
     */
    return year >= 1678 && year <= 2261 && month >= 1 && month <= 12 && of_month >= 1 &&
           real.tm_mday == of_month;
}

static int64_t take_fraction_ns(const char **text)
{
    int64_t unit = 100000000;
    int64_t value = 0;

    while (isdigit((unsigned char)**text) != 0) {
        value += unit * (**text - '0');
        unit /= 10;
        (*text)++;
    }
    return value;
}

/* Reads 08:19, then optionally :17 and .123456789. Returns false if there is no time. */
static bool take_time(const char **text, struct tm *parts, int64_t *fraction_ns)
{
    parts->tm_hour = take_digits(text, 2);
    parts->tm_min = take_character(text, ":") ? take_digits(text, 2) : 0;
    if (parts->tm_min >= 0 && take_character(text, ":")) {
        parts->tm_sec = take_digits(text, 2);
        if (parts->tm_sec >= 0 && take_character(text, ".")) {
            *fraction_ns = take_fraction_ns(text);
        }
    }
    return parts->tm_hour >= 0 && parts->tm_hour <= 23 && parts->tm_min >= 0 &&
           parts->tm_min <= 59 && parts->tm_sec >= 0 && parts->tm_sec <= 60;
}

/* Reads Z, or an offset ahead of UTC such as +01:00. Returns false if it is neither. */
static bool take_offset(const char **text, bool *has_offset, int64_t *offset_s)
{
    bool is_behind = **text == '-';
    int hours;
    int minutes;

    *has_offset = **text != '\0';
    *offset_s = 0;
    if (!*has_offset || take_character(text, "Z")) {
        return true;
    }
    if (!take_character(text, "+-")) {
        return false;
    }
    hours = take_digits(text, 2);
    take_character(text, ":");
    minutes = take_digits(text, 2);
    *offset_s = (hours * INT64_C(60) + minutes) * (is_behind ? -60 : 60);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

bool etwas_where_date(const char *text, enum etwas_where_zone zone, int64_t *unix_ns)
{
    struct tm parts;
    int64_t fraction = 0;
    int64_t offset_s = 0;
    int64_t seconds;
    bool has_offset = false;

    if (!take_day(&text, &parts)) {
        return false;
    }
    if (take_character(&text, "T ") &&
        (!take_time(&text, &parts, &fraction) || !take_offset(&text, &has_offset, &offset_s))) {
        return false;
    }
    if (*text != '\0') {
        return false;
    }
    parts.tm_isdst = -1;
    seconds = !has_offset && zone == ETWAS_WHERE_LOCAL ? mktime(&parts) : timegm(&parts) - offset_s;
    if (__builtin_mul_overflow(seconds, INT64_C(1000000000), unix_ns) ||
        __builtin_add_overflow(*unix_ns, fraction, unix_ns)) {
        *unix_ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return true;
}

bool etwas_where_time_of_day(const char *text, int64_t *ns)
{
    struct tm parts = {0};
    int64_t fraction = 0;

    if (text[0] == '\0' || text[1] == '\0' || text[2] != ':' ||
        !take_time(&text, &parts, &fraction) || *text != '\0') {
        return false;
    }
    *ns = (parts.tm_hour * INT64_C(3600) + parts.tm_min * 60 + parts.tm_sec) * INT64_C(1000000000) +
          fraction;
    return true;
}
