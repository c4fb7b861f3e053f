/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Text into the caller's memory: what fits is written, all of it is counted. No character is cut in
 * two, and behind the first that does not fit none is written. What the input has that is no
 * character becomes U+FFFD, so that the output is valid UTF-8.
 */
#ifndef ETWAS_DECODE_TEXT_WRITER_H
#define ETWAS_DECODE_TEXT_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct etwas_text_writer {
    char *bytes;
    size_t room; /* what may still be written, besides the terminating 0 */
    size_t written;
    size_t length; /* of the whole text */
};

/* `size` bytes at `bytes`, the last for a 0; none for size 0. */
struct etwas_text_writer etwas_text_begin(char *bytes, size_t size);

/* Writes the 0 where there is room for one; returns the length. */
size_t etwas_text_end(struct etwas_text_writer *text, size_t size);

/* One character, or ASCII: written whole, as far as there is room for it. */
void etwas_text_put(struct etwas_text_writer *text, const char *bytes, size_t count);
void etwas_text_put_ascii(struct etwas_text_writer *text, const char *ascii);
void etwas_text_put_unsigned(struct etwas_text_writer *text, uint64_t number);
void etwas_text_put_signed(struct etwas_text_writer *text, int64_t number);
/* At least `digits` decimal digits, with leading zeroes. */
void etwas_text_put_digits(struct etwas_text_writer *text, uint64_t number, unsigned digits);
/* 0x and upper-case digits. */
void etwas_text_put_hex(struct etwas_text_writer *text, uint64_t number);
/* Two upper-case digits for each byte. */
void etwas_text_put_bytes(struct etwas_text_writer *text, const uint8_t *bytes, size_t count);

/* Of a file, and so whatever it holds; a 0 inside is no character either. */
void etwas_text_put_utf8(struct etwas_text_writer *text, const void *utf8, size_t bytes);
/* Need not be aligned. */
void etwas_text_put_utf16(struct etwas_text_writer *text, const void *utf16, size_t units);

#endif
