/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An ELF file that a trace names, and whose build id is the right one: names and lines of addresses
 * in it, and a stack whose frames its tables lead through. The words of the stack are addresses in
 * it, and of the stack. The mutator keeps what the headers divide the file into.
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "address/symbols.h"
#include "address/unwind.h"
#include "system/names/image_list.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

enum {
    CODE_AT = 0x1000,
    OFFSETS = 64,
    STEP = 7, /* from one to the next */
    PROCESS = 20,
    REGISTERS = 17,
    REGISTER_MASK = 0xFF01FF, /* as perf events have them on x86-64 */
    STACK_WORDS = 64,
    STACK_POINTER = 7, /* among those in the mask */
    COUNTER = 8,
    LOADED_AT = 0x10000000,
    STACK_AT = 0x70000000,
};

/* ---- names and lines ------------------------------------------------------------------------- */

static void look_at_symbol(const struct etwas_symbol *symbol)
{
    MUST(symbol->function != NULL && strlen(symbol->function) > 0);
    MUST(symbol->file == NULL || memchr(symbol->file, 0, SIZE_MAX / 2) != NULL);
}

static void find_names(struct etwas_symbols *symbols)
{
    for (uint64_t offset = CODE_AT; offset < CODE_AT + OFFSETS * STEP; offset += STEP) {
        enum etwas_symbols_from from = (enum etwas_symbols_from)(offset % 3);
        struct etwas_symbol symbol;

        if (etwas_symbols_find(symbols, from, offset, &symbol)) {
            look_at_symbol(&symbol);
        }
        if (etwas_symbols_find_line(symbols, from, offset, &symbol)) {
            look_at_symbol(&symbol);
        }
    }
}

/* ---- a stack --------------------------------------------------------------------------------- */

static void unwind(char *path, const uint8_t *build_id, uint32_t build_id_bytes)
{
    struct etwas_image image = {.base = LOADED_AT,
                                .bytes = 1 << 20,
                                .to = INT64_MAX,
                                .kind = ETWAS_IMAGE_OF_FILE,
                                .process = PROCESS};
    struct etwas_image_build file = {.path = path, .build_id_bytes = build_id_bytes};
    struct etwas_images images = {
        .entries = &image, .count = 1, .is_sorted = true, .files = &file, .file_count = 1};
    struct etwas_unwinder *unwinder = etwas_unwinder_open(&images);
    uint64_t registers[REGISTERS];
    uint64_t words[STACK_WORDS];
    struct etwas_user_stack stack = {.machine = EM_X86_64,
                                     .process = PROCESS,
                                     .thread = PROCESS,
                                     .mask = REGISTER_MASK,
                                     .registers = (const uint8_t *)registers,
                                     .bytes = (const uint8_t *)words,
                                     .count = sizeof words};
    static uint64_t frames[ETWAS_UNWIND_FRAMES];

    memcpy(file.build_id, build_id, build_id_bytes);
    for (uint32_t index = 0; index < REGISTERS; index++) {
        registers[index] = STACK_AT + 8 * index;
    }
    for (uint32_t index = 0; index < STACK_WORDS; index++) {
        words[index] = index % 2 == 0 ? LOADED_AT + CODE_AT + index * STEP : STACK_AT + 8 * index;
    }
    registers[STACK_POINTER] = STACK_AT;
    for (uint64_t offset = CODE_AT; offset < CODE_AT + OFFSETS * STEP; offset += STEP) {
        registers[COUNTER] = LOADED_AT + offset;
        MUST(etwas_unwind(unwinder, &stack, 0, frames) <= ETWAS_UNWIND_FRAMES);
    }
    etwas_unwinder_close(unwinder);
    etwas_symbols_close(file.symbols);
}

/* What libdw 0.188 loses where a table of frames ends in the middle of its rules is its own. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    int file = memfd_create("image", MFD_CLOEXEC);
    struct etwas_symbols *symbols;
    uint32_t build_id_bytes;
    bool has_changed;
    char path[64];

    MUST(unsetenv("DEBUGINFOD_URLS") == 0); /* nobody else is asked */
    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    build_id_bytes = etwas_build_id_of_file(file, build_id);
    symbols = etwas_symbols_open(path, build_id, build_id_bytes, &has_changed);
    if (symbols != NULL) {
        find_names(symbols);
        unwind(path, build_id, build_id_bytes);
    }
    etwas_symbols_close(symbols);
    (void)close(file);
    return 0;
}

/* ---- the mutator ----------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit == 0 ? 0 : (random_state >> 16) % limit;
}

/* A section's header, or what it has. */
static void change_section(uint8_t *data, size_t size, const Elf64_Ehdr *head)
{
    uint64_t at = head->e_shoff + random_below(head->e_shnum) * sizeof(Elf64_Shdr);
    Elf64_Shdr section;

    if (at > size || size - at < sizeof section) {
        return;
    }
    memcpy(&section, data + at, sizeof section);
    if (random_below(8) == 0) {
        size_t field = 8 * (size_t)random_below(sizeof section / 8);

        (void)LLVMFuzzerMutate(data + at + field, 8, 8);
    } else if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NOTE &&
               section.sh_size > 0 && section.sh_offset < size &&
               section.sh_size <= size - section.sh_offset) {
        uint64_t from = random_below(section.sh_size);
        uint64_t bytes = 1 + random_below(section.sh_size - from);

        bytes = bytes < 64 ? bytes : 64;
        (void)LLVMFuzzerMutate(data + section.sh_offset + from, bytes, bytes);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    Elf64_Ehdr head;

    random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (size < sizeof head || random_below(64) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    memcpy(&head, data, sizeof head);
    for (uint64_t times = 1 + random_below(4); times > 0; times--) {
        if (random_below(16) == 0) {
            size_t at = sizeof head + 8 * (size_t)random_below(56);

            (void)LLVMFuzzerMutate(data + (at + 8 <= size ? at : 0), 8, 8);
        } else {
            change_section(data, size, &head);
        }
    }
    return size;
}
