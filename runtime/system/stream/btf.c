/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/probe.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "system/stream/pseudo_file.h"

enum {
    MOST_BYTES = 32 << 20, /* those of distributions have some 6 MB */
    KINDS = 20,
};

/* What follows a type: so many bytes, and so many for each of its members. */
static const struct {
    uint8_t bytes;
    uint8_t of_each;
} tails[KINDS] = {
    [BTF_KIND_INT] = {4, 0},
    [BTF_KIND_ARRAY] = {12, 0},
    [BTF_KIND_STRUCT] = {0, 12},
    [BTF_KIND_UNION] = {0, 12},
    [BTF_KIND_ENUM] = {0, 8},
    [BTF_KIND_FUNC_PROTO] = {0, 8},
    [BTF_KIND_VAR] = {4, 0},
    [BTF_KIND_DATASEC] = {0, 12},
    [17] = {4, 0},  /* BTF_KIND_DECL_TAG */
    [19] = {0, 12}, /* BTF_KIND_ENUM64 */
};

struct part {
    const uint8_t *at;
    size_t bytes;
};

static bool take_part(const uint8_t *btf, size_t bytes, uint64_t from, uint32_t length,
                      struct part *part)
{
    *part = (struct part){btf + from, length};
    return from <= bytes && length <= bytes - from;
}

static bool is_called(const struct part *strings, uint32_t offset, const char *name)
{
    size_t length = strlen(name) + 1;

    return offset < strings->bytes && length <= strings->bytes - offset &&
           memcmp(strings->at + offset, name, length) == 0;
}

void etwas_btf_find(const uint8_t *btf, size_t bytes, const char *const *names, size_t count,
                    uint32_t *numbers)
{
    struct btf_header header;
    struct btf_type type;
    struct part types;
    struct part strings;

    memset(numbers, 0, count * sizeof *numbers);
    if (bytes < sizeof header) {
        return;
    }
    memcpy(&header, btf, sizeof header);
    if (header.magic != BTF_MAGIC ||
        !take_part(btf, bytes, (uint64_t)header.hdr_len + header.type_off, header.type_len,
                   &types) ||
        !take_part(btf, bytes, (uint64_t)header.hdr_len + header.str_off, header.str_len,
                   &strings)) {
        return;
    }
    for (uint32_t number = 1; types.bytes >= sizeof type; number++) {
        uint32_t kind;
        size_t size = sizeof type;

        memcpy(&type, types.at, sizeof type);
        kind = BTF_INFO_KIND(type.info);
        if (kind >= KINDS) {
            return; /* an unknown kind, after which nothing can be found */
        }
        size += tails[kind].bytes + (size_t)tails[kind].of_each * BTF_INFO_VLEN(type.info);
        if (size > types.bytes) {
            return;
        }
        for (size_t index = 0; kind == BTF_KIND_FUNC && index < count; index++) {
            numbers[index] =
                is_called(&strings, type.name_off, names[index]) ? number : numbers[index];
        }
        types.at += size;
        types.bytes -= size;
    }
}

void etwas_btf_find_here(const char *const *names, size_t count, uint32_t *numbers)
{
    char *btf = malloc(MOST_BYTES); /* pages that are not read are never touched */
    int file = btf != NULL ? open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC) : -1;
    ssize_t bytes = etwas_pseudo_file_read(file, btf, MOST_BYTES);

    etwas_btf_find((const uint8_t *)btf, bytes > 0 ? (size_t)bytes : 0, names, count, numbers);
    free(btf);
}
