/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * bpf(2), as far as our small programs need it: maps, a program, and where it runs. Functions
 * return a descriptor, closed on exec, or -1. They need CAP_BPF and CAP_PERFMON.
 *
 * A program is a table of instructions (linux/bpf.h), compiled from C (system/bpf/).
 */
#ifndef ETWAS_SYSTEM_STREAM_BPF_H
#define ETWAS_SYSTEM_STREAM_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What tables of instructions are made of besides numbers: a map, or a number, with this index in
 * `given`. Each takes two instructions, and `off` of the first tells the loader.
 */
#define ETWAS_BPF_MAP(to, place)                                                                   \
    {BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, ETWAS_BPF_IS_GIVEN, place},                 \
    {                                                                                              \
        0, 0, 0, 0, 0                                                                              \
    }
#define ETWAS_BPF_GIVEN(to, place)                                                                 \
    {BPF_LD | BPF_IMM | BPF_DW, to, 0, ETWAS_BPF_IS_GIVEN, place},                                 \
    {                                                                                              \
        0, 0, 0, 0, 0                                                                              \
    }

int etwas_bpf_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries);

bool etwas_bpf_map_set(int map, uint32_t index, uint32_t value);

enum {
    ETWAS_BPF_MOST = 128, /* instructions */
    ETWAS_BPF_IS_GIVEN = 1,
};

/* `given`: descriptors of maps and numbers that instructions refer to by index. */
int etwas_bpf_program(enum bpf_prog_type type, const struct bpf_insn *code, size_t count,
                      const int *given);

/*
 * A program that runs when this function of the kernel returns; it is given the function's
 * arguments and result. `function`: the number that BTF gives it.
 */
int etwas_bpf_program_behind(uint32_t function, const struct bpf_insn *code, size_t count,
                             const int *given);

/* Runs the program until the returned descriptor is closed. `name` NULL: where it was made for. */
int etwas_bpf_attach_tracepoint(int program, const char *name);

#endif
