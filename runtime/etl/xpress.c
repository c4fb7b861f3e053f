/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "etl/xpress.h"

#include <string.h>

struct input {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    size_t shared; /* one more than the index of a byte whose high nibble is still unused, or 0 */
};

/* Reads a little-endian number of `width` bytes. Returns false at the end of the input. */
static bool xpress_read_number(struct input *input, size_t width, uint32_t *value)
{
    if (input->size - input->at < width) {
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < width; i++) {
        *value |= (uint32_t)input->bytes[input->at + i] << (8 * i);
    }
    input->at += width;
    return true;
}

/* Two lengths share a byte: the first takes its low nibble, the next its high nibble. */
static bool xpress_read_nibble(struct input *input, uint32_t *value)
{
    if (input->shared != 0) {
        *value = input->bytes[input->shared - 1] >> 4;
        input->shared = 0;
        return true;
    }
    if (!xpress_read_number(input, 1, value)) {
        return false;
    }
    input->shared = input->at;
    *value &= 15;
    return true;
}

/* Reads the length of a match less 3: 3 bits, then, as it grows, a nibble, a byte, a u16, a u32. */
static bool xpress_read_length(struct input *input, uint32_t code, uint32_t *length)
{
    uint32_t more;

    *length = code;
    if (code < 7) {
        return true;
    }
    if (!xpress_read_nibble(input, &more)) {
        return false;
    }
    *length += more;
    if (more < 15) {
        return true;
    }
    if (!xpress_read_number(input, 1, &more)) {
        return false;
    }
    *length += more;
    if (more < 255) {
        return true;
    }
    if (!xpress_read_number(input, 2, length)) {
        return false;
    }
    return *length != 0 || xpress_read_number(input, 4, length);
}

/*
 * Returns false if the match begins before the output, or exceeds it; in the latter case the output
 * is full.
 */
static bool xpress_copy_match(uint8_t *output, size_t *made, size_t output_bytes, size_t distance,
                              uint32_t length_less_3)
{
    uint64_t length = (uint64_t)length_less_3 + 3;
    size_t room = output_bytes - *made;
    uint64_t left = length < room ? length : room;

    if (distance > *made) {
        return false;
    }
    /*
     * A match may overlap what it produces, and then repeats it: each copy doubles what there is.
     * So a long match from few bytes costs no more than a copy.
     */
    while (left > 0) {
        size_t bytes = left < distance ? (size_t)left : distance;

        memcpy(output + *made, output + *made - distance, bytes);
        *made += bytes;
        left -= bytes;
        distance *= 2;
    }
    return length <= room;
}

/* If the last flag word is full, one without items follows: all ones. */
static bool xpress_only_closing_word_left(const struct input *input)
{
    static const uint8_t closing[4] = {0xFF, 0xFF, 0xFF, 0xFF};
    size_t left = input->size - input->at;

    return left == 0 || (left == 4 && memcmp(input->bytes + input->at, closing, 4) == 0);
}

size_t etwas_xpress_decode(const uint8_t *bytes, size_t input_bytes, uint8_t *output,
                           size_t output_bytes, bool *exact)
{
    struct input input = {bytes, input_bytes, 0, 0};
    uint32_t flags = 0;
    unsigned flags_left = 0;
    size_t made = 0;

    *exact = false;
    while (made < output_bytes) {
        uint32_t word;

        if (flags_left == 0) {
            if (!xpress_read_number(&input, 4, &flags)) {
                return made;
            }
            flags_left = 32;
        }
        flags_left--;
        if ((flags >> flags_left & 1) == 0) {
            if (!xpress_read_number(&input, 1, &word)) {
                return made;
            }
            output[made++] = (uint8_t)word;
        } else {
            uint32_t length;

            if (!xpress_read_number(&input, 2, &word) ||
                !xpress_read_length(&input, word & 7, &length) ||
                !xpress_copy_match(output, &made, output_bytes, (word >> 3) + 1, length)) {
                return made;
            }
        }
    }
    *exact = xpress_only_closing_word_left(&input);
    return made;
}
