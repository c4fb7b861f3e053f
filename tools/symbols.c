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
};

struct etwas_symbols {
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t start; /* where libdw sees what is mapped first */
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

static bool find_start(struct etwas_symbols *symbols, Elf *elf, GElf_Addr bias)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;

        if (gelf_getphdr(elf, (int)i, &part) != NULL && part.p_type == PT_LOAD) {
            symbols->start = bias + (part.p_vaddr & ~(uint64_t)(PAGE_BYTES - 1));
            return true;
        }
    }
    return false;
}

static bool read_image(struct etwas_symbols *symbols, const char *path, int file,
                       const uint8_t *build_id, size_t build_id_bytes)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    GElf_Addr bias;
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
    elf = dwfl_module_getelf(symbols->module, &bias);
    return elf != NULL && has_build_id(symbols->module, build_id, build_id_bytes) &&
           find_start(symbols, elf, bias);
}

struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes)
{
    int file = build_id_bytes > 0 ? open_regular(path) : -1;
    struct etwas_symbols *symbols = file >= 0 ? calloc(1, sizeof *symbols) : NULL;

    if (symbols == NULL) {
        if (file >= 0) {
            (void)close(file);
        }
        return NULL;
    }
    if (!read_image(symbols, path, file, build_id, build_id_bytes)) {
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

bool etwas_symbols_find(struct etwas_symbols *symbols, uint64_t offset, struct etwas_symbol *symbol)
{
    uint64_t address = symbols->start + offset;
    GElf_Off function_offset = 0;
    GElf_Sym found;
    Dwfl_Line *line;

    *symbol = (struct etwas_symbol){.function = dwfl_module_addrinfo(symbols->module, address,
                                                                     &function_offset, &found, NULL,
                                                                     NULL, NULL)};
    if (symbol->function == NULL) {
        return false;
    }
    symbol->function = readable_name(symbols, symbol->function);
    symbol->offset = function_offset;
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
                                         size_t build_id_bytes)
{
    (void)path;
    (void)build_id;
    (void)build_id_bytes;
    return NULL;
}

bool etwas_symbols_find(struct etwas_symbols *symbols, uint64_t offset, struct etwas_symbol *symbol)
{
    (void)symbols;
    (void)offset;
    (void)symbol;
    return false;
}

void etwas_symbols_close(struct etwas_symbols *symbols)
{
    (void)symbols;
}

#endif
