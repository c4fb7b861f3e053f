/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_SYMBOLS_H
#define ETWAS_TOOLS_ADDRESS_SYMBOLS_H

/*
 * Symbols of an image (a program or library that a trace names). They come from libdw; without it,
 * no symbols are known.
 *
 * The trace names the file. It is opened only if the name is absolute and the file is a regular
 * one. It is used only if its build id matches the trace. Another build of the program is never
 * used. Separate debug information is found by build id, as debuggers find it. Other machines are
 * queried only if the environment names them (DEBUGINFOD_URLS).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_symbols; /* of one image */

/* A symbol. The texts come from the image, and are as untrusted as the trace. */
struct etwas_symbol {
    const char *function; /* demangled if it is of C++; valid until the next lookup */
    uint64_t offset;      /* in the function */
    const char *file;     /* NULL: file and line are unknown; valid until the image is closed */
    int line;
};

enum {
    ETWAS_SYMBOLS_INLINED = 16, /* limit per address; outer ones beyond it are left out */
};

/*
 * Functions that are inlined at an address. The texts come from the image, and are valid until it
 * is closed.
 */
struct etwas_inlined {
    uint32_t count;
    const char *functions[ETWAS_SYMBOLS_INLINED]; /* innermost first */
};

/* What an offset is relative to. */
enum etwas_symbols_from {
    ETWAS_SYMBOLS_FROM_MAPPING, /* the first byte in memory */
    ETWAS_SYMBOLS_FROM_FILE,    /* the first byte of the file */
    ETWAS_SYMBOLS_FROM_ZERO,    /* address 0 of the file's symbols */
};

/*
 * Opens an image; the caller closes it. Returns NULL if it has no usable file. Sets *has_changed if
 * the file exists but is of another build.
 */
struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed);

/*
 * Finds the function at an offset, without the line. Returns false if no named function is there.
 */
bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol);

/* Finds the line too, which takes longer. */
bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol);

/*
 * Finds the functions that are inlined at an offset. Returns false if the image has no debug
 * information.
 */
bool etwas_symbols_inlined(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset, struct etwas_inlined *inlined);

/*
 * Finds the load bias: what is added to the addresses of the symbols if the file's first byte is at
 * `base`. Returns false if the file has no loaded segment.
 */
bool etwas_symbols_bias(const struct etwas_symbols *symbols, uint64_t base, uint64_t *bias);

/* Closes an image; NULL is allowed. */
void etwas_symbols_close(struct etwas_symbols *symbols);

#endif
