/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/state/cursor.h"

#include "cli/files.h"
#include "math/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    OLD_S = 300,
};

/*
 * The writer and the reader of a cursor share one list of lines. So neither can omit one, and a
 * text with a line in the wrong place is not a cursor.
 */
struct side {
    bool writes;
    char *to;         /* writer: where the next byte goes */
    const char *from; /* reader: where the next byte is */
    const char *end;  /* the end of the text, or of the room */
    bool failed;
};

void etwas_ship_key_target(const char *name, char target[ETWAS_SHIP_CURSOR_NAME_BYTES])
{
    size_t bytes = strlen(name);

    if (bytes < ETWAS_SHIP_CURSOR_NAME_BYTES) {
        memcpy(target, name, bytes + 1);
    } else {
        (void)snprintf(target, ETWAS_SHIP_CURSOR_NAME_BYTES, "%.900s...%016" PRIx64, name,
                       etwas_hash(ETWAS_HASH_OF_NOTHING, name, bytes));
    }
}

void etwas_ship_cursor_name(struct etwas_ship_cursor *cursor, const char *host, const char *path)
{
    (void)snprintf(cursor->host, sizeof cursor->host, "%s", host);
    (void)snprintf(cursor->file, sizeof cursor->file, "%s", etwas_files_name(path));
}

bool etwas_ship_cursor_is_old(const struct etwas_ship_cursor *cursor)
{
    int64_t age_s = (int64_t)time(NULL) - cursor->since_unix_s;

    return age_s > OLD_S || age_s < 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void fixed(struct side *side, const char *text)
{
    size_t bytes = strlen(text);
    size_t left = (size_t)(side->end - (side->writes ? side->to : side->from));

    if (side->failed || left < bytes + side->writes) {
        side->failed = true;
    } else if (side->writes) {
        memcpy(side->to, text, bytes + 1);
        side->to += bytes;
    } else if (memcmp(side->from, text, bytes) == 0) {
        side->from += bytes;
    } else {
        side->failed = true;
    }
}

/* Returns -1 if it is not a digit. */
static int digit_of(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Uses 16 hexadecimal digits, so that a number has only one form. */
static void number(struct side *side, const char *before, uint64_t *value, uint64_t most)
{
    char digits[17];
    uint64_t read = 0;

    fixed(side, before);
    if (side->failed) {
        return;
    }
    if (side->writes) {
        (void)snprintf(digits, sizeof digits, "%016" PRIx64, *value);
        fixed(side, digits);
        return;
    }
    if (side->end - side->from < 16) {
        side->failed = true;
        return;
    }
    for (int i = 0; i < 16; i++) {
        int digit = digit_of(*side->from++);

        side->failed = side->failed || digit < 0;
        read = read << 4 | ((uint64_t)digit & 0xF);
    }
    side->failed = side->failed || read > most;
    *value = read;
}

static void number_32(struct side *side, const char *before, uint32_t *value)
{
    uint64_t wide = *value;

    number(side, before, &wide, UINT32_MAX);
    *value = (uint32_t)wide;
}

static void signed_number(struct side *side, const char *before, int64_t *value)
{
    uint64_t wide = (uint64_t)*value;

    number(side, before, &wide, UINT64_MAX);
    *value = (int64_t)wide;
}

/* Returns whether the byte would end a word or a line, or begins an escape. */
static bool is_escaped(unsigned char byte)
{
    return byte <= ' ' || byte == '%' || byte == '\x7F';
}

static void write_name(struct side *side, const char *name)
{
    char character[4];

    for (; *name != '\0'; name++) {
        (void)snprintf(character, sizeof character,
                       is_escaped((unsigned char)*name) ? "%%%02x" : "%c", (unsigned char)*name);
        fixed(side, character);
    }
}

/*
 * Reads the two digits of an escape. Returns the byte. Returns 0, which is in no name, if they are
 * not digits or the byte needs no escape.
 */
static unsigned char read_escaped(struct side *side)
{
    int high = side->end - side->from < 2 ? -1 : digit_of(side->from[0]);
    int low = high < 0 ? -1 : digit_of(side->from[1]);
    int byte = low < 0 ? 0 : high * 16 + low;

    if (!is_escaped((unsigned char)byte)) {
        return '\0';
    }
    side->from += byte != 0 ? 2 : 0;
    return (unsigned char)byte;
}

static void read_name(struct side *side, char name[ETWAS_SHIP_CURSOR_NAME_BYTES])
{
    size_t used = 0;

    while (!side->failed && side->from < side->end && *side->from != '\n') {
        unsigned char byte = (unsigned char)*side->from++;

        if (byte == '%') {
            byte = read_escaped(side);
        } else if (is_escaped(byte)) {
            byte = '\0';
        }
        side->failed = used + 1 == ETWAS_SHIP_CURSOR_NAME_BYTES || byte == '\0';
        name[used] = (char)byte;
        used += !side->failed;
    }
    name[used] = '\0';
}

/* A name may have any bytes but 0. Bytes that end a word or a line are written as %xx. */
static void name(struct side *side, const char *before, char value[ETWAS_SHIP_CURSOR_NAME_BYTES])
{
    fixed(side, before);
    if (side->writes) {
        write_name(side, value);
    } else {
        read_name(side, value);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void place(struct side *side, const char *before, struct etwas_ship_position *value)
{
    number(side, before, &value->offset, UINT64_MAX);
    number_32(side, " ", &value->pos);
}

static void bounds(struct side *side, struct etwas_ship_bounds *value)
{
    struct etwas_ship_times *times = &value->times;

    place(side, "\nfrom ", &value->from);
    place(side, "\nuntil ", &value->until);
    number(side, "\nlearned ", &value->learned_until, UINT64_MAX);
    number_32(side, "\nrows ", &value->rows);
    number_32(side, "\nday ", &value->day);
    number_32(side, "\nerror ", &times->error_ns);
    number_32(side, "\npoints ", &times->count);
    if (times->count > ETWAS_SHIP_POINTS) {
        side->failed = true;
        times->count = 0;
    }
    for (uint32_t i = 0; i < times->count; i++) {
        signed_number(side, "\npoint ", &times->point[i].raw);
        signed_number(side, " ", &times->point[i].unix_ns);
    }
}

static void row(struct side *side, const char *before, struct etwas_ship_row *value)
{
    uint64_t is_there = value->is_there;

    number(side, before, &is_there, 1);
    value->is_there = is_there == 1;
    for (uint32_t i = 0; value->is_there && i < ETWAS_SHIP_BUFFER_COLUMNS; i++) {
        number(side, " ", &value->values[i], UINT64_MAX);
    }
}

static void cursor_lines(struct side *side, struct etwas_ship_cursor *cursor)
{
    uint64_t stage = cursor->stage;

    name(side, "etwas ship cursor 1\ntarget ", cursor->key.target);
    number(side, "\nsession ", &cursor->key.session, UINT64_MAX);
    number_32(side, "\npart ", &cursor->key.part);
    number(side, "\nwritten_as ", &cursor->written_as, UINT64_MAX);
    number(side, "\nstage ", &stage, ETWAS_SHIP_DONE);
    cursor->stage = (enum etwas_ship_stage)stage;
    signed_number(side, "\nsince ", &cursor->since_unix_s);
    name(side, "\nhost ", cursor->host);
    name(side, "\nfile ", cursor->file);
    number_32(side, "\ndialect ", &cursor->dialect.modern[ETWAS_SHIP_EVENTS]);
    number_32(side, " ", &cursor->dialect.modern[ETWAS_SHIP_BUFFERS]);
    place(side, "\nplace ", &cursor->place);
    number(side, "\nevents ", &cursor->events, UINT64_MAX);
    number(side, "\nbuffers ", &cursor->buffers, UINT64_MAX);
    number(side, "\nahead ", &cursor->ahead, UINT64_MAX);
    bounds(side, &cursor->bounds);
    row(side, "\ngone ", &cursor->gone);
    row(side, "\nend ", &cursor->end);
    fixed(side, "\n");
}

size_t etwas_ship_cursor_write(const struct etwas_ship_cursor *cursor,
                               char text[ETWAS_SHIP_CURSOR_BYTES])
{
    struct etwas_ship_cursor copy = *cursor;
    struct side side = {.writes = true, .to = text, .end = text + ETWAS_SHIP_CURSOR_BYTES};
    uint64_t sum;

    cursor_lines(&side, &copy);
    sum = etwas_hash(ETWAS_HASH_OF_NOTHING, text, (size_t)(side.to - text));
    number(&side, "sum ", &sum, UINT64_MAX);
    fixed(&side, "\n");
    return (size_t)(side.to - text);
}

bool etwas_ship_cursor_read(const char *text, size_t bytes, struct etwas_ship_cursor *cursor)
{
    struct side side = {.from = text, .end = text + bytes};
    uint64_t expected;
    uint64_t sum = 0;

    memset(cursor, 0, sizeof *cursor);
    if (bytes >= ETWAS_SHIP_CURSOR_BYTES) {
        return false;
    }
    cursor_lines(&side, cursor);
    expected = etwas_hash(ETWAS_HASH_OF_NOTHING, text, (size_t)(side.from - text));
    number(&side, "sum ", &sum, UINT64_MAX);
    fixed(&side, "\n");
    return !side.failed && side.from == text + bytes && sum == expected;
}
