/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Symbols come in any order: those of the kernel by address, then those of each module. The
 * addresses divide them into ranges: each address has the symbols that are greater than the address
 * before it and not greater than itself.
 *
 *     addresses        a           b                c
 *     symbols     s  s │     t     │                │   u
 *                    └ a's         └ none of its own, so the symbol before: t     u: behind all
 */
#include "system/names/kernel_addresses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etl/own_record.h"

enum {
    ROOM = 65536,
    NAME_ROOM = 256, /* longer ones are cut */
    HEXADECIMAL_DIGITS = 16,
    FUNCTION_MOST_BYTES = 65536,
};

struct symbol {
    uint64_t address; /* 0: none */
    char name[NAME_ROOM];
    char module[NAME_ROOM];
};

/* The symbols between two addresses. */
struct range {
    uint64_t first; /* the lowest symbol; UINT64_MAX: there is none */
    uint64_t last;  /* the highest one that is a function; 0: there is none */
    char *names;    /* its name, 0, its module, 0; from malloc */
};

struct lookup {
    const uint64_t *addresses; /* ascending */
    uint32_t count;
    struct range *ranges; /* one more than addresses, for what is behind all of them */
    uint32_t newest_at;   /* the range of `newest` */
    struct symbol newest; /* found last, and not added to its range yet */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void copy_word(char *to, const char *from, const char *end, const char *ends)
{
    size_t length = 0;

    while (from + length < end && strchr(ends, from[length]) == NULL && length < NAME_ROOM - 1) {
        length++;
    }
    memcpy(to, from, length);
    to[length] = 0;
}

/*
 * ffffffffc0a00010 t nft_do_chain\t[nf_tables]. Parses address and type. Returns false if the line
 * has another form.
 */
static bool parse_address(const char *line, const char *end, uint64_t *address, char *type)
{
    const char *at = line;

    *address = 0;
    for (; at < end && at < line + HEXADECIMAL_DIGITS && *at != ' '; at++) {
        uint32_t digit = *at <= '9' ? (uint32_t)(*at - '0') : (uint32_t)((*at | 0x20) - 'a' + 10);

        if (digit > 15) {
            return false;
        }
        *address = *address << 4 | digit;
    }
    if (end - at < 4 || at[0] != ' ' || at[2] != ' ') {
        return false;
    }
    *type = at[1];
    return true;
}

static void parse_names(struct symbol *symbol, const char *line, const char *end)
{
    const char *name = (const char *)memchr(line, ' ', (size_t)(end - line)) + 3;
    const char *module = memchr(name, '[', (size_t)(end - name));

    copy_word(symbol->name, name, end, "\t ");
    symbol->module[0] = 0;
    if (module != NULL) {
        copy_word(symbol->module, module + 1, end, "]");
    }
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Returns the range of the first address that is not below the symbol. */
static uint32_t range_of(const struct lookup *lookup, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = lookup->count;
    uint32_t at = lookup->newest_at; /* mostly the same range again */

    if ((at == 0 || lookup->addresses[at - 1] < address) &&
        (at == lookup->count || address <= lookup->addresses[at])) {
        return at;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (lookup->addresses[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void keep_newest(struct lookup *lookup)
{
    struct range *range = &lookup->ranges[lookup->newest_at];
    const struct symbol *newest = &lookup->newest;
    size_t name_bytes = strlen(newest->name) + 1;
    size_t module_bytes = strlen(newest->module) + 1;
    char *names;

    if (newest->address <= range->last) {
        return;
    }
    names = malloc(name_bytes + module_bytes);
    if (names != NULL) {
        memcpy(names, newest->name, name_bytes);
        memcpy(names + name_bytes, newest->module, module_bytes);
        free(range->names);
        range->names = names;
        range->last = newest->address;
    }
}

static void kernel_symbols_parse_line(struct lookup *lookup, const char *line, const char *end)
{
    uint64_t address;
    char type;
    uint32_t at;
    struct range *range;

    if (!parse_address(line, end, &address, &type) || address == 0) {
        return;
    }
    at = range_of(lookup, address);
    range = &lookup->ranges[at];
    range->first = address < range->first ? address : range->first;
    if (at == lookup->count || strchr("tTwW", type) == NULL) {
        return;
    }
    if (at != lookup->newest_at) {
        keep_newest(lookup);
        lookup->newest_at = at;
        lookup->newest.address = range->last;
    }
    if (address > lookup->newest.address) {
        lookup->newest.address = address;
        parse_names(&lookup->newest, line, end);
    }
}

/* Lines that are longer than the room are skipped. */
static void read_lines(struct lookup *lookup, int file)
{
    char *room = malloc(ROOM);
    size_t used = 0;
    ssize_t bytes;

    while (room != NULL && (bytes = read(file, room + used, ROOM - used)) > 0) {
        char *line = room;
        char *end;

        used += (size_t)bytes;
        while ((end = memchr(line, '\n', used - (size_t)(line - room))) != NULL) {
            kernel_symbols_parse_line(lookup, line, end);
            line = end + 1;
        }
        used -= (size_t)(line - room);
        memmove(room, line, used);
        used = used == ROOM ? 0 : used;
    }
    free(room);
    keep_newest(lookup);
}

/* ---- emitting -------------------------------------------------------------------------------- */

static void emit_symbol(const struct range *range, uint64_t end, uint32_t left_out,
                        struct etwas_record_builder *record, struct etwas_emitter *emitter)
{
    etwas_record_builder_begin_class(record, &etwas_etl_own_class, ETWAS_ETL_KERNEL_SYMBOL_TYPE,
                                     ETWAS_ETL_KERNEL_SYMBOL_VERSION);
    etwas_record_builder_put_u32(record, ETWAS_ETL_KERNEL_SYMBOL_VERSION);
    etwas_record_builder_put_u32(record, left_out);
    etwas_record_builder_put_u64(record, range->last);
    etwas_record_builder_put_u64(record, end - range->last);
    etwas_record_builder_put_ansi(record, range->names);
    etwas_record_builder_put_ansi(record, range->names + strlen(range->names) + 1);
    etwas_emit_now(emitter, etwas_record_builder_end(record));
}

/* Returns where the next symbol begins, or how far a function that begins there can reach. */
static uint64_t end_of(const struct lookup *lookup, uint32_t at)
{
    uint64_t end = lookup->ranges[at].last + FUNCTION_MOST_BYTES;

    for (uint32_t next = at + 1; next <= lookup->count; next++) {
        if (lookup->ranges[next].first != UINT64_MAX) {
            return lookup->ranges[next].first < end ? lookup->ranges[next].first : end;
        }
    }
    return end;
}

static void emit_symbols(const struct lookup *lookup, uint32_t left_out,
                         struct etwas_record_builder *record, struct etwas_emitter *emitter)
{
    for (uint32_t at = 0; at < lookup->count; at++) {
        const struct range *range = &lookup->ranges[at];
        uint64_t end = range->names != NULL ? end_of(lookup, at) : 0;

        if (lookup->addresses[at] < end) { /* the first address behind the symbol */
            emit_symbol(range, end, left_out, record, emitter);
        }
    }
}

void etwas_kernel_symbols_emit(const struct etwas_kernel_addresses *addresses, const char *path,
                               struct etwas_record_builder *record, struct etwas_emitter *emitter)
{
    uint64_t *sorted = etwas_kernel_addresses_sorted(addresses);
    struct lookup lookup = {.addresses = sorted, .count = addresses->count};
    int file = sorted != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    lookup.ranges = file >= 0 ? calloc((size_t)lookup.count + 1, sizeof *lookup.ranges) : NULL;
    if (lookup.ranges != NULL) {
        for (uint32_t at = 0; at <= lookup.count; at++) {
            lookup.ranges[at].first = UINT64_MAX;
        }
        read_lines(&lookup, file);
        emit_symbols(&lookup, addresses->left_out, record, emitter);
        for (uint32_t at = 0; at <= lookup.count; at++) {
            free(lookup.ranges[at].names);
        }
    }
    if (file >= 0) {
        (void)close(file);
    }
    free(lookup.ranges);
    free(sorted);
}
