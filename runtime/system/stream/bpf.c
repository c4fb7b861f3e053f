/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/probe.h"

#include <sys/syscall.h>
#include <unistd.h>

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
