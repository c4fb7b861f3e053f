/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "compress.h"

#include <stdbool.h>
#include <string.h>

struct output {
    uint8_t *bytes;
    size_t at;
    size_t flags_at; /* where the open flag word lies */
    uint32_t flags;
    unsigned items; /* in the open flag word */
    size_t shared;  /* one more than the place of a byte with a free high nibble, or 0 */
};

static void compress_put(struct output *out, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        out->bytes[out->at++] = (uint8_t)(value >> (8 * i));
    }
}

static void close_flags(struct output *out)
{
    memcpy(out->bytes + out->flags_at, &out->flags, sizeof out->flags);
}

static void begin_item(struct output *out, bool match)
{
    if (out->items == 32) {
        close_flags(out);
        out->flags_at = out->at;
        out->flags = 0;
        out->items = 0;
        compress_put(out, 0, 4);
    }
    out->flags |= (uint32_t)match << (31 - out->items++);
}

static void put_nibble(struct output *out, uint32_t nibble)
{
    if (out->shared != 0) {
        out->bytes[out->shared - 1] |= (uint8_t)(nibble << 4);
        out->shared = 0;
    } else {
        compress_put(out, nibble, 1);
        out->shared = out->at;
    }
}

static void put_match(struct output *out, size_t distance, size_t length)
{
    size_t rest = length - 3;

    begin_item(out, true);
    compress_put(out, (distance - 1) << 3 | (rest < 7 ? rest : 7), 2);
    if (rest < 7) {
        return;
    }
    put_nibble(out, rest - 7 < 15 ? (uint32_t)(rest - 7) : 15);
    if (rest - 7 < 15) {
        return;
    }
    if (rest - 22 < 255) {
        compress_put(out, rest - 22, 1);
        return;
    }
    compress_put(out, 255, 1);
    if (rest <= UINT16_MAX) {
        compress_put(out, rest, 2);
    } else {
        compress_put(out, 0, 2);
        compress_put(out, rest, 4);
    }
}

/* The longest match behind `at`, looking at every distance. */
static size_t longest(const uint8_t *input, size_t bytes, size_t at, size_t *distance)
{
    size_t best = 0;

    for (size_t back = 1; back <= at && back <= 8192; back++) {
        size_t length = 0;

        while (at + length < bytes && input[at + length] == input[at + length - back]) {
            length++;
        }
        if (length > best) {
            best = length;
            *distance = back;
        }
        if (best == bytes - at) {
            break;
        }
    }
    return best;
}

size_t compress(const uint8_t *input, size_t bytes, uint8_t *output)
{
    struct output out = {.bytes = output};
    size_t distance = 0;

    compress_put(&out, 0, 4);
    for (size_t at = 0; at < bytes;) {
        size_t length = longest(input, bytes, at, &distance);

        if (length >= 3) {
            put_match(&out, distance, length);
            at += length;
        } else {
            begin_item(&out, false);
            compress_put(&out, input[at++], 1);
        }
    }
    /* What is left of a flag word is 1; a full one is followed by one that is nothing else. */
    if (out.items == 32) {
        close_flags(&out);
        compress_put(&out, UINT32_MAX, 4);
    } else {
        out.flags |= UINT32_MAX >> out.items;
        close_flags(&out);
    }
    return out.at;
}
