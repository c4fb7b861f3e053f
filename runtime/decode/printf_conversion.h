/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Conversions of printf that a file asks for. Its format is never given to printf: what it may say is
 * read here, and printf gets a conversion made of that.
 */
#ifndef ETWAS_DECODE_PRINTF_CONVERSION_H
#define ETWAS_DECODE_PRINTF_CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/text_writer.h"

enum {
    ETWAS_LARGEST_WIDTH = 255, /* and precision: what is larger is taken for it */
};

struct etwas_printf_conversion {
    char flags[6];
    int width;
    int precision;  /* -1: none */
    uint32_t bytes; /* of an integer, by the length modifier */
    bool is_wide;
    char letter; /* 0: none that is known */
};

/* What stands behind a percent sign; returns where the text goes on. */
const char *etwas_printf_conversion_read(const char *at,
                                         struct etwas_printf_conversion *conversion);

/* One of diouxX; of d and i the number has its sign in all bits. */
void etwas_printf_write_integer(struct etwas_text_writer *text,
                                const struct etwas_printf_conversion *conversion, uint64_t number);

/* One of eEfFgGaA. */
void etwas_printf_write_double(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion, double number);

/* Text of `count` bytes, or UTF-16 units if it is wide, and the blanks that it is short of the width. */
void etwas_printf_write_padded(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion,
                               const void *characters, size_t count);

#endif
