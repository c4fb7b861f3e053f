/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Symbols and modules as the kernel shows them: a text read as kallsyms and as modules, line by
 * line and whole. Asked for is the address that each line begins with, or one a little behind it.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "system/names/image_list.h"
#include "system/names/kernel_addresses.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEXADECIMAL = 16
};

/* What lies behind the header of a record. */
struct emitted {
    uint32_t version;
    uint32_t left_out;
    uint64_t address;
    uint64_t bytes;
};

struct telling {
    struct etwas_emitter emitter;
    const uint64_t *asked;
    uint32_t count;
    uint64_t behind; /* the symbol that was emitted last */
};

static bool is_asked_for(const struct telling *telling, uint64_t first, uint64_t bytes)
{
    bool found = false;

    for (uint32_t index = 0; index < telling->count && !found; index++) {
        found = telling->asked[index] - first < bytes;
    }
    return found;
}

/* Symbols in order, that have something, with an address in them that is asked for; two texts. */
static void take(struct etwas_emitter *emitter, uint32_t slot,
                 const struct etwas_stamped_record *stamped)
{
    struct telling *telling = (struct telling *)(void *)emitter;
    const size_t at = sizeof(struct etwas_etl_full_header);
    const char *names = (const char *)stamped->bytes + at + sizeof(struct emitted);
    struct emitted emitted;
    size_t room;

    (void)slot;
    MUST(stamped->size >= at + sizeof emitted + 2);
    memcpy(&emitted, (const uint8_t *)stamped->bytes + at, sizeof emitted);
    MUST(emitted.bytes != 0 && emitted.address >= telling->behind);
    MUST(is_asked_for(telling, emitted.address, emitted.bytes));
    telling->behind = emitted.address + 1;
    room = stamped->size - at - sizeof emitted;
    names = memchr(names, 0, room);
    MUST(names != NULL && names != (const char *)stamped->bytes + stamped->size - 1);
    MUST(((const char *)stamped->bytes)[stamped->size - 1] == 0);
}

static void ask_for_lines(struct etwas_kernel_addresses *addresses, const char *text)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        etwas_kernel_addresses_add(addresses,
                                   strtoull(line, NULL, HEXADECIMAL) + strcspn(line, "\n") % 3);
    }
}

static void tell_symbols(const char *text, size_t bytes)
{
    static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};
    struct etwas_kernel_addresses addresses;
    struct telling telling = {.emitter.receive = take};
    uint64_t *asked;
    int file = memfd_create("kallsyms", MFD_CLOEXEC);
    char path[64];

    MUST(file >= 0 && write(file, text, bytes) == (ssize_t)bytes);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    etwas_kernel_addresses_open(&addresses, NULL);
    ask_for_lines(&addresses, text);
    asked = etwas_kernel_addresses_sorted(&addresses);
    telling.asked = asked;
    telling.count = addresses.count;
    etwas_kernel_symbols_emit(&addresses, path, &record, &telling.emitter);
    etwas_kernel_addresses_free(&addresses);
    free(asked);
    (void)close(file);
}

static void parse_lines(char *text)
{
    char *rest = text;
    char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        struct etwas_mapping mapping;
        uint64_t address;

        (void)etwas_kernel_parse_symbol(line, "_text", &address);
        if (etwas_kernel_parse_module(line, &mapping)) {
            MUST(mapping.path == line && mapping.address != 0 && strchr(line, ' ') == NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    MUST(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    tell_symbols(text, size);
    parse_lines(text);
    free(text);
    return 0;
}
