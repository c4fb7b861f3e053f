/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Conversions of printf in formats from a file. Such a format is never passed to printf: it is
 * parsed here, and printf gets a conversion made from the result.
 */
#ifndef ETWAS_DECODE_PRINTF_CONVERSION_H
#define ETWAS_DECODE_PRINTF_CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/text_writer.h"

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
