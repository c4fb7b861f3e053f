/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_OUTPUT_H
#define ETWAS_TOOLS_PRINT_OUTPUT_H

/*
 * Standard output or standard error through one large buffer, which makes a dump of millions of
 * lines fast; or a text in memory, before it is known what becomes of it.
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
    ETWAS_OUTPUT_SHORT_BYTES = 120,       /* of a string in a page are always written, */
    ETWAS_OUTPUT_LONG_BYTES = 400 * 1024, /* and so many more of all of them together */
};

/*
 * The state of JSON in an HTML page. A < is written \u003c, so that no string ends the element.
 * Long strings are cut, and end with "…": each is written to at least ETWAS_OUTPUT_SHORT_BYTES, and
 * all of them together have ETWAS_OUTPUT_LONG_BYTES more.
 */
struct etwas_output_script {
    bool is_on;
    bool in_string;
    bool is_cut;         /* nothing more of this string is written */
    uint8_t escape_left; /* characters of an escape that has begun */
    uint32_t bytes;      /* of the string until now */
    uint32_t long_bytes; /* of all strings, what is beyond the least */
};

/* The second of the time that was written last, as text: most times have that of the one before. */
struct etwas_output_second {
    int64_t unix_second;
    char text[sizeof "2026-11-21T08:19:17"]; /* "": no time was written */
};

/*
 * An output. All zeroes is a text in memory, which has no descriptor, grows, and is never written.
 * An output belongs to one thread at a time, as do its scratch texts.
 */
struct etwas_output {
    bool has_descriptor; /* etwas_output_to gave it one */
    bool is_freed_when_flushed;
    bool color_is_known; /* print/terminal.c knows whether it has colours */
    bool has_color;
    int descriptor;
    const char *path; /* for messages; NULL: standard output, or it has none */
    size_t used_bytes;
    size_t room_bytes; /* at `bytes`; more than used_bytes once there is room */
    char last;         /* byte that was written to the descriptor */
    int error;         /* errno of the first write that failed; 0 while all is well */
    struct etwas_output_script script;
    struct etwas_output_second second;
    struct etwas_output *scratch; /* NULL: it was not asked for */
    char *bytes;                  /* until etwas_output_free */
};

/* Sends what is written from now on to a descriptor. */
static inline void etwas_output_to(struct etwas_output *output, int descriptor)
{
    output->has_descriptor = true;
    output->descriptor = descriptor;
}

/* Returns a copy of a text in memory, with its NUL, which the caller frees. NULL: no memory. */
char *etwas_output_copy(const struct etwas_output *output);

/* Empties a text in memory and returns it; its `bytes` are never NULL afterwards. */
struct etwas_output *etwas_output_anew(struct etwas_output *output);

/*
 * Returns an empty text in memory that belongs to `output`, for what is changed before it is
 * written there. It is valid until the next call with the same output; until then nothing may be
 * called that prints to `output` and asks for it, too. What prints to the text has the text's own.
 * Standard error gives it back when it is flushed: no scratch text may be printed there.
 */
struct etwas_output *etwas_output_scratch(struct etwas_output *output);

/* Frees the memory of an output, which is empty then, and of its scratch texts. */
void etwas_output_free(struct etwas_output *output);

/*
 * The outputs of the program. Each thread has a standard error of its own: a message is written in
 * one piece, when it is flushed.
 */
struct etwas_output *etwas_standard_output(void);
struct etwas_output *etwas_standard_error(void);

/* How messages on standard error begin: "etwas dump" while that command runs, else "etwas". */
extern const char *etwas_output_program;

/* Reports "not enough memory PURPOSE" on standard error. Returns ETWAS_EXIT_FAILED. */
int etwas_output_no_memory(const char *purpose);

/* Writes what is buffered. Does nothing for a text in memory. */
void etwas_output_flush(struct etwas_output *output);

/* Returns what stands behind strerror(3) of a write where a limit is the reason; else "". */
static inline const char *etwas_output_limit(int error)
{
    return error == EFBIG ? " for its limit (RLIMIT_FSIZE, 'ulimit -f')" : "";
}

/*
 * Flushes, and returns whether everything could be written. Reports a failure on standard error,
 * unless the reader has closed the pipe (EPIPE).
 */
bool etwas_output_finish(struct etwas_output *output);

/* Formats at most 512 bytes, for lines that need not be fast. */
void etwas_output_format(struct etwas_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void etwas_output_format_list(struct etwas_output *output, const char *format, va_list arguments);

/*
 * Makes room for `bytes` more: writes what is buffered if there is a descriptor, and allocates if
 * that is not enough.
 */
void etwas_output_make_room(struct etwas_output *output, size_t bytes);

/*
 * Returns room for `bytes` in one piece. The caller fills it, and adds what it used to used_bytes.
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

/* Returns the last byte of what has been written; 0: there is none. */
static inline char etwas_output_last(const struct etwas_output *output)
{
    return output->used_bytes > 0   ? output->bytes[output->used_bytes - 1]
           : output->has_descriptor ? output->last
                                    : '\0';
}

/* The digits 00, 01 … 99, one pair behind the other. */
extern const char etwas_output_pairs[201];

void etwas_output_unsigned(struct etwas_output *output, uint64_t value);
void etwas_output_signed(struct etwas_output *output, int64_t value);

/* Writes a number as 0x7F99DA8080. */
void etwas_output_hexadecimal(struct etwas_output *output, uint64_t value);

/* Writes two hexadecimal digits for each of `bytes` bytes, at most 65,535. */
void etwas_output_hex(struct etwas_output *output, const void *data, size_t bytes);

#endif
