/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Symbols by libdw; the contract is in the header. */

#include "symbols.h"

#ifdef ETWAS_LIBDW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    NAME_BYTES = 65536, /* longer names are left as they are */
    MOST_PARTS = 32,
};

/* What of the file is mapped. */
struct part {
    uint64_t address; /* as its symbols have it */
    uint64_t offset;
    uint64_t bytes;
};

struct etwas_symbols {
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t bias; /* what libdw adds to addresses of symbols */
    uint32_t part_count;
    struct part parts[MOST_PARTS];
    char *readable; /* the function found last as C++ has it; malloc's, of this size */
    size_t readable_bytes;
};

/* A named pipe or a device would hang, or do something. */
static int open_regular(const char *path)
{
    int file = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    struct stat status;

    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        (void)close(file);
        return -1;
    }
    return file;
}

static bool has_build_id(Dwfl_Module *module, const uint8_t *wanted, size_t bytes)
{
    const unsigned char *found;
    GElf_Addr address;
    int found_bytes = dwfl_module_build_id(module, &found, &address);

    return found_bytes > 0 && (size_t)found_bytes == bytes && memcmp(found, wanted, bytes) == 0;
}

static bool read_parts(struct etwas_symbols *symbols, Elf *elf)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0) {
        return false;
    }
    for (size_t i = 0; i < count && symbols->part_count < MOST_PARTS; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_LOAD) {
            symbols->parts[symbols->part_count++] =
                (struct part){header.p_vaddr, header.p_offset, header.p_filesz};
        }
    }
    return symbols->part_count > 0;
}

static bool read_image(struct etwas_symbols *symbols, const char *path, int file,
                       const uint8_t *build_id, size_t build_id_bytes, bool *has_changed)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    Elf *elf;

    symbols->session = dwfl_begin(&callbacks);
    if (symbols->session != NULL) {
        dwfl_report_begin(symbols->session);
        symbols->module = dwfl_report_offline(symbols->session, path, path, file);
    }
    if (symbols->module == NULL) {
        (void)close(file); /* else it is libdw's */
        return false;
    }
    (void)dwfl_report_end(symbols->session, NULL, NULL);
    elf = dwfl_module_getelf(symbols->module, &symbols->bias);
    *has_changed = elf == NULL || !has_build_id(symbols->module, build_id, build_id_bytes);
    return !*has_changed && read_parts(symbols, elf);
}

struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed)
{
    int file = build_id_bytes > 0 ? open_regular(path) : -1;
    struct etwas_symbols *symbols = file >= 0 ? calloc(1, sizeof *symbols) : NULL;

    *has_changed = false;
    if (symbols == NULL) {
        if (file >= 0) {
            (void)close(file);
        }
        return NULL;
    }
    if (!read_image(symbols, path, file, build_id, build_id_bytes, has_changed)) {
        etwas_symbols_close(symbols);
        return NULL;
    }
    return symbols;
}

#ifdef ETWAS_CXX_NAMES

/* The C++ ABI's, which has no header for C. `buffer` is malloc's, or NULL, and grows. */
char *__cxa_demangle(const char *name, char *buffer, size_t *bytes, int *status);

/* shop::order::make(int) of _ZN4shop5order4makeEi; other names as they are. */
static const char *readable_name(struct etwas_symbols *symbols, const char *name)
{
    int status = 0;
    char *made = NULL;

    if (strncmp(name, "_Z", 2) == 0 && strlen(name) < NAME_BYTES) {
        made = __cxa_demangle(name, symbols->readable, &symbols->readable_bytes, &status);
    }
    if (made == NULL) {
        return name;
    }
    symbols->readable = made;
    return made;
}

#else

static const char *readable_name(struct etwas_symbols *symbols, const char *name)
{
    (void)symbols;
    return name;
}

#endif

/* Where libdw sees an offset; 0: nowhere. */
static uint64_t address_of(const struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset)
{
    const struct part *first = &symbols->parts[0];

    if (from == ETWAS_SYMBOLS_FROM_ZERO) {
        return symbols->bias + offset;
    }
    if (from == ETWAS_SYMBOLS_FROM_MAPPING) {
        return symbols->bias + (first->address & ~(uint64_t)(PAGE_BYTES - 1)) + offset;
    }
    for (uint32_t i = 0; i < symbols->part_count; i++) {
        const struct part *part = &symbols->parts[i];

        if (offset - part->offset < part->bytes) {
            return symbols->bias + part->address + (offset - part->offset);
        }
    }
    return 0;
}

static bool find_function(struct etwas_symbols *symbols, uint64_t address,
                          struct etwas_symbol *symbol)
{
    GElf_Off function_offset = 0;
    GElf_Sym found;

    *symbol = (struct etwas_symbol){.function = dwfl_module_addrinfo(symbols->module, address,
                                                                     &function_offset, &found, NULL,
                                                                     NULL, NULL)};
    if (symbol->function == NULL) {
        return false;
    }
    symbol->function = readable_name(symbols, symbol->function);
    symbol->offset = function_offset;
    return true;
}

bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol)
{
    uint64_t address = address_of(symbols, from, offset);

    return address != 0 && find_function(symbols, address, symbol);
}

bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol)
{
    uint64_t address = address_of(symbols, from, offset);
    Dwfl_Line *line;

    if (address == 0 || !find_function(symbols, address, symbol)) {
        return false;
    }
    line = dwfl_module_getsrc(symbols->module, address);
    if (line != NULL) {
        symbol->file = dwfl_lineinfo(line, NULL, &symbol->line, NULL, NULL, NULL);
    }
    return true;
}

void etwas_symbols_close(struct etwas_symbols *symbols)
{
    if (symbols != NULL) {
        dwfl_end(symbols->session);
        free(symbols->readable);
        free(symbols);
    }
}

#else

struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed)
{
    (void)path;
    (void)build_id;
    (void)build_id_bytes;
    *has_changed = false;
    return NULL;
}

bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol)
{
    (void)symbols;
    (void)from;
    (void)offset;
    (void)symbol;
    return false;
}

bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol)
{
    return etwas_symbols_find(symbols, from, offset, symbol);
}

void etwas_symbols_close(struct etwas_symbols *symbols)
{
    (void)symbols;
}

#endif
