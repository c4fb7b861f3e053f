/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Formats numbers with separators and units. */

#include "print/human.h"

#include "print/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *etwas_human_count(char text[ETWAS_HUMAN_CHARACTERS], uint64_t count)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *etwas_human_bytes(char text[ETWAS_HUMAN_CHARACTERS], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;

    /* 999.6 rounds to 1.00 of the next unit. */
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, ETWAS_HUMAN_CHARACTERS, "%.*f %s",
             unit == 0 || bytes >= 99.95 ? 0
             : bytes >= 9.995            ? 1
                                         : 2,
             bytes, units[unit]);
    return text;
}

const char *etwas_human_size(char text[ETWAS_HUMAN_CHARACTERS], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    double tenths;

    while (bytes >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    tenths = round(10 * bytes);
    snprintf(text, ETWAS_HUMAN_CHARACTERS, "%.*f %s", fmod(tenths, 10) == 0 ? 0 : 1, tenths / 10,
             units[unit]);
    return text;
}

const char *etwas_human_digits(char text[ETWAS_HUMAN_CHARACTERS], double value)
{
    double size = fabs(value);
    int decimals = size <= 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;

    (void)snprintf(text, ETWAS_HUMAN_CHARACTERS, "%.*f", decimals, size <= 0 ? 0 : value);
    return text;
}

const char *etwas_human_ns(char text[ETWAS_HUMAN_CHARACTERS], double ns)
{
    static const double units[] = {1, 1e3, 1e6, 1e9};
    static const char *const names[] = {"ns", "µs", "ms", "s"};
    char digits[ETWAS_HUMAN_CHARACTERS];
    double size = fabs(ns);
    unsigned unit = 0;

    if (!isfinite(ns)) {
        return strcpy(text, "-");
    }
    if (size >= 1e17) {
        return strcpy(text, ns < 0 ? "<-3 y" : ">3 y");
    }
    /* 999.6 rounds to 1.00 of the next unit. */
    while (size >= 999.5 * units[unit] && unit < 3) {
        unit++;
    }
    (void)snprintf(text, ETWAS_HUMAN_CHARACTERS, "%.20s %s",
                   etwas_human_digits(digits, ns / units[unit]),
                   unit == 1 && !etwas_terminal_has_utf8() ? "us" : names[unit]);
    return text;
}

const char *etwas_human_rate(char text[ETWAS_HUMAN_CHARACTERS], double rate)
{
    if (isnan(rate)) {
        return strcpy(text, "-");
    }
    if (rate < 0.005 && rate > 0) {
        return strcpy(text, "<0.01");
    }
    if (rate < 99.95) {
        snprintf(text, ETWAS_HUMAN_CHARACTERS, "%.*f", rate < 9.995 ? 2 : 1, rate);
        return text;
    }
    return etwas_human_count(text, (uint64_t)llround(rate < 1e18 ? rate : 1e18));
}
