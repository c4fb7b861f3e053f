/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Parses the text of an AutoLogger's file, which folder.c has read, line by line. */
#include "autologger/folder.h"

#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <string.h>
#include <strings.h>

#include "etl/utf16.h"

enum {
    GUID_CHARACTERS = 36,
    NAME_BYTES = 3 * 1024 + 1, /* of a provider */
};

/* A part of the file's text. */
struct stretch {
    const char *text;
    size_t bytes;
};

struct reading {
    struct etwas_autologger *autologger;
    struct etwas_autologger_provider *provider; /* of the section; NULL: the session's values */
    uint32_t given;     /* values of the section that were present, a bit each */
    const char *reason; /* NULL: no error yet */
};

/* ---- pieces of a line ------------------------------------------------------------------------ */

static bool autologger_file_is_blank(char character)
{
    return character == ' ' || character == '\t';
}

static struct stretch autologger_file_trim(struct stretch all)
{
    while (all.bytes != 0 && autologger_file_is_blank(all.text[0])) {
        all.text++;
        all.bytes--;
    }
    while (all.bytes != 0 && autologger_file_is_blank(all.text[all.bytes - 1])) {
        all.bytes--;
    }
    return all;
}

static bool autologger_file_is_name(struct stretch text, const char *name)
{
    return strlen(name) == text.bytes && strncasecmp(text.text, name, text.bytes) == 0;
}

/* Returns -1 if it is none. */
static int autologger_file_digit_of(char character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    character = (char)(character | 0x20);
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* Reads a decimal number, or a hexadecimal one after 0x. */
static bool autologger_file_read_number(struct stretch text, uint64_t most, uint64_t *number)
{
    bool is_hexadecimal = text.bytes > 2 && text.text[0] == '0' && (text.text[1] | 0x20) == 'x';
    uint64_t base = is_hexadecimal ? 16 : 10;

    *number = 0;
    for (size_t at = is_hexadecimal ? 2 : 0; at < text.bytes; at++) {
        int digit = autologger_file_digit_of(text.text[at]);

        if (digit < 0 || (uint64_t)digit >= base || (uint64_t)digit > most ||
            *number > (most - (uint64_t)digit) / base) {
            return false;
        }
        *number = *number * base + (uint64_t)digit;
    }
    return text.bytes != 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Where a value goes, by its name in the registry. */
static const struct value {
    const char *name;
    size_t offset; /* in the session's or the provider's values */
    bool is_wide;  /* 64 bits */
    uint32_t least;
    uint32_t most; /* limit; 64-bit values have none */
} session_values[] = {
    {"Start", offsetof(struct etwas_autologger, start), false, 0, 1},
    {"BufferSize", offsetof(struct etwas_autologger, buffer_size_kb), false, 4, 16384},
    {"ClockType", offsetof(struct etwas_autologger, clock), false, 1, 3},
    {"FileMax", offsetof(struct etwas_autologger, file_max), false, 0, 16},
    {"FlushTimer", offsetof(struct etwas_autologger, flush_timer), false, 0, UINT32_MAX},
    {"LogFileMode", offsetof(struct etwas_autologger, log_file_mode), false, 0, UINT32_MAX},
    {"MaxFileSize", offsetof(struct etwas_autologger, maximum_file_size), false, 0, UINT32_MAX},
    {"MaximumBuffers", offsetof(struct etwas_autologger, maximum_buffers), false, 0, UINT32_MAX},
    {"MinimumBuffers", offsetof(struct etwas_autologger, minimum_buffers), false, 0, UINT32_MAX},
};

static const struct value provider_values[] = {
    {"Enabled", offsetof(struct etwas_autologger_provider, enabled), false, 0, 1},
    {"EnableLevel", offsetof(struct etwas_autologger_provider, level), false, 0, 255},
    {"EnableProperty", offsetof(struct etwas_autologger_provider, property), false, 0, UINT32_MAX},
    {"MatchAnyKeyword", offsetof(struct etwas_autologger_provider, match_any), true, 0, 0},
    {"MatchAllKeyword", offsetof(struct etwas_autologger_provider, match_all), true, 0, 0},
};

enum {
    SESSION_VALUES = sizeof session_values / sizeof *session_values,
    PROVIDER_VALUES = sizeof provider_values / sizeof *provider_values,
    FILE_NAME_VALUE = SESSION_VALUES, /* the next bit in `given` */
};

static bool autologger_file_is_given_twice(struct reading *reading, uint32_t value)
{
    bool was_given = (reading->given & UINT32_C(1) << value) != 0;

    reading->given |= UINT32_C(1) << value;
    reading->reason = was_given ? "this value has been given before" : NULL;
    return was_given;
}

/* Reads a value by its name. Returns false if no value has this name. */
static bool autologger_file_read_value(struct reading *reading, struct stretch name,
                                       struct stretch text)
{
    const struct value *values = reading->provider != NULL ? provider_values : session_values;
    uint32_t count = reading->provider != NULL ? PROVIDER_VALUES : SESSION_VALUES;
    char *base =
        reading->provider != NULL ? (char *)reading->provider : (char *)reading->autologger;

    for (uint32_t i = 0; i < count; i++) {
        const struct value *value = &values[i];
        uint64_t number;

        if (!autologger_file_is_name(name, value->name)) {
            continue;
        }
        if (autologger_file_is_given_twice(reading, i)) {
            return true;
        }
        if (!autologger_file_read_number(text, value->is_wide ? UINT64_MAX : value->most,
                                         &number)) {
            reading->reason =
                "it takes a number, decimal or with 0x, and this is none, or too large";
        } else if (value->is_wide) {
            memcpy(base + value->offset, &number, sizeof number);
        } else if (number < value->least) {
            reading->reason = "this number is too small";
        } else {
            const uint32_t narrow = (uint32_t)number;

            memcpy(base + value->offset, &narrow, sizeof narrow);
        }
        return true;
    }
    return false;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void autologger_file_read_file_name(struct reading *reading, struct stretch text)
{
    struct etwas_autologger *autologger = reading->autologger;
    size_t units;

    if (autologger_file_is_given_twice(reading, FILE_NAME_VALUE)) {
        return;
    }
    if (text.bytes == 0 || text.text[0] != '/') {
        reading->reason = "a file is named from / on, since programs run in any folder";
    } else if (text.bytes >= sizeof autologger->file_name ||
               etwas_utf8_to_utf16(text.text, text.bytes, NULL, 0, &units) == ETWAS_UTF_INVALID) {
        reading->reason = "the name of the file is too long, or not UTF-8";
    } else {
        memcpy(autologger->file_name, text.text, text.bytes);
        autologger->file_name[text.bytes] = '\0';
    }
}

/* Appends the name to the list. */
static void autologger_file_add_program(struct reading *reading, struct stretch name)
{
    etwas_wchar *programs = reading->autologger->programs;
    size_t used = etwas_utf16_length(programs, ETWAS_FILTER_NAMES_UNITS);
    size_t needed;

    if (name.bytes == 0 || memchr(name.text, '/', name.bytes) != NULL) {
        reading->reason = "a program has the name of its file, without a folder";
        return;
    }
    if (used != 0 && used + 1 < ETWAS_FILTER_NAMES_UNITS) {
        programs[used++] = u';';
    }
    if (etwas_utf8_to_utf16(name.text, name.bytes, programs + used, ETWAS_FILTER_NAMES_UNITS - used,
                            &needed) != ETWAS_UTF_OK) {
        reading->reason = "names of programs are UTF-8, and have 511 characters together";
    }
}

static void autologger_file_read_programs(struct reading *reading, struct stretch text)
{
    const char *end = text.text + text.bytes;
    const char *sign;

    do {
        sign = memchr(text.text, ';', text.bytes);
        text.bytes = (size_t)((sign != NULL ? sign : end) - text.text);
        autologger_file_add_program(reading, autologger_file_trim(text));
        text.text += text.bytes + 1;
        text.bytes = sign != NULL ? (size_t)(end - text.text) : 0;
    } while (sign != NULL && reading->reason == NULL);
}

/* ---- sections -------------------------------------------------------------------------------- */

/*
 * XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX; its digits are in the order of the bytes of a GUID, except
 * in the first three parts.
 */
static bool autologger_file_read_guid(struct stretch text, etwas_guid *guid)
{
    uint8_t bytes[sizeof *guid] = {0};
    size_t digits = 0;

    if (text.bytes != GUID_CHARACTERS) {
        return false;
    }
    for (size_t at = 0; at < GUID_CHARACTERS; at++) {
        bool is_hyphen = at == 8 || at == 13 || at == 18 || at == 23;
        int digit = autologger_file_digit_of(text.text[at]);

        if (is_hyphen ? text.text[at] != '-' : digit < 0) {
            return false;
        }
        if (!is_hyphen) {
            bytes[digits / 2] = (uint8_t)(bytes[digits / 2] << 4 | digit);
            digits++;
        }
    }
    guid->Data1 =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    guid->Data2 = (uint16_t)(bytes[4] << 8 | bytes[5]);
    guid->Data3 = (uint16_t)(bytes[6] << 8 | bytes[7]);
    memcpy(guid->Data4, bytes + 8, sizeof guid->Data4);
    return true;
}

/* Text in braces is a GUID, as in the registry. A name has the GUID that is derived from it. */
static bool autologger_file_read_provider(struct stretch text,
                                          struct etwas_autologger_provider *provider)
{
    etwas_guid *guid = &provider->guid;
    char name[NAME_BYTES];

    if (text.bytes != 0 && text.text[0] == '{') {
        return text.text[text.bytes - 1] == '}' && text.bytes > 2 &&
               autologger_file_read_guid((struct stretch){text.text + 1, text.bytes - 2}, guid);
    }
    if (autologger_file_read_guid(text, guid)) {
        return true;
    }
    if (text.bytes >= sizeof name) {
        return false;
    }
    memcpy(name, text.text, text.bytes);
    name[text.bytes] = '\0';
    if (text.bytes < sizeof provider->name) {
        memcpy(provider->name, name, text.bytes);
    }
    return etwas_name_guid(name, guid) == ERROR_SUCCESS;
}

static void autologger_file_begin_section(struct reading *reading, struct stretch line,
                                          uint32_t number)
{
    struct etwas_autologger *autologger = reading->autologger;
    struct etwas_autologger_provider provider = {.line = number, .enabled = 1, .level = 255};

    if (line.bytes < 2 || line.text[line.bytes - 1] != ']' ||
        !autologger_file_read_provider(
            autologger_file_trim((struct stretch){line.text + 1, line.bytes - 2}), &provider)) {
        reading->reason = "a section is [PROVIDER], by its name or its GUID";
        return;
    }
    for (uint32_t i = 0; i < autologger->provider_count; i++) {
        if (memcmp(&autologger->providers[i].guid, &provider.guid, sizeof provider.guid) == 0) {
            reading->reason = "this provider has a section before";
            return;
        }
    }
    if (autologger->provider_count == ETWAS_AUTOLOGGER_PROVIDERS) {
        reading->reason = "there are more than 64 providers";
        return;
    }
    reading->provider = &autologger->providers[autologger->provider_count++];
    reading->given = 0;
    *reading->provider = provider;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void autologger_file_read_line(struct reading *reading, struct stretch line, uint32_t number)
{
    const char *sign;
    struct stretch name;
    struct stretch value;

    if (memchr(line.text, '\0', line.bytes) != NULL) {
        reading->reason = "this is no text";
        return;
    }
    if (line.bytes == 0 || line.text[0] == '#' || line.text[0] == ';') {
        return;
    }
    if (line.text[0] == '[') {
        autologger_file_begin_section(reading, line, number);
        return;
    }
    sign = memchr(line.text, '=', line.bytes);
    if (sign == NULL) {
        reading->reason = "a line is NAME = VALUE, or [PROVIDER]";
        return;
    }
    name = autologger_file_trim((struct stretch){line.text, (size_t)(sign - line.text)});
    value = autologger_file_trim(
        (struct stretch){sign + 1, line.bytes - (size_t)(sign - line.text) - 1});
    if (autologger_file_read_value(reading, name, value)) {
        return;
    }
    if (reading->provider == NULL && autologger_file_is_name(name, "FileName")) {
        autologger_file_read_file_name(reading, value);
    } else if (reading->provider == NULL && autologger_file_is_name(name, "ExecutableName")) {
        autologger_file_read_programs(reading, value);
    } else {
        reading->reason = reading->provider == NULL ? "a session has no such value"
                                                    : "a provider has no such value";
    }
}

bool etwas_autologger_parse(const char *text, size_t bytes, struct etwas_autologger *autologger,
                            struct etwas_autologger_error *fault)
{
    struct reading reading = {.autologger = autologger};
    size_t at = 0;

    memset(autologger, 0, sizeof *autologger);
    autologger->start = 1;
    for (uint32_t number = 1; at < bytes; number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end != NULL ? (size_t)(end - (text + at)) : bytes - at;

        autologger_file_read_line(
            &reading, autologger_file_trim((struct stretch){text + at, length}), number);
        if (reading.reason != NULL) {
            *fault = (struct etwas_autologger_error){number, reading.reason};
            return false;
        }
        at += length + 1;
    }
    return true;
}
