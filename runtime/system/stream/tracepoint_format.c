/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/tracepoint.h"

#include <string.h>

enum {
    DECIMAL = 10
};

/* A part of the text. */
struct piece {
    const char *at;
    const char *end;
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static bool tracepoint_format_is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_of_name(char letter)
{
    return tracepoint_format_is_digit(letter) || letter == '_' ||
           (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/* Splits off what comes before `ends`. Returns false if `ends` does not follow. */
static bool parse_until(struct piece *rest, char ends, struct piece *taken)
{
    const char *found =
        rest->at < rest->end ? memchr(rest->at, ends, (size_t)(rest->end - rest->at)) : NULL;

    if (found == NULL) {
        return false;
    }
    *taken = (struct piece){rest->at, found};
    rest->at = found + 1;
    return true;
}

/* The last line may have no new line at its end. */
static bool tracepoint_format_parse_line(struct piece *rest, struct piece *line)
{
    if (rest->at == rest->end) {
        return false;
    }
    if (!parse_until(rest, '\n', line)) {
        *line = *rest;
        rest->at = rest->end;
    }
    return true;
}

/* Skips blanks and then `label`. */
static bool parse_label(struct piece *rest, const char *label)
{
    size_t length = strlen(label);

    while (rest->at < rest->end && is_blank(*rest->at)) {
        rest->at++;
    }
    if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, label, length) != 0) {
        return false;
    }
    rest->at += length;
    return true;
}

/* Parses digits after blanks, at most `most`. Returns false if there is anything else. */
static bool read_number(struct piece text, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;

    (void)parse_label(&text, "");
    if (text.at == text.end) {
        return false;
    }
    for (; text.at < text.end; text.at++) {
        if (!tracepoint_format_is_digit(*text.at)) {
            return false;
        }
        value = value * DECIMAL + (uint64_t)(*text.at - '0');
        if (value > most) {
            return false;
        }
    }
    *number = (uint32_t)value;
    return true;
}

/* "label:number;" */
static bool tracepoint_format_parse_number(struct piece *rest, const char *label, uint32_t most,
                                           uint32_t *number)
{
    struct piece text;

    return parse_label(rest, label) && parse_until(rest, ';', &text) &&
           read_number(text, most, number);
}

bool etwas_tracepoint_format_id(const char *text, size_t bytes, uint32_t *id)
{
    struct piece rest = {text, text + bytes};
    struct piece line;

    while (tracepoint_format_parse_line(&rest, &line)) {
        if (parse_label(&line, "ID:")) {
            return read_number(line, UINT32_MAX, id);
        }
    }
    return false;
}

/*
 * "pid_t prev_pid" or "char prev_comm[16]": whether this is the name, and which kind it declares.
 */
static bool declares(struct piece declaration, const char *name,
                     enum etwas_tracepoint_field_kind *kind)
{
    const char *end = declaration.end;
    const char *begin;

    *kind = ETWAS_FORMAT_PLAIN;
    if (end > declaration.at && end[-1] == ']') {
        *kind = ETWAS_FORMAT_ARRAY;
        while (end > declaration.at && *end != '[') {
            end--;
        }
    }
    begin = end;
    while (begin > declaration.at && is_of_name(begin[-1])) {
        begin--;
    }
    if ((size_t)(end - begin) != strlen(name) || memcmp(begin, name, strlen(name)) != 0) {
        return false;
    }
    if (parse_label(&declaration, "__data_loc ")) {
        *kind = ETWAS_FORMAT_DATA_LOC;
    } else if (parse_label(&declaration, "__rel_loc ")) {
        *kind = ETWAS_FORMAT_REL_LOC;
    }
    return true;
}

bool etwas_tracepoint_format_find(const char *text, size_t bytes, const char *name,
                                  struct etwas_tracepoint_field *field)
{
    struct piece rest = {text, text + bytes};
    struct piece declaration;
    struct piece line;
    enum etwas_tracepoint_field_kind kind;
    uint32_t offset;
    uint32_t size;
    uint32_t is_signed;

    while (tracepoint_format_parse_line(&rest, &line)) {
        if (!parse_label(&line, "field:") || !parse_until(&line, ';', &declaration) ||
            !declares(declaration, name, &kind)) {
            continue;
        }
        if (!tracepoint_format_parse_number(&line, "offset:", UINT16_MAX, &offset) ||
            !tracepoint_format_parse_number(&line, "size:", UINT16_MAX - offset, &size) ||
            !tracepoint_format_parse_number(&line, "signed:", 1, &is_signed)) {
            return false;
        }
        *field = (struct etwas_tracepoint_field){
            .offset = (uint16_t)offset,
            .size = (uint16_t)size,
            .is_signed = is_signed != 0,
            .kind = kind,
        };
        return true;
    }
    return false;
}

/* ---- the fields of a sample ------------------------------------------------------------------ */

static bool is_inside(const struct etwas_tracepoint_field *field, size_t raw_bytes)
{
    return (size_t)field->offset + field->size <= raw_bytes;
}

static uint32_t load_u32(const uint8_t *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof value);
    return value;
}

/* Loads a number of the field's size. A copy of constant length is one instruction. */
static bool tracepoint_format_load(const struct etwas_tracepoint_field *field, const uint8_t *from,
                                   int64_t *value)
{
    uint16_t two;
    uint32_t four;

    switch (field->size) {
    case 1:
        *value = field->is_signed ? (int8_t)*from : *from;
        return true;
    case 2:
        memcpy(&two, from, sizeof two);
        *value = field->is_signed ? (int16_t)two : two;
        return true;
    case 4:
        four = load_u32(from);
        *value = field->is_signed ? (int32_t)four : (int64_t)four;
        return true;
    case 8:
        memcpy(value, from, sizeof *value);
        return true;
    default:
        return false;
    }
}

bool etwas_tracepoint_format_number(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                    size_t raw_bytes, int64_t *value)
{
    return field->kind == ETWAS_FORMAT_PLAIN && is_inside(field, raw_bytes) &&
           tracepoint_format_load(field, raw + field->offset, value);
}

bool etwas_tracepoint_format_bytes(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                   size_t raw_bytes, const uint8_t **bytes, size_t *count)
{
    size_t at = field->offset;
    size_t length = field->size;

    if (!is_inside(field, raw_bytes)) {
        return false;
    }
    if (field->kind == ETWAS_FORMAT_DATA_LOC || field->kind == ETWAS_FORMAT_REL_LOC) {
        uint32_t place;

        if (field->size != sizeof place) {
            return false;
        }
        place = load_u32(raw + at);
        at = (place & UINT16_MAX) + (field->kind == ETWAS_FORMAT_REL_LOC ? at + sizeof place : 0);
        length = place >> 16;
    }
    if (at + length > raw_bytes) {
        return false;
    }
    *bytes = raw + at;
    *count = length;
    return true;
}
