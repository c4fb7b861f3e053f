/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_SYMBOLS_H
#define ETWAS_TOOLS_ADDRESS_SYMBOLS_H

/*
 * What lies at an offset in an image, a program or library that a trace names: by libdw, where the
 * command is built with it, else nothing is known.
 *
 * The name of the file is from the trace. It is opened only where it is an absolute one of a
 * regular file, and used only where its build id is the trace's: of another version of a program
 * nothing is said. Debug information that the system keeps apart is found as debuggers find it, by
 * its build id; other machines are asked only where the environment says which (DEBUGINFOD_URLS).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_symbols; /* of one image */

/* The texts are the image's, and as little to be trusted as the trace. */
struct etwas_symbol {
    const char *function; /* of C++ as it was written; valid until the next is looked for */
    uint64_t offset;      /* in the function */
    const char *file;     /* NULL: not known, and no line; valid until the image is closed */
    int line;
};

enum {
    ETWAS_SYMBOLS_INLINED = 16, /* of one address; those around them are left out */
};

/*
 * Functions whose code lies at an address inside of another's. The texts are the image's, and valid
 * until it is closed.
 */
struct etwas_inlined {
    uint32_t count;
    const char *functions[ETWAS_SYMBOLS_INLINED]; /* innermost first */
};

/* What an offset counts from. */
enum etwas_symbols_from {
    ETWAS_SYMBOLS_FROM_MAPPING, /* the first byte in memory */
    ETWAS_SYMBOLS_FROM_FILE,    /* the file's first byte */
    ETWAS_SYMBOLS_FROM_ZERO,    /* address 0, as the file's symbols have it */
};

/*
 * NULL where nothing is known of the image; *has_changed: the file is there, and is of another
 * build.
 */
struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed);

/* False where no function has a name there. The line is not looked for. */
bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol);

/* The line, too, which takes longer. */
bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol);

/* Which functions are inlined there; false: the image has no debug information that would say. */
bool etwas_symbols_inlined(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset, struct etwas_inlined *inlined);

/*
 * What has to be added to addresses of its symbols, where its file's first byte would be at `base`.
 */
bool etwas_symbols_bias(const struct etwas_symbols *symbols, uint64_t base, uint64_t *bias);

/* NULL is no image. */
void etwas_symbols_close(struct etwas_symbols *symbols);

#endif
