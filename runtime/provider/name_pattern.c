/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/name_pattern.h"

#include <ck_pr.h>

static char pattern_folded(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) : byte;
}

/* Returns the pattern's byte at this position; 0: it is at its end. */
static char pattern_at(const char *pattern, uint32_t bytes, uint32_t at)
{
    return at < bytes ? (char)ck_pr_load_8((const uint8_t *)&pattern[at]) : 0;
}

/* Moves past a character and the bytes that continue it. */
static const char *pattern_next_character(const char *name)
{
    do {
        name++;
    } while ((*name & 0xC0) == 0x80);
    return name;
}

bool etwas_name_pattern_matches(const char *pattern, uint32_t bytes, const char *name, bool folds)
{
    uint32_t at = 0;
    uint32_t behind_star = 0; /* the position after the last star; 0: there was none */
    const char *resumed = name;

    while (*name != 0) {
        char wanted = pattern_at(pattern, bytes, at);

        if (wanted == '*') {
            behind_star = ++at;
            resumed = name;
        } else if (wanted == '?') {
            at++;
            name = pattern_next_character(name);
        } else if (wanted == *name || (folds && pattern_folded(wanted) == pattern_folded(*name))) {
            at++;
            name++;
        } else if (behind_star != 0) {
            /* The star stands for one more character. */
            at = behind_star;
            resumed = pattern_next_character(resumed);
            name = resumed;
        } else {
            return false;
        }
    }
    while (pattern_at(pattern, bytes, at) == '*') {
        at++;
    }
    return at >= bytes;
}
