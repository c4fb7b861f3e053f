/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_HUMAN_H
#define ETWAS_TOOLS_PRINT_HUMAN_H

/*
 * Numbers in human-readable form: 4,285,266 and 165 MB. JSON has plain numbers. All functions
 * return `text`.
 */

#include <stdint.h>

enum {
    ETWAS_HUMAN_CHARACTERS = 32, /* size of any text here, with its NUL */
};

/* Formats a count with separators: 4,285,266. */
const char *etwas_human_count(char text[ETWAS_HUMAN_CHARACTERS], uint64_t count);

/* Returns the ending of a noun after a count. */
static inline const char *etwas_human_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/*
 * Formats bytes with three digits and a unit: 37 B, 1.50 kB, 165 MB. kB, MB and so on are powers of
 * 1,000.
 */
const char *etwas_human_bytes(char text[ETWAS_HUMAN_CHARACTERS], double bytes);

/*
 * Formats bytes to a tenth of a unit: 37 B, 64 KiB, 3.1 MiB. KiB, MiB and so on are powers of
 * 1,024.
 */
const char *etwas_human_size(char text[ETWAS_HUMAN_CHARACTERS], double bytes);

/*
 * Formats a number with three digits, at most two of them after the point: 0.41, 12.3, 850. Numbers
 * from 1,000 on have no point: 12345. Only 0 is "0"; what rounds to less is 0.00.
 */
const char *etwas_human_digits(char text[ETWAS_HUMAN_CHARACTERS], double value);

/*
 * Formats a duration with three digits and a unit: 850 ns, 12.3 µs, 1.23 ms, 45.6 s. If the locale
 * is not UTF-8, µs is us. A value that is not finite is -.
 */
const char *etwas_human_ns(char text[ETWAS_HUMAN_CHARACTERS], double ns);

/*
 * Formats a rate with three digits, or as an integer: 0.05, 4.93, 12.3, 1,234,567. Smaller rates
 * are <0.01, NaN is -.
 */
const char *etwas_human_rate(char text[ETWAS_HUMAN_CHARACTERS], double rate);

#endif
