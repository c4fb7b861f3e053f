/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * bpf(2), as far as our small programs need it: maps, a program, and where it runs. Functions
 * return a descriptor, closed on exec, or -1. They need CAP_BPF and CAP_PERFMON.
 *
 * A program is a table of instructions (linux/bpf.h), written with the macros below. Registers 1 to
 * 5 hold the arguments of a call and are undefined after it, 0 holds its result, 6 to 9 belong to
 * the program, and 10 points to the end of its stack.
 */
#ifndef ETWAS_SYSTEM_STREAM_BPF_H
#define ETWAS_SYSTEM_STREAM_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers that mean the same in every program. */
enum {
    RESULT = 0,
    FIRST = 1, /* the arguments of a call */
    SECOND = 2,
    THIRD = 3,
    FOURTH = 4,
    FIFTH = 5,
    FRAME = 10, /* the end of the program's stack */
};

/* clang-format off */
#define ETWAS_BPF(code_, to_, from_, offset_, number_) \
    {.code = (code_), .dst_reg = (to_), .src_reg = (from_), .off = (offset_), .imm = (number_)}

/* to = from; to = number, with its sign; to += from; … */
#define ETWAS_BPF_COPY(to, from) ETWAS_BPF(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define ETWAS_BPF_SET(to, number) ETWAS_BPF(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number)
#define ETWAS_BPF_SET_U32(to, number) ETWAS_BPF(BPF_ALU | BPF_MOV | BPF_K, to, 0, 0, number)
#define ETWAS_BPF_ADD(to, from) ETWAS_BPF(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0)
#define ETWAS_BPF_ADD_NUMBER(to, number) ETWAS_BPF(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, number)
#define ETWAS_BPF_SUBTRACT(to, from) ETWAS_BPF(BPF_ALU64 | BPF_SUB | BPF_X, to, from, 0, 0)
#define ETWAS_BPF_SHIFT_LEFT(to, bits) ETWAS_BPF(BPF_ALU64 | BPF_LSH | BPF_K, to, 0, 0, bits)
#define ETWAS_BPF_SHIFT_RIGHT(to, bits) ETWAS_BPF(BPF_ALU64 | BPF_RSH | BPF_K, to, 0, 0, bits)
#define ETWAS_BPF_AND(to, number) ETWAS_BPF(BPF_ALU64 | BPF_AND | BPF_K, to, 0, 0, number)
#define ETWAS_BPF_OR(to, from) ETWAS_BPF(BPF_ALU64 | BPF_OR | BPF_X, to, from, 0, 0)
#define ETWAS_BPF_COPY_U32(to, from) ETWAS_BPF(BPF_ALU | BPF_MOV | BPF_X, to, from, 0, 0)

/* to = *(u64 *)(from + offset), and the reverse */
#define ETWAS_BPF_LOAD(to, from, offset) ETWAS_BPF(BPF_LDX | BPF_MEM | BPF_DW, to, from, offset, 0)
#define ETWAS_BPF_LOAD_U32(to, from, offset) \
    ETWAS_BPF(BPF_LDX | BPF_MEM | BPF_W, to, from, offset, 0)
#define ETWAS_BPF_LOAD_U16(to, from, offset) \
    ETWAS_BPF(BPF_LDX | BPF_MEM | BPF_H, to, from, offset, 0)
#define ETWAS_BPF_STORE(to, offset, from) ETWAS_BPF(BPF_STX | BPF_MEM | BPF_DW, to, from, offset, 0)
#define ETWAS_BPF_STORE_NUMBER(to, offset, number) \
    ETWAS_BPF(BPF_ST | BPF_MEM | BPF_DW, to, 0, offset, number)

/* to = the map with this index in `given`; takes two instructions */
#define ETWAS_BPF_MAP(to, place) \
    ETWAS_BPF(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, place), \
    ETWAS_BPF(0, 0, 0, 0, 0)

/* to = the number with this index in `given`; takes two instructions */
#define ETWAS_BPF_GIVEN(to, place) \
    ETWAS_BPF(BPF_LD | BPF_IMM | BPF_DW, to, 0, 0, place), \
    ETWAS_BPF(0, 0, 0, 0, 0)

#define ETWAS_BPF_CALL(function) ETWAS_BPF(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define ETWAS_BPF_EXIT ETWAS_BPF(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Skips so many instructions if the comparison holds. */
#define ETWAS_BPF_SKIP(count) ETWAS_BPF(BPF_JMP | BPF_JA, 0, 0, count, 0)
#define ETWAS_BPF_SKIP_IF(comparison, of, number, count) \
    ETWAS_BPF(BPF_JMP | (comparison) | BPF_K, of, 0, count, number)
#define ETWAS_BPF_SKIP_IF_U32(comparison, of, number, count) /* compares the lower half */ \
    ETWAS_BPF(BPF_JMP32 | (comparison) | BPF_K, of, 0, count, number)
#define ETWAS_BPF_SKIP_IF_OTHER_U32(of, other, count) /* compares the lower halves */ \
    ETWAS_BPF(BPF_JMP32 | BPF_JNE | BPF_X, of, other, count, 0)
/* clang-format on */

int etwas_bpf_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries);

bool etwas_bpf_map_set(int map, uint32_t index, uint32_t value);

enum {
    ETWAS_BPF_MOST = 128 /* instructions */
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
