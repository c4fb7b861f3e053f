/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/utf16.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SURROGATES = 0xD800,
    BEHIND_SURROGATES = 0xE000,
    BEYOND_ONE_UNIT = 0x10000,
    BEYOND_UNICODE = 0x110000,
};

/*
 * By the first byte: how many follow, what they need to say at least, and which bits are its own.
 */
static const struct form {
    unsigned char mask;
    unsigned char mark;
    uint32_t least;
    unsigned following;
} forms[] = {
    {0x80, 0x00, 0, 0},
    {0xE0, 0xC0, 0x80, 1},
    {0xF0, 0xE0, 0x800, 2},
    {0xF8, 0xF0, 0x10000, 3},
};

/*
 * The next character of well-formed UTF-8, and `*text` behind it. False: there it is not well
 * formed. Not at its end.
 */
static bool read_character(const char **text, uint32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    const struct form *form = forms;
    uint32_t value;

    while ((*bytes & form->mask) != form->mark) {
        if (++form == forms + sizeof forms / sizeof *forms) {
            return false;
        }
    }
    value = (uint32_t)(*bytes++ & ~form->mask & 0xFF);
    for (unsigned i = 0; i < form->following; i++) {
        if ((*bytes & 0xC0) != 0x80) {
            return false;
        }
        value = value << 6 | (*bytes++ & 0x3F);
    }
    *text = (const char *)bytes;
    *character = value;
    return value >= form->least && value < BEYOND_UNICODE &&
           (value < SURROGATES || value >= BEHIND_SURROGATES);
}

/* One or two units. Returns how many. */
static size_t put_units(uint32_t character, etwas_wchar units[2])
{
    if (character < BEYOND_ONE_UNIT) {
        units[0] = (etwas_wchar)character;
        return 1;
    }
    character -= BEYOND_ONE_UNIT;
    units[0] = (etwas_wchar)(0xD800 | character >> 10);
    units[1] = (etwas_wchar)(0xDC00 | (character & 0x3FF));
    return 2;
}

size_t etwas_steer_utf16(const char *text, etwas_wchar *units, size_t room)
{
    size_t used = 0;

    while (*text != '\0') {
        etwas_wchar pair[2];
        uint32_t character;
        size_t count;

        if (!read_character(&text, &character)) {
            return 0;
        }
        count = put_units(character, pair);
        if (used + count >= room) {
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            units[used++] = pair[i];
        }
    }
    units[used] = 0;
    return used;
}
