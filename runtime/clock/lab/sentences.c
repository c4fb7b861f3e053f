/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/sentences.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct etwas_sentences etwas_sentences_in(char *text, size_t size)
{
    text[0] = '\0';
    return (struct etwas_sentences){.text = text, .size = size};
}

void etwas_sentences_add(struct etwas_sentences *sentences, const char *format, ...)
{
    size_t blank = sentences->length > 0 ? 1 : 0;
    size_t room = sentences->size - sentences->length;
    char *at = sentences->text + sentences->length;
    va_list arguments;
    int length;

    if (room <= blank) {
        return;
    }
    va_start(arguments, format);
    length = vsnprintf(at + blank, room - blank, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room - blank) {
        *at = '\0';
        return;
    }
    if (blank != 0) {
        *at = ' ';
    }
    sentences->length += blank + (size_t)length;
}

const char *etwas_duration_text(double ns, char text[ETWAS_DURATION_BYTES])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    double size = fabs(ns);
    size_t unit = 0;

    /* What would be written as 1000 of a unit is written as 1 of the next. */
    while (unit < 3 && size < 0.9995 * units[unit].ns) {
        unit++;
    }
    size /= units[unit].ns;
    (void)snprintf(text, ETWAS_DURATION_BYTES, "%.*f %s",
                   size < 9.995   ? 2
                   : size < 99.95 ? 1
                                  : 0,
                   ns < 0 ? -size : size, units[unit].name);
    return text;
}
