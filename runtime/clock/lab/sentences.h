/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Text put together from whole sentences: one that does not fit is left out, none is cut.
 */
#ifndef ETWAS_CLOCK_LAB_SENTENCES_H
#define ETWAS_CLOCK_LAB_SENTENCES_H

#include <stddef.h>

/* `text` is always a string of `length` bytes in `size`. */
struct etwas_sentences {
    char *text;
    size_t size;
    size_t length;
};

/* Begins an empty text; `size` is at least 1. */
struct etwas_sentences etwas_sentences_in(char *text, size_t size);

/* Adds a sentence, with a blank before it if it is not the first. */
void etwas_sentences_add(struct etwas_sentences *sentences, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum {
    ETWAS_DURATION_BYTES = 32
};

/* Writes a duration with a suitable unit, 0.000123 ns … 12 days, and returns `text`. */
const char *etwas_duration_text(double ns, char text[ETWAS_DURATION_BYTES]);

#endif
