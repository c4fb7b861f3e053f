/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_OUTPUT_H
#define ETWAS_TOOLS_PRINT_OUTPUT_H

/*
 * Standard output, or standard error, through one large buffer: what makes a dump of millions of
 * lines fast. And texts that are made in memory, before it is known what becomes of them.
 *
 * A failed write is remembered and everything after it is dropped; ask etwas_output_finish.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ETWAS_OUTPUT_BYTES = 512 * 1024,
    ETWAS_OUTPUT_SHORT_BYTES = 120,       /* of a string in a page are always written, */
    ETWAS_OUTPUT_LONG_BYTES = 400 * 1024, /* and so many more of all of them together */
};

/*
 * JSON in a page: < is written \u003c, so that nothing ends its element; and a string is whole as
 * far as all of them together leave room, but at least so many bytes, and then "…".
 */
struct etwas_output_script {
    bool is_on;
    bool in_string;
    bool is_cut;         /* nothing more of this string is written */
    uint8_t escape_left; /* characters of an escape that has begun */
    uint32_t bytes;      /* of the string until now */
    uint32_t long_bytes; /* of all strings, what is beyond the least */
};

/* Zeroes are a text in memory: it has no descriptor, grows, and is never written anywhere. */
struct etwas_output {
    bool has_descriptor; /* etwas_output_to gave it one */
    int descriptor;
    const char *path; /* for messages; NULL: standard output, or it has none */
    size_t used_bytes;
    size_t room_bytes; /* at `bytes`; more than used_bytes once there is room */
    int error;         /* errno of the first write that failed; 0 while all is well */
    struct etwas_output_script script;
    char *bytes; /* for as long as the program runs */
};

/* From now on it goes there. */
static inline void etwas_output_to(struct etwas_output *output, int descriptor)
{
    output->has_descriptor = true;
    output->descriptor = descriptor;
}

/* A copy of a text in memory, with its NUL, for free(). NULL without memory. */
char *etwas_output_copy(const struct etwas_output *output);

/*
 * Forgets the text in memory that was made before, and gives the empty one: `bytes` is never NULL.
 */
struct etwas_output *etwas_output_anew(struct etwas_output *output);

/* The two of the program. */
struct etwas_output *etwas_standard_output(void);
struct etwas_output *etwas_standard_error(void);

/* Writes what is buffered; of a text in memory nothing is. */
void etwas_output_flush(struct etwas_output *output);

/*
 * Flushes and says whether everything was written. Reports a failure on standard error, except that
 * the reader went away (EPIPE), which is no news to whoever closed the pipe.
 */
bool etwas_output_finish(struct etwas_output *output);

/* For lines that need not be fast. Formats into at most 512 bytes. */
void etwas_output_format(struct etwas_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes what is buffered if there is a descriptor, and gets more memory if that is not enough. */
void etwas_output_make_room(struct etwas_output *output, size_t bytes);

/* Room for `bytes` in one piece; the caller fills it and adds what it used to used_bytes. */
static inline char *etwas_output_room(struct etwas_output *output, size_t bytes)
{
    if (output->room_bytes - output->used_bytes <= bytes) {
        etwas_output_make_room(output, bytes);
    }
    return output->bytes + output->used_bytes;
}

static inline void etwas_output_bytes(struct etwas_output *output, const void *data, size_t bytes)
{
    memcpy(etwas_output_room(output, bytes), data, bytes);
    output->used_bytes += bytes;
}

static inline void etwas_output_text(struct etwas_output *output, const char *text)
{
    etwas_output_bytes(output, text, strlen(text));
}

static inline void etwas_output_char(struct etwas_output *output, char character)
{
    *etwas_output_room(output, 1) = character;
    output->used_bytes++;
}

/* 00, 01 … 99, one behind the other. */
extern const char etwas_output_pairs[201];

void etwas_output_unsigned(struct etwas_output *output, uint64_t value);
void etwas_output_signed(struct etwas_output *output, int64_t value);

/* Right-justified in `width` columns (at most 20). */
void etwas_output_unsigned_wide(struct etwas_output *output, uint64_t value, unsigned width);

/* 0x7F99DA8080 */
void etwas_output_hexadecimal(struct etwas_output *output, uint64_t value);

/* Two digits for each of `bytes` bytes, at most 65,535. */
void etwas_output_hex(struct etwas_output *output, const void *data, size_t bytes);

#endif
