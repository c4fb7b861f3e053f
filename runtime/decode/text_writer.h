/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes text into the caller's memory: writes what fits, and counts all of it. No character is
 * split, and nothing is written after the first one that does not fit. Invalid input becomes
 * U+FFFD, so the output is valid UTF-8.
 */
#ifndef ETWAS_DECODE_TEXT_WRITER_H
#define ETWAS_DECODE_TEXT_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct etwas_text_writer {
    char *bytes;
    size_t room; /* bytes that may still be written, besides the terminating 0 */
    size_t written;
    size_t length; /* of the whole text */
};

/*
 * Begins a text of `size` bytes at `bytes`, including a terminating 0. Nothing is written if `size`
 * is 0.
 */
struct etwas_text_writer etwas_text_begin(char *bytes, size_t size);

/* Terminates the text where there is room; returns its length. */
size_t etwas_text_end(struct etwas_text_writer *text, size_t size);

/* Writes one character, or ASCII, as far as it fits. */
void etwas_text_put(struct etwas_text_writer *text, const char *bytes, size_t count);
void etwas_text_put_ascii(struct etwas_text_writer *text, const char *ascii);
void etwas_text_put_unsigned(struct etwas_text_writer *text, uint64_t number);
void etwas_text_put_signed(struct etwas_text_writer *text, int64_t number);
/* Writes at least `digits` decimal digits, with leading zeroes. */
void etwas_text_put_digits(struct etwas_text_writer *text, uint64_t number, unsigned digits);
/* Writes 0x and upper-case hexadecimal digits. */
void etwas_text_put_hex(struct etwas_text_writer *text, uint64_t number);
/* Writes two upper-case hexadecimal digits for each byte. */
void etwas_text_put_bytes(struct etwas_text_writer *text, const uint8_t *bytes, size_t count);

/* Writes text of a file, which may be invalid; a 0 inside is invalid, too. */
void etwas_text_put_utf8(struct etwas_text_writer *text, const void *utf8, size_t bytes);
/* Does the same for UTF-16, which need not be aligned. */
void etwas_text_put_utf16(struct etwas_text_writer *text, const void *utf16, size_t units);

#endif
