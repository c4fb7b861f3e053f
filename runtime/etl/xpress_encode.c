/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Plain LZ77 in one pass. A record resembles the previous one, so most of it is found at the
 * distance of the last match, which costs one comparison. Only what is not found there is searched
 * for in a hash table, which has the newest position for each hash.
 */
#include "etl/xpress.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    WINDOW_BYTES = 8192,
    SHORTEST_MATCH = 3,
    FLAGS_IN_A_WORD = 32,
    WORD_BYTES = 8,
    HASHED_BYTES = 5,
    TABLE_BITS = 12,
    TABLE_ENTRIES = 1 << TABLE_BITS,
    /* After this many literals, each step is a byte longer, because there is little to find. */
    FARTHER_EVERY = 64,
    /* The last bytes are not searched, so that whole words can be read. */
    LITERAL_TAIL = 16,
    /*
     * A word of flags, the longest match, another word, and what a copy by words writes in excess.
     */
    SLACK_BYTES = 32,
    /* Values of the three, four and eight bits of a length that say that more bits follow. */
    LENGTH_BITS_MOST = 7,
    NIBBLE_MOST = 15,
    BYTE_MOST = 255,
};
_Static_assert(ETWAS_XPRESS_MEMORY_BYTES == TABLE_ENTRIES * sizeof(uint32_t), "the hash table");

/*
 * The output stream. Flags precede the items to which they belong, so room for their word is
 * reserved.
 */
struct output {
    uint8_t *at;
    uint8_t *end;
    uint8_t *flags_at;
    uint8_t *nibble_at; /* a byte whose high nibble is free; or NULL */
    uint32_t flags;
    uint32_t flags_left;
};

struct match {
    size_t distance;
    size_t bytes; /* 0: none */
};

static inline uint64_t xpress_word_at(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* ---- the stream ------------------------------------------------------------------------------ */

static inline void xpress_begin_flags(struct output *output)
{
    output->flags_at = output->at;
    output->at += sizeof output->flags;
    output->flags = 0;
    output->flags_left = FLAGS_IN_A_WORD;
}

static inline void xpress_end_flags_if_full(struct output *output)
{
    if (output->flags_left == 0) {
        memcpy(output->flags_at, &output->flags, sizeof output->flags);
        xpress_begin_flags(output);
    }
}

/* Fills the rest of the last word with ones. After a full one, writes another word of ones. */
static void xpress_end_flags(struct output *output)
{
    uint64_t flags = (((uint64_t)output->flags + 1) << output->flags_left) - 1;
    uint32_t word = (uint32_t)flags;

    memcpy(output->flags_at, &word, sizeof word);
}

/* Whether the literals, a match and the words of flags for both fit. */
static inline bool xpress_has_room(const struct output *output, size_t literals)
{
    return (size_t)(output->end - output->at) >= literals + literals / 8 + SLACK_BYTES;
}

/* `end` is the input's end: a whole word may be copied for a few bytes before it. */
static inline void xpress_append_literals(struct output *output, const uint8_t *from, size_t bytes,
                                          const uint8_t *end)
{
    while (bytes > 0) {
        size_t some = bytes < output->flags_left ? bytes : output->flags_left;

        if (some <= WORD_BYTES && end - from >= WORD_BYTES) {
            memcpy(output->at, from, WORD_BYTES);
        } else {
            memcpy(output->at, from, some);
        }
        output->at += some;
        from += some;
        bytes -= some;
        output->flags = (uint32_t)((uint64_t)output->flags << some);
        output->flags_left -= (uint32_t)some;
        xpress_end_flags_if_full(output);
    }
}

/* Two lengths share a byte: the first has its low nibble, the next its high one. */
static inline void xpress_append_nibble(struct output *output, size_t value)
{
    if (output->nibble_at != NULL) {
        *output->nibble_at |= (uint8_t)(value << 4);
        output->nibble_at = NULL;
    } else {
        output->nibble_at = output->at;
        *output->at++ = (uint8_t)value;
    }
}

/* Appends a length that does not fit in the byte after its nibble: 16 bits, or 0 and 32 bits. */
static void xpress_append_long_length(struct output *output, uint32_t length)
{
    uint16_t half = length <= UINT16_MAX ? (uint16_t)length : 0;

    memcpy(output->at, &half, sizeof half);
    output->at += sizeof half;
    if (half != length) {
        memcpy(output->at, &length, sizeof length);
        output->at += sizeof length;
    }
}

static inline void xpress_append_match(struct output *output, struct match match)
{
    size_t length = match.bytes - SHORTEST_MATCH;
    size_t left = length;
    uint16_t head = (uint16_t)((match.distance - 1) << 3 |
                               (length < LENGTH_BITS_MOST ? length : LENGTH_BITS_MOST));

    memcpy(output->at, &head, sizeof head);
    output->at += sizeof head;
    if (left >= LENGTH_BITS_MOST) {
        left -= LENGTH_BITS_MOST;
        xpress_append_nibble(output, left < NIBBLE_MOST ? left : NIBBLE_MOST);
        if (left >= NIBBLE_MOST) {
            left -= NIBBLE_MOST;
            *output->at++ = (uint8_t)(left < BYTE_MOST ? left : BYTE_MOST);
            if (left >= BYTE_MOST) {
                xpress_append_long_length(output, (uint32_t)length);
            }
        }
    }
    output->flags = output->flags << 1 | 1;
    output->flags_left--;
    xpress_end_flags_if_full(output);
}

/* ---- finding --------------------------------------------------------------------------------- */

static inline uint32_t xpress_hash(uint64_t word)
{
    return (uint32_t)((word << (64 - 8 * HASHED_BYTES)) * UINT64_C(0x9E3779B97F4A7C15) >>
                      (64 - TABLE_BITS));
}

/* Returns how many bytes agree; `at` is after `other`. */
static inline size_t xpress_common_length(const uint8_t *at, const uint8_t *other,
                                          const uint8_t *end)
{
    const uint8_t *start = at;

    for (; end - at >= WORD_BYTES; at += WORD_BYTES, other += WORD_BYTES) {
        uint64_t differing = xpress_word_at(at) ^ xpress_word_at(other);

        if (differing != 0) {
            return (size_t)(at - start) + (size_t)(__builtin_ctzll(differing) / 8);
        }
    }
    for (; at < end && *at == *other; at++, other++) {
    }
    return (size_t)(at - start);
}

/* Returns the byte at which three bytes of zeroes begin in a word, or WORD_BYTES. */
static inline size_t xpress_first_zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t zero = ~(((word & low) + low) | word | low); /* the high bit of each zero byte */

    zero &= zero >> 8;
    zero &= zero >> 8;
    return zero != 0 ? (size_t)(__builtin_ctzll(zero) / 8) : WORD_BYTES;
}

/*
 * Finds the match at *at, or one at the last distance a few bytes farther, to which *at is moved.
 * Stores the position of *at in the table.
 */
static inline struct match xpress_find_match(const uint8_t **at, const uint8_t *input,
                                             const uint8_t *end, size_t distance, uint32_t *table)
{
    uint64_t word = xpress_word_at(*at);
    uint64_t differing = word ^ xpress_word_at(*at - distance);
    uint32_t *entry = &table[xpress_hash(word)];
    const uint8_t *hashed = input + *entry;
    size_t skipped = xpress_first_zero_bytes(differing);

    *entry = (uint32_t)(*at - input);
    if (skipped != 0 && (uint32_t)xpress_word_at(hashed) == (uint32_t)word &&
        *at - hashed <= WINDOW_BYTES) {
        return (struct match){(size_t)(*at - hashed), xpress_common_length(*at, hashed, end)};
    }
    if (skipped == WORD_BYTES) {
        return (struct match){distance, 0};
    }
    *at += skipped;
    return (struct match){distance, xpress_common_length(*at, *at - distance, end)};
}

uint32_t etwas_xpress_encode(const void *bytes, uint32_t byte_count, void *compressed,
                             uint32_t room, void *memory)
{
    const uint8_t *input = bytes;
    const uint8_t *end = input + byte_count;
    const uint8_t *literals = input; /* literals from here on were not written yet */
    struct output output = {.at = compressed, .end = (uint8_t *)compressed + room};
    size_t distance = 1;

    if (room < SLACK_BYTES) {
        return 0;
    }
    xpress_begin_flags(&output);
    memset(memory, 0, ETWAS_XPRESS_MEMORY_BYTES);
    for (const uint8_t *at = input + 1; byte_count > LITERAL_TAIL && at < end - LITERAL_TAIL;) {
        struct match match = xpress_find_match(&at, input, end, distance, memory);

        if (match.bytes == 0) {
            at += 1 + (at - literals) / FARTHER_EVERY;
            continue;
        }
        if (!xpress_has_room(&output, (size_t)(at - literals))) {
            return 0;
        }
        xpress_append_literals(&output, literals, (size_t)(at - literals), end);
        xpress_append_match(&output, match);
        distance = match.distance;
        at += match.bytes;
        literals = at;
    }
    if (!xpress_has_room(&output, (size_t)(end - literals))) {
        return 0;
    }
    xpress_append_literals(&output, literals, (size_t)(end - literals), end);
    xpress_end_flags(&output);
    return (uint32_t)(output.at - (uint8_t *)compressed);
}
