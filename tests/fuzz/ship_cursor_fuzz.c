/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A cursor of `etwas ship` as anybody may have left it: u8, whether its checksum is put right
 * first; the text. What is understood is written again, to the same bytes.
 */
#include "math/hash.h"
#include "ship/state/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    SUM_DIGITS = 16,
    LAST_LINE = 4 + SUM_DIGITS + 1, /* "sum ", the digits, the line's end */
};

static void put_right(char *text, size_t bytes)
{
    char sum[SUM_DIGITS + 1];

    if (bytes >= LAST_LINE) {
        (void)snprintf(sum, sizeof sum, "%016" PRIx64,
                       etwas_hash(ETWAS_HASH_OF_NOTHING, text, bytes - LAST_LINE));
        memcpy(text + bytes - 1 - SUM_DIGITS, sum, SUM_DIGITS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char again[ETWAS_SHIP_CURSOR_BYTES];
    static struct etwas_ship_cursor cursor;
    struct input input = {data, size};
    bool is_put_right = take_u8(&input) % 2 != 0;
    uint16_t bytes;
    char *text = (char *)take_bytes(&input, input.left, &bytes);

    if (is_put_right) {
        put_right(text, bytes);
    }
    if (etwas_ship_cursor_read(text, bytes, &cursor)) {
        MUST(etwas_ship_cursor_write(&cursor, again) == bytes);
        MUST(memcmp(text, again, bytes) == 0);
    }
    free(text);
    return 0;
}
