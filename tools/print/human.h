/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_HUMAN_H
#define ETWAS_TOOLS_PRINT_HUMAN_H

/*
 * Numbers in the form that people read: 4,285,266 and 165 MB. Programs read JSON.
 */

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_HUMAN_CHARACTERS = 32, /* of any text here, with its 0 */
};

/* 4,285,266. Returns `text`. */
const char *etwas_human_count(char text[ETWAS_HUMAN_CHARACTERS], uint64_t count);

/* Three digits and a unit: 37 B, 1.50 kB, 165 MB. kB, MB … are powers of 1,000. */
const char *etwas_human_bytes(char text[ETWAS_HUMAN_CHARACTERS], double bytes);

/* Up to a tenth, and a unit: 37 B, 64 KiB, 3.1 MiB. KiB, MiB … are powers of 1,024. */
const char *etwas_human_size(char text[ETWAS_HUMAN_CHARACTERS], double bytes);

/* Three digits and a unit: 850 ns, 12.3 us, 1.23 ms, 45.6 s. */
const char *etwas_human_ns(char text[ETWAS_HUMAN_CHARACTERS], double ns);

/*
 * Three digits, or a whole number: 0.05, 4.93, 12.3, 1,234,567. What is less than that is <0.01,
 * NaN is -.
 */
const char *etwas_human_rate(char text[ETWAS_HUMAN_CHARACTERS], double rate);

#endif
