/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/number.h"

#include <ctype.h>
#include <errno.h>
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool etwas_steer_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = is_hexadecimal ? text + 2 : text;
    unsigned long long value;
    char *end;

    /* strtoull takes signs and blanks, too. */
    if (!(is_hexadecimal ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits))) {
        return false;
    }
    errno = 0;
    value = strtoull(digits, &end, is_hexadecimal ? 16 : 10);
    *number = value;
    return errno == 0 && *end == '\0' && value >= least && value <= most;
}

bool etwas_steer_number_32(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
    uint64_t value;
    bool good = etwas_steer_number(text, least, most, &value);

    if (good) {
        *number = (uint32_t)value;
    }
    return good;
}

bool etwas_steer_level(const char *text, uint8_t *level)
{
    static const char *const names[] = {"critical", "error", "warning", "information", "verbose"};
    uint32_t number;

    for (uint8_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *level = (uint8_t)(TRACE_LEVEL_CRITICAL + i);
            return true;
        }
    }
    if (!etwas_steer_number_32(text, 0, UINT8_MAX, &number)) {
        return false;
    }
    *level = (uint8_t)number;
    return true;
}
