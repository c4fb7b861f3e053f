/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/probe.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/stream/pseudo_file.h"

/* ---- numbers of functions -------------------------------------------------------------------- */

enum {
    MOST_BYTES = 32 << 20, /* those of distributions have some 6 MB */
    KINDS = 20,
};

/* The data after a type: `bytes`, and `of_each` for each of its members. */
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

/* ---- bpf(2) ---------------------------------------------------------------------------------- */

static int bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

int etwas_bpf_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries)
{
    union bpf_attr attributes = {.map_type = type,
                                 .key_size = sizeof(uint32_t),
                                 .value_size = value_bytes,
                                 .max_entries = entries};

    return bpf(BPF_MAP_CREATE, &attributes);
}

bool etwas_bpf_map_set(int map, uint32_t index, uint32_t value)
{
    union bpf_attr attributes = {
        .map_fd = (uint32_t)map, .key = (uintptr_t)&index, .value = (uintptr_t)&value};

    return bpf(BPF_MAP_UPDATE_ELEM, &attributes) == 0;
}

/*
 * The kernel lets a program call most helper functions only if its licence is compatible with the
 * GPL; so our programs are available under the GPL besides the library's licence.
 */
static int bpf_load(union bpf_attr *attributes, const struct bpf_insn *code, size_t count,
                    const int *given)
{
    struct bpf_insn complete[ETWAS_BPF_MOST];

    if (count > ETWAS_BPF_MOST) {
        return -1;
    }
    for (size_t index = 0; index < count; index++) {
        complete[index] = code[index];
        if (code[index].code == (BPF_LD | BPF_IMM | BPF_DW) &&
            code[index].off == ETWAS_BPF_IS_GIVEN) {
            complete[index].off = 0;
            complete[index].imm = given[code[index].imm];
        }
    }
    attributes->insn_cnt = (uint32_t)count;
    attributes->insns = (uintptr_t)complete;
    attributes->license = (uintptr_t) "Dual BSD/GPL";
    return bpf(BPF_PROG_LOAD, attributes);
}

int etwas_bpf_program(enum bpf_prog_type type, const struct bpf_insn *code, size_t count,
                      const int *given)
{
    union bpf_attr attributes = {.prog_type = type};

    return bpf_load(&attributes, code, count, given);
}

int etwas_bpf_program_behind(uint32_t function, const struct bpf_insn *code, size_t count,
                             const int *given)
{
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_TRACING,
                                 .expected_attach_type = BPF_TRACE_FEXIT,
                                 .attach_btf_id = function};

    return bpf_load(&attributes, code, count, given);
}

int etwas_bpf_attach_tracepoint(int program, const char *name)
{
    union bpf_attr attributes = {
        .raw_tracepoint = {.name = (uintptr_t)name, .prog_fd = (uint32_t)program}};

    return bpf(BPF_RAW_TRACEPOINT_OPEN, &attributes);
}

/* ---- a probe --------------------------------------------------------------------------------- */

static void close_one(int *descriptor)
{
    int closed = *descriptor;

    *descriptor = -1; /* first: see etwas_cpu_stream_forget */
    if (closed >= 0) {
        (void)close(closed);
    }
}

bool etwas_probe_begin(struct etwas_probe *probe, uint32_t processors)
{
    *probe = ETWAS_PROBE_CLOSED;
    probe->outputs = etwas_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t), processors);
    return probe->outputs >= 0;
}

bool etwas_probe_attach(struct etwas_probe *probe, int program, const char *tracepoint)
{
    uint32_t place = 0;

    if (program < 0) {
        return false;
    }
    while (place < ETWAS_PROBE_LINKS - 1 && probe->links[place] >= 0) {
        place++;
    }
    probe->links[place] = etwas_bpf_attach_tracepoint(program, tracepoint);
    close_one(&program);
    return probe->links[place] >= 0;
}

bool etwas_probe_send(const struct etwas_probe *probe, uint32_t processor, int event)
{
    return etwas_bpf_map_set(probe->outputs, processor, (uint32_t)event);
}

void etwas_probe_close(struct etwas_probe *probe)
{
    for (uint32_t place = 0; place < ETWAS_PROBE_LINKS; place++) {
        close_one(&probe->links[place]);
    }
    close_one(&probe->outputs);
}
