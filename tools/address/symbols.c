/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Symbols from libdw; the contract is in the header. */

#include "address/symbols.h"

#include "cli/built.h"
#include "cli/quiet.h"
#include "print/output.h"

#include <pthread.h>
#include <stdio.h>

#ifdef ETWAS_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    NAME_BYTES = 65536, /* longer names are not demangled */
    MOST_PARTS = 32,
    KNOWN_INLINED = 4096,
    NESTED_FUNCTIONS = 16, /* limit of functions nested in another one */
};

/* A loaded segment of the file. */
struct part {
    uint64_t address; /* as in its symbols */
    uint64_t offset;
    uint64_t bytes;
};

struct function {
    uint64_t address; /* in libdw's address space */
    uint64_t bytes;
    int number; /* of the symbol in libdw's table */
    bool is_local;
};

/* The functions inlined at an address. Finding them is slow, and the same addresses recur. */
struct known_inlined {
    uint64_t address; /* 0: the entry is free */
    struct etwas_inlined inlined;
};

struct etwas_symbols {
    struct known_inlined *known; /* KNOWN_INLINED entries */
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t bias; /* libdw's address minus the symbol's address */
    uint32_t part_count;
    struct part parts[MOST_PARTS];
    bool has_functions;
    struct function *functions; /* sorted by address */
    size_t function_count;
    char *readable; /* the last demangled name; from malloc, of this size */
    size_t readable_bytes;
};

/* Opens only regular files: opening a named pipe or a device can block or have side effects. */
static int open_regular(const char *path)
{
    struct stat status;
    int file = path[0] == '/' && stat(path, &status) == 0 && S_ISREG(status.st_mode)
                   ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                   : -1;

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
        (void)close(file); /* else libdw owns it */
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

/*
 * From the C++ ABI, which has no C header. `buffer` comes from malloc or is NULL, and may be
 * reallocated.
 */
char *__cxa_demangle(const char *name, char *buffer, size_t *bytes, int *status);

/* Returns shop::order::make(int) for _ZN4shop5order4makeEi, and other names unchanged. */
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

/* Returns an offset's address in libdw's address space; 0 if it is in no segment. */
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

/* ---- the table of functions ------------------------------------------------------------------ */

static int compare_functions(const void *left, const void *right)
{
    const struct function *one = left;
    const struct function *other = right;

    if (one->address != other->address) {
        return one->address < other->address ? -1 : 1;
    }
    /* A global name sorts after local ones, so that it is found first. */
    if (one->is_local != other->is_local) {
        return one->is_local ? -1 : 1;
    }
    return one->number < other->number ? 1 : -1;
}

/* libdw searches all symbols for each address, so they are sorted here, once. */
static void read_functions(struct etwas_symbols *symbols)
{
    int count = dwfl_module_getsymtab(symbols->module);

    symbols->has_functions = true;
    symbols->functions = count > 0 ? calloc((size_t)count, sizeof *symbols->functions) : NULL;
    for (int i = 0; symbols->functions != NULL && i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(symbols->module, i, &symbol, &address, &section, NULL, NULL);
        bool is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
        unsigned char type = GELF_ST_TYPE(symbol.st_info);

        if (name != NULL && name[0] != 0 && section != SHN_UNDEF && section != SHN_ABS &&
            (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && !is_local))) {
            symbols->functions[symbols->function_count++] =
                (struct function){address, symbol.st_size, i, is_local};
        }
    }
    if (symbols->functions != NULL) {
        qsort(symbols->functions, symbols->function_count, sizeof *symbols->functions,
              compare_functions);
    }
}

/*
 * Returns the innermost function at an address. A function without a size extends to the next one.
 */
static const struct function *function_at(struct etwas_symbols *symbols, uint64_t address)
{
    size_t low = 0;
    size_t high;

    if (!symbols->has_functions) {
        read_functions(symbols);
    }
    high = symbols->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->functions[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (size_t i = 0; i < NESTED_FUNCTIONS && i < low; i++) {
        const struct function *function = &symbols->functions[low - 1 - i];

        if (address - function->address < function->bytes || (function->bytes == 0 && i == 0)) {
            return function;
        }
    }
    return NULL;
}

static bool find_function(struct etwas_symbols *symbols, uint64_t address,
                          struct etwas_symbol *symbol)
{
    const struct function *function = function_at(symbols, address);
    const char *name = NULL;
    GElf_Sym found;
    GElf_Addr start;

    *symbol = (struct etwas_symbol){.function = NULL};
    if (function != NULL) {
        name = dwfl_module_getsym_info(symbols->module, function->number, &found, &start, NULL,
                                       NULL, NULL);
    }
    if (name == NULL) {
        return false;
    }
    symbol->function = readable_name(symbols, name);
    symbol->offset = address - function->address;
    return true;
}

/* ---- finding --------------------------------------------------------------------------------- */

bool etwas_symbols_find(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                        uint64_t offset, struct etwas_symbol *symbol)
{
    uint64_t address = address_of(symbols, from, offset);

    return address != 0 && find_function(symbols, address, symbol);
}

/*
 * Returns the compilation unit of an address, or NULL. *bias is libdw's address minus the address
 * in the debug information. gcc lists the addresses of each unit (.debug_aranges); clang does not,
 * so that all units are searched.
 */
static Dwarf_Die *find_unit(struct etwas_symbols *symbols, uint64_t address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(symbols->module, address, bias);

    if (unit == NULL) {
        unit = dwfl_module_nextcu(symbols->module, NULL, bias);
        while (unit != NULL && dwarf_haspc(unit, address - *bias) != 1) {
            unit = dwfl_module_nextcu(symbols->module, unit, bias);
        }
    }
    return unit;
}

bool etwas_symbols_find_line(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                             uint64_t offset, struct etwas_symbol *symbol)
{
    uint64_t address = address_of(symbols, from, offset);
    Dwarf_Addr bias;
    Dwarf_Die *unit;
    Dwarf_Line *line;

    if (address == 0 || !find_function(symbols, address, symbol)) {
        return false;
    }
    unit = find_unit(symbols, address, &bias);
    line = unit != NULL ? dwarf_getsrc_die(unit, address - bias) : NULL;
    if (line != NULL) {
        symbol->file = dwarf_linesrc(line, NULL, NULL);
        (void)dwarf_lineno(line, &symbol->line);
    }
    return true;
}

/* ---- inlined functions ----------------------------------------------------------------------- */

/* Returns a function's name. For an inlined function it is in the abstract definition. */
static const char *name_of(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_name, &attribute));
}

static void read_scopes(Dwarf_Die *scopes, int count, struct etwas_inlined *inlined)
{
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name = tag == DW_TAG_inlined_subroutine ? name_of(&scopes[i]) : NULL;

        if (tag == DW_TAG_subprogram || inlined->count == ETWAS_SYMBOLS_INLINED) {
            break;
        }
        if (name != NULL) {
            inlined->functions[inlined->count++] = name;
        }
    }
}

static void find_inlined(struct etwas_symbols *symbols, uint64_t address,
                         struct etwas_inlined *inlined)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = find_unit(symbols, address, &bias);
    Dwarf_Die *scopes = NULL;
    Dwarf_Die *around = NULL;
    int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

    /* The scopes around this inlined instance, not those around the function's definition. */
    if (count > 0) {
        count = dwarf_getscopes_die(&scopes[0], &around);
        read_scopes(around, count, inlined);
    }
    free(around);
    free(scopes);
}

bool etwas_symbols_inlined(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset, struct etwas_inlined *inlined)
{
    uint64_t address = address_of(symbols, from, offset);
    struct known_inlined *known;
    Dwarf_Addr bias;

    inlined->count = 0;
    if (dwfl_module_getdwarf(symbols->module, &bias) == NULL) {
        return false;
    }
    if (symbols->known == NULL) {
        symbols->known = calloc(KNOWN_INLINED, sizeof *symbols->known);
    }
    if (symbols->known == NULL || address == 0) {
        return address == 0;
    }
    known = &symbols->known[(address * UINT64_C(0x9E3779B97F4A7C15) >> 40) % KNOWN_INLINED];
    if (known->address != address) {
        *known = (struct known_inlined){.address = address};
        find_inlined(symbols, address, &known->inlined);
    }
    *inlined = known->inlined;
    return true;
}

bool etwas_symbols_bias(const struct etwas_symbols *symbols, uint64_t base, uint64_t *bias)
{
    *bias = base + symbols->parts[0].offset - symbols->parts[0].address;
    return symbols->part_count > 0;
}

void etwas_symbols_close(struct etwas_symbols *symbols)
{
    if (symbols != NULL) {
        dwfl_end(symbols->session);
        free(symbols->functions);
        free(symbols->readable);
        free(symbols->known);
        free(symbols);
    }
}

#else

static void say_without_libdw(void)
{
    if (!etwas_is_quiet) {
        fprintf(stderr,
                "%s: note: functions have no names: this etwas was built without "
                "libdw. " ETWAS_BUILT_CURE("libdw-dev") "\n",
                etwas_output_program);
    }
}

struct etwas_symbols *etwas_symbols_open(const char *path, const uint8_t *build_id,
                                         size_t build_id_bytes, bool *has_changed)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)path;
    (void)build_id;
    (void)build_id_bytes;
    (void)pthread_once(&once, say_without_libdw);
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

bool etwas_symbols_inlined(struct etwas_symbols *symbols, enum etwas_symbols_from from,
                           uint64_t offset, struct etwas_inlined *inlined)
{
    (void)symbols;
    (void)from;
    (void)offset;
    inlined->count = 0;
    return false;
}

bool etwas_symbols_bias(const struct etwas_symbols *symbols, uint64_t base, uint64_t *bias)
{
    (void)symbols;
    (void)base;
    *bias = 0;
    return false;
}

void etwas_symbols_close(struct etwas_symbols *symbols)
{
    (void)symbols;
}

#endif
