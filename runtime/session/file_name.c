/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/file_name.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "etl/utf16.h"

enum {
    DECIMAL_DIGITS = 10 /* in the largest 32-bit number */
};

/* The field that the serial number replaces. */
struct field {
    size_t start; /* its `%` */
    size_t end;   /* after its `d` */
    uint32_t width;
    etwas_wchar filler;
};

/* A name that grows. Once it is too long, nothing is added to it. */
struct made {
    etwas_wchar *units;
    size_t count;
    bool too_long;
};

static bool is_digit(etwas_wchar unit)
{
    return unit >= u'0' && unit <= u'9';
}

/*
 * Whether `text`, which starts with `%`, is a field. Digits past a width that no name can have are
 * ignored.
 */
static bool file_name_parse_field(const etwas_wchar *text, struct field *field)
{
    size_t at = 1;

    field->filler = text[at] == u'0' ? u'0' : u' ';
    field->width = 0;
    for (; is_digit(text[at]); at++) {
        if (field->width <= ETWAS_NAME_UNITS) {
            field->width = field->width * 10 + (uint32_t)(text[at] - u'0');
        }
    }
    field->end = at + 1;
    return text[at] == u'd';
}

static uint32_t file_name_find_fields(const etwas_wchar *name, struct field *first)
{
    uint32_t count = 0;

    for (size_t at = 0; name[at] != 0; at++) {
        struct field field;

        if (name[at] == u'%' && file_name_parse_field(name + at, &field)) {
            field.start = at;
            field.end += at;
            if (count == 0) {
                *first = field;
            }
            count++;
        }
    }
    return count;
}

static void file_name_add(struct made *made, etwas_wchar unit)
{
    if (made->count == ETWAS_NAME_UNITS) {
        made->too_long = true;
    } else {
        made->units[made->count++] = unit;
    }
}

static void file_name_add_text(struct made *made, const etwas_wchar *text, size_t count)
{
    for (size_t index = 0; index < count && text[index] != 0; index++) {
        file_name_add(made, text[index]);
    }
}

static void file_name_add_number(struct made *made, uint32_t number, uint32_t width,
                                 etwas_wchar filler)
{
    etwas_wchar digits[DECIMAL_DIGITS];
    uint32_t count = 0;

    do {
        digits[count++] = (etwas_wchar)(u'0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (uint32_t missing = width > count ? width - count : 0; missing != 0; missing--) {
        file_name_add(made, filler);
    }
    while (count != 0) {
        file_name_add(made, digits[--count]);
    }
}

uint32_t etwas_file_name_make(const etwas_wchar *given, uint32_t log_file_mode, uint32_t serial,
                              uint32_t process_id, etwas_wchar made[ETWAS_NAME_UNITS + 1])
{
    struct made name = {.units = made};
    struct field field = {0};

    if ((log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0) {
        if (file_name_find_fields(given, &field) != 1) {
            made[0] = 0;
            return ERROR_INVALID_NAME;
        }
        file_name_add_text(&name, given, field.start);
        file_name_add_number(&name, serial, field.width, field.filler);
    }
    file_name_add_text(&name, given + field.end, ETWAS_NAME_UNITS);
    if ((log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0) {
        file_name_add(&name, u'_');
        file_name_add_number(&name, process_id, 0, u' ');
    }
    made[name.count] = 0;
    return name.too_long ? ERROR_BAD_PATHNAME : ERROR_SUCCESS;
}

uint32_t etwas_file_name_make_absolute(etwas_wchar file_name[ETWAS_NAME_UNITS + 1])
{
    char path[ETWAS_PATH_BYTES + ETWAS_PATH_BYTES];
    size_t length;
    size_t units;

    if (file_name[0] == 0 || file_name[0] == '/') {
        return ERROR_SUCCESS;
    }
    if (getcwd(path, ETWAS_PATH_BYTES) == NULL) {
        return ERROR_BAD_PATHNAME;
    }
    length = strlen(path);
    path[length++] = '/';
    if (etwas_configuration_path(file_name, path + length) != ERROR_SUCCESS ||
        etwas_utf8_to_utf16(path, strlen(path), file_name, ETWAS_NAME_UNITS + 1, &units) !=
            ETWAS_UTF_OK) {
        return ERROR_BAD_PATHNAME;
    }
    return ERROR_SUCCESS;
}
