/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an image's call frame information (DWARF, .eh_frame, as the x86-64 psABI lays it out) says
 * of one address: where the caller's registers are. It is in every program that gcc and clang make,
 * stripped or not, with frame pointers or without.
 *
 * Only what is needed to go from frame to frame is followed: the instruction pointer, the stack
 * pointer and rbp. Takes no lock, allocates nothing, and reads nothing but the image's own mapping.
 */
#ifndef ETWAS_HEAPTRACE_FRAME_RULE_H
#define ETWAS_HEAPTRACE_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* The mapping that holds an address. Its parts that a program cannot read are never named. */
struct heaptrace_mapping {
    const uint8_t *start;
    const uint8_t *end;
    const uint8_t *index; /* .eh_frame_hdr, NULL: none */
};

enum heaptrace_rule_kind {
    HEAPTRACE_RULE_SAME,      /* the caller's value is still in the register */
    HEAPTRACE_RULE_UNDEFINED, /* nowhere; of the instruction pointer: there is no caller */
    HEAPTRACE_RULE_SAVED,     /* at the CFA and `offset` */
    HEAPTRACE_RULE_SAVED_BY,  /* at the address that `expression` gives */
    HEAPTRACE_RULE_VALUE_BY   /* what `expression` gives */
};

/* A DWARF expression: its bytes. */
struct heaptrace_expression {
    const uint8_t *start;
    const uint8_t *end;
};

struct heaptrace_register_rule {
    enum heaptrace_rule_kind kind;
    int64_t offset;
    struct heaptrace_expression expression;
};

/* The CFA is the caller's stack pointer. */
struct heaptrace_frame_rule {
    bool cfa_by_expression;
    bool cfa_from_bp; /* else from the stack pointer */
    bool is_signal;   /* the caller was interrupted: its address is no return address */
    int64_t cfa_offset;
    struct heaptrace_expression cfa_expression;
    struct heaptrace_register_rule bp;
    struct heaptrace_register_rule ip;
};

/*
 * The rule for `address`, which for a return address is one less than it. False where the image has
 * none, or one that is not understood. Async-signal-safe.
 */
bool heaptrace_frame_rule(const struct heaptrace_mapping *mapping, uint64_t address,
                          struct heaptrace_frame_rule *rule);

/*
 * Reads the 8 bytes at `address` for an expression; false where nothing may be read.
 */
typedef bool heaptrace_read(void *context, uint64_t address, uint64_t *value);

/*
 * Evaluates. False where it does something that frames do not need, or may not read. Its registers
 * are rbp and rsp. `initial` is what it begins with on its stack.
 */
bool heaptrace_expression_value(const struct heaptrace_expression *expression, uint64_t initial,
                                uint64_t bp, uint64_t sp, heaptrace_read *read, void *context,
                                uint64_t *value);

#endif
