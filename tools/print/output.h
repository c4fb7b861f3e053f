/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_OUTPUT_H
#define ETWAS_TOOLS_PRINT_OUTPUT_H

/*
 * Standard output or standard error through one large buffer, which makes a dump of millions of
 * lines fast; or a text in memory whose use is decided later.
 *
 * A failed write is remembered, and everything after it is dropped; etwas_output_finish reports it.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ETWAS_OUTPUT_BYTES = 512 * 1024,
    ETWAS_OUTPUT_SHORT_BYTES = 120,       /* always written of each string in a page, */
    ETWAS_OUTPUT_LONG_BYTES = 400 * 1024, /* plus this many for all strings together */
};

/*
 * The state of writing JSON into an HTML page. A < becomes \u003c, so that no string ends the
 * element. Long strings are cut, and end with "…". Each has at least ETWAS_OUTPUT_SHORT_BYTES; all
 * of them together have ETWAS_OUTPUT_LONG_BYTES more.
 */
struct etwas_output_script {
    bool is_on;
    bool in_string;
    bool is_cut;         /* the rest of this string is dropped */
    uint8_t escape_left; /* remaining characters of the current escape */
    uint32_t bytes;      /* written of the string */
    uint32_t long_bytes; /* written of all strings beyond ETWAS_OUTPUT_SHORT_BYTES */
};

/* The last second that was written, as text: most times have the same second as the one before. */
struct etwas_output_second {
    int64_t unix_second;
    char text[sizeof "2026-11-21T08:19:17"]; /* "": none yet */
};

/*
 * An output. All zeroes is a text in memory, which has no descriptor, grows, and is never written.
 * An output and its scratch texts belong to one thread at a time.
 */
struct etwas_output {
    bool has_descriptor; /* set by etwas_output_to */
    bool is_freed_when_flushed;
    bool color_is_known; /* print/terminal.c has decided whether it has colours */
    bool has_color;
    int descriptor;
    const char *path; /* for messages; NULL: standard output, or it has no path */
    size_t used_bytes;
    size_t room_bytes; /* at `bytes`; once allocated, more than used_bytes */
    char last;         /* last byte that was written to the descriptor */
    int error;         /* errno of the first failed write; 0: none */
    struct etwas_output_script script;
    struct etwas_output_second second;
    struct etwas_output *scratch; /* NULL: not used yet */
    char *bytes;                  /* valid until etwas_output_free */
};

/* Sends further output to a descriptor. */
static inline void etwas_output_to(struct etwas_output *output, int descriptor)
{
    output->has_descriptor = true;
    output->descriptor = descriptor;
}

/*
 * Returns a NUL-terminated copy of a text in memory, which the caller frees; NULL without memory.
 */
char *etwas_output_copy(const struct etwas_output *output);

/* Empties a text in memory and returns it; its `bytes` are never NULL afterwards. */
struct etwas_output *etwas_output_anew(struct etwas_output *output);

/*
 * Returns an empty text in memory that belongs to `output`, for text that is changed before it is
 * written there. It is valid until the next call with the same output. Meanwhile, code that prints
 * to `output` must not use its scratch text, too; code that prints to the scratch text can use that
 * one's own. Standard error frees its scratch texts when it is flushed, so they cannot be printed
 * there.
 */
struct etwas_output *etwas_output_scratch(struct etwas_output *output);

/* Frees the memory of an output and its scratch texts. The output is empty then. */
void etwas_output_free(struct etwas_output *output);

/*
 * The outputs of the program. Each thread has its own standard error: a message is written in one
 * piece, when it is flushed.
 */
struct etwas_output *etwas_standard_output(void);
struct etwas_output *etwas_standard_error(void);

/*
 * The beginning of messages on standard error: "etwas dump" while that command is running, else
 * "etwas".
 */
extern const char *etwas_output_program;

/* Reports "not enough memory PURPOSE" on standard error. Returns ETWAS_EXIT_FAILED. */
int etwas_output_no_memory(const char *purpose);

/* Writes what is buffered. Does nothing for a text in memory. */
void etwas_output_flush(struct etwas_output *output);

/* Returns what to print after strerror(3) of a write if a limit is the reason; else "". */
static inline const char *etwas_output_limit(int error)
{
    return error == EFBIG ? " for its limit (RLIMIT_FSIZE, 'ulimit -f')" : "";
}

/*
 * Flushes, and returns whether everything was written. Reports a failure on standard error, unless
 * the reader has closed the pipe (EPIPE).
 */
bool etwas_output_finish(struct etwas_output *output);

/* Formats at most 512 bytes; for lines that need not be fast. */
void etwas_output_format(struct etwas_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void etwas_output_format_list(struct etwas_output *output, const char *format, va_list arguments);

/*
 * Makes room for `bytes` more: flushes if there is a descriptor, and allocates if that is not
 * enough.
 */
void etwas_output_make_room(struct etwas_output *output, size_t bytes);

/*
 * Returns contiguous room for `bytes`. The caller fills it, and adds the bytes used to used_bytes.
 */
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

void etwas_output_blanks(struct etwas_output *output, size_t count);

/* Returns the last byte that was written; 0 if there is none. */
static inline char etwas_output_last(const struct etwas_output *output)
{
    return output->used_bytes > 0   ? output->bytes[output->used_bytes - 1]
           : output->has_descriptor ? output->last
                                    : '\0';
}

/* The digits 00, 01 … 99, concatenated. */
extern const char etwas_output_pairs[201];

void etwas_output_unsigned(struct etwas_output *output, uint64_t value);
void etwas_output_signed(struct etwas_output *output, int64_t value);

/* Writes a number as 0x7F99DA8080. */
void etwas_output_hexadecimal(struct etwas_output *output, uint64_t value);

/* Writes two hexadecimal digits for each of `bytes` bytes, at most 65,535. */
void etwas_output_hex(struct etwas_output *output, const void *data, size_t bytes);

#endif
