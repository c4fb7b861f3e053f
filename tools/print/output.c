/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The output buffer, and number formatting without printf. */

#include "print/output.h"

#include "exit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *etwas_output_program = "etwas";

static struct etwas_output *output_make(void)
{
    struct etwas_output *output = calloc(1, sizeof *output);

    if (output == NULL) {
        exit(etwas_output_no_memory("for the output"));
    }
    return output;
}

struct etwas_output *etwas_standard_output(void)
{
    static struct etwas_output output;

    etwas_output_to(&output, STDOUT_FILENO);
    return &output;
}

struct etwas_output *etwas_standard_error(void)
{
    static _Thread_local struct etwas_output output;

    etwas_output_to(&output, STDERR_FILENO);
    output.is_freed_when_flushed = true; /* the thread may end afterwards */
    return &output;
}

static void write_all(struct etwas_output *output, const char *bytes, size_t count)
{
    size_t done = 0;

    while (output->error == 0 && done < count) {
        ssize_t written = write(output->descriptor, bytes + done, count - done);

        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
}

enum {
    FIRST_BYTES = 1024, /* first allocation of a text in memory */
};

static const char cut_end[] = "…\"";
static const char escaped[] = "\\u003c";

enum {
    ESCAPED_BYTES = sizeof escaped - 1,
    ESCAPE_BEGUN = 5, /* the escape's kind follows, and after \\u four digits */
};

static uint8_t left_of_escape(uint8_t left, char byte)
{
    if (left == 0) {
        return byte == '\\' ? ESCAPE_BEGUN : 0;
    }
    if (left == ESCAPE_BEGUN) {
        return byte == 'u' ? ESCAPE_BEGUN - 1 : 0;
    }
    return left - 1;
}

/* Cuts a string that is too long. A character or escape is written whole or not at all. */
static void cut(struct etwas_output_script *script, char byte)
{
    bool begins = script->escape_left == 0 && ((uint8_t)byte & 0xC0) != 0x80;

    script->escape_left = left_of_escape(script->escape_left, byte);
    script->is_cut = script->is_cut || (begins && script->bytes >= ETWAS_OUTPUT_SHORT_BYTES &&
                                        script->long_bytes >= ETWAS_OUTPUT_LONG_BYTES);
    if (!script->is_cut) {
        uint32_t bytes = byte == '<' ? ESCAPED_BYTES : 1;

        script->bytes += bytes;
        script->long_bytes += script->bytes > ETWAS_OUTPUT_SHORT_BYTES ? bytes : 0;
    }
}

/* Returns what is written in place of a byte of JSON. A < occurs only in strings. */
static const char *write_as(struct etwas_output_script *script, const char *byte, size_t *count)
{
    bool is_end = script->in_string && script->escape_left == 0 && *byte == '"';

    *count = 1;
    if (is_end && script->is_cut) {
        script->in_string = script->is_cut = false;
        *count = strlen(cut_end);
        return cut_end;
    }
    if (*byte == '"' && script->escape_left == 0) {
        script->in_string = !script->in_string;
        script->bytes = 0;
    } else if (script->in_string) {
        cut(script, *byte);
        *count = script->is_cut ? 0 : *byte == '<' ? ESCAPED_BYTES : 1;
    }
    return *count == ESCAPED_BYTES ? escaped : byte;
}

static void write_in_script(struct etwas_output *output)
{
    char written[4096];
    size_t used = 0;

    for (size_t at = 0; at < output->used_bytes; at++) {
        size_t count;
        const char *as = write_as(&output->script, output->bytes + at, &count);

        if (used + count > sizeof written) {
            write_all(output, written, used);
            used = 0;
        }
        memcpy(written + used, as, count);
        used += count;
    }
    write_all(output, written, used);
}

void etwas_output_flush(struct etwas_output *output)
{
    if (!output->has_descriptor) {
        return;
    }
    output->last = etwas_output_last(output);
    if (output->script.is_on) {
        write_in_script(output);
    } else {
        write_all(output, output->bytes, output->used_bytes);
    }
    output->used_bytes = 0;
    if (output->is_freed_when_flushed) {
        etwas_output_free(output);
    }
}

int etwas_output_no_memory(const char *purpose)
{
    fprintf(stderr, "%s: not enough memory %s\n", etwas_output_program, purpose);
    return ETWAS_EXIT_FAILED;
}

void etwas_output_make_room(struct etwas_output *output, size_t bytes)
{
    size_t room = output->has_descriptor ? ETWAS_OUTPUT_BYTES : FIRST_BYTES;
    char *larger;

    etwas_output_flush(output);
    if (output->room_bytes - output->used_bytes > bytes) {
        return;
    }
    while (room <= output->used_bytes + bytes) {
        room *= 2;
    }
    larger = realloc(output->bytes, room);
    if (larger == NULL) {
        exit(etwas_output_no_memory("for the output"));
    }
    output->bytes = larger;
    output->room_bytes = room;
}

struct etwas_output *etwas_output_anew(struct etwas_output *output)
{
    output->used_bytes = 0;
    (void)etwas_output_room(output, 0);
    return output;
}

struct etwas_output *etwas_output_scratch(struct etwas_output *output)
{
    if (output->scratch == NULL) {
        output->scratch = output_make();
    }
    return etwas_output_anew(output->scratch);
}

void etwas_output_free(struct etwas_output *output)
{
    if (output->scratch != NULL) {
        etwas_output_free(output->scratch);
    }
    free(output->scratch);
    free(output->bytes);
    output->scratch = NULL;
    output->bytes = NULL;
    output->used_bytes = output->room_bytes = 0;
}

char *etwas_output_copy(const struct etwas_output *output)
{
    char *copy = malloc(output->used_bytes + 1);

    if (copy != NULL) {
        memcpy(copy, output->bytes, output->used_bytes);
        copy[output->used_bytes] = '\0';
    }
    return copy;
}

bool etwas_output_finish(struct etwas_output *output)
{
    etwas_output_flush(output);
    if (output->error != 0 && output->error != EPIPE) {
        fprintf(stderr, "%s: cannot write %s: %s%s\n", etwas_output_program,
                output->path != NULL ? output->path : "the output", strerror(output->error),
                etwas_output_limit(output->error));
    }
    return output->error == 0;
}

void etwas_output_format(struct etwas_output *output, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    etwas_output_format_list(output, format, arguments);
    va_end(arguments);
}

void etwas_output_format_list(struct etwas_output *output, const char *format, va_list arguments)
{
    char text[512];
    int length = vsnprintf(text, sizeof text, format, arguments);

    if (length > 0) {
        size_t bytes = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;

        etwas_output_bytes(output, text, bytes);
    }
}

const char etwas_output_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

/* Writes the digits of `value`, ending at text + 20; returns their number. */
static unsigned decimal_digits(char text[20], uint64_t value)
{
    unsigned count = 0;

    while (value >= 100) {
        count += 2;
        memcpy(text + 20 - count, etwas_output_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        count += 2;
        memcpy(text + 20 - count, etwas_output_pairs + 2 * value, 2);
        return count;
    }
    count++;
    text[20 - count] = (char)('0' + value);
    return count;
}

void etwas_output_blanks(struct etwas_output *output, size_t count)
{
    memset(etwas_output_room(output, count), ' ', count);
    output->used_bytes += count;
}

void etwas_output_unsigned(struct etwas_output *output, uint64_t value)
{
    char text[20];
    unsigned count = decimal_digits(text, value);

    etwas_output_bytes(output, text + 20 - count, count);
}

void etwas_output_signed(struct etwas_output *output, int64_t value)
{
    if (value < 0) {
        etwas_output_char(output, '-');
        /* 0 - x is correct for INT64_MIN too. */
        etwas_output_unsigned(output, UINT64_C(0) - (uint64_t)value);
    } else {
        etwas_output_unsigned(output, (uint64_t)value);
    }
}

void etwas_output_hexadecimal(struct etwas_output *output, uint64_t value)
{
    unsigned digits = value != 0 ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    char *text = etwas_output_room(output, 18);

    text[0] = '0';
    text[1] = 'x';
    for (unsigned i = digits; i > 0; i--) {
        text[1 + i] = "0123456789ABCDEF"[value & 15];
        value >>= 4;
    }
    output->used_bytes += 2 + digits;
}

void etwas_output_hex(struct etwas_output *output, const void *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *source = data;
    char *text = etwas_output_room(output, 2 * bytes);

    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[source[i] >> 4];
        text[2 * i + 1] = digits[source[i] & 15];
    }
    output->used_bytes += 2 * bytes;
}
