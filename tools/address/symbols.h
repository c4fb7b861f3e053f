/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_SYMBOLS_H
#define ETWAS_TOOLS_ADDRESS_SYMBOLS_H

/*
 * What is at an offset in an image, a program or library that a trace names: found by libdw if the
 * command is built with it, else nothing is known.
 *
 * The name of the file is from the trace. The file is opened only if the name is absolute and of a
 * regular file, and used only if its build id is that of the trace; nothing is told of another
 * version of a program. Debug information that the system keeps apart is found by its build id, as
 * debuggers find it. Other machines are asked only if the environment names them (DEBUGINFOD_URLS).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_symbols; /* of one image */

/* A symbol. The texts are from the image, and as little to be trusted as the trace. */
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
 * Functions that are inlined at an address. The texts are from the image, and valid until it is
 * closed.
 */
struct etwas_inlined {
    uint32_t count;
    const char *functions[ETWAS_SYMBOLS_INLINED]; /* innermost first */
};

/* What an offset is relative to. */
enum etwas_symbols_from {
    ETWAS_SYMBOLS_FROM_MAPPING, /* the first byte in memory */
    ETWAS_SYMBOLS_FROM_FILE,    /* the file's first byte */
    ETWAS_SYMBOLS_FROM_ZERO,    /* address 0, as the file's symbols have it */
};

/*
 * Opens an image; the caller closes it. Returns NULL if nothing is known of it. *has_changed: the
 * file is there, and is of another build.
 */
struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed);

/* Finds the function at an offset, without the line. Returns false if none has a name there. */
bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol);

/* Finds the line too, which takes longer. */
bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol);

/*
 * Finds the functions that are inlined at an offset. Returns false if the image has no debug
 * information about that.
 */
bool etwas_symbols_inlined(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset, struct etwas_inlined *inlined);

/*
 * Finds what has to be added to the addresses of its symbols if the first byte of its file is at
 * `base`.
 */
bool etwas_symbols_bias(const struct etwas_symbols *symbols, uint64_t base, uint64_t *bias);

/* Closes an image; NULL is allowed. */
void etwas_symbols_close(struct etwas_symbols *symbols);

#endif
