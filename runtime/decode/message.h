/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Messages of events. Both forms of format come from files: an insert or conversion that cannot be
 * filled is left out or left as it is, whatever it contains.
 */
#ifndef ETWAS_DECODE_MESSAGE_H
#define ETWAS_DECODE_MESSAGE_H

#include <etwas/decode.h>
#include <stdbool.h>
#include <stdint.h>

#include "decode/text_writer.h"

/*
 * Writes a message with the conversions of printf that etwas_describe_message lists, each with the
 * next argument of the payload. Where the payload has ended writes U+2026. Returns whether there is
 * a *rest, as etwas_decoder_message_rest returns it.
 */
bool etwas_message_write_printf(struct etwas_text_writer *text, const char *format,
                                const EVENT_RECORD *record, etwas_value *rest);

/*
 * Writes a message of a manifest, `units` long: %1 to %99 are the top-level fields, %n, %t, %% and
 * the like are characters, %0 ends it. An insert may have a conversion of printf between
 * exclamation marks, without its percent sign: %1!08x!. It formats a number, and sets the width of
 * any other value.
 */
void etwas_message_write_inserts(struct etwas_text_writer *text, const etwas_wchar *message,
                                 size_t units, const etwas_schema *schema,
                                 const EVENT_RECORD *record);

/*
 * Conversions of printf in formats from a file. Such a format is never passed to printf: it is
 * parsed here, and printf gets a conversion made from the result.
 */

enum {
    ETWAS_LARGEST_WIDTH = 255, /* the largest width and precision; larger ones are cut to it */
};

struct etwas_printf_conversion {
    char flags[6];
    int width;
    int precision;  /* -1: none */
    uint32_t bytes; /* size of an integer, by the length modifier */
    bool is_wide;
    char letter; /* 0: an unknown one */
};

/* Parses a conversion after its percent sign; returns where the text continues. */
const char *etwas_printf_conversion_read(const char *at,
                                         struct etwas_printf_conversion *conversion);

/* Writes an integer by one of diouxX; for d and i the number is sign-extended. */
void etwas_printf_write_integer(struct etwas_text_writer *text,
                                const struct etwas_printf_conversion *conversion, uint64_t number);

/* Writes a number by one of eEfFgGaA. */
void etwas_printf_write_double(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion, double number);

/* Writes text of `count` bytes, or UTF-16 units if it is wide, padded with blanks to the width. */
void etwas_printf_write_padded(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion,
                               const void *characters, size_t count);

#endif
