/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The call frame information of an image (DWARF, .eh_frame, as in the x86-64 psABI). For an
 * address, it says where the registers of the caller are. All programs that gcc and clang build
 * contain it, stripped or not, with frame pointers or without.
 *
 * Follows only what unwinding needs: the instruction pointer, the stack pointer and rbp. Takes no
 * lock, allocates nothing, and reads nothing but the image's own mapping.
 */
#ifndef ETWAS_HEAPTRACE_FRAME_RULE_H
#define ETWAS_HEAPTRACE_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The mapping that contains an address. Call frame information never refers to unreadable parts of
 * it.
 */
struct heaptrace_mapping {
    const uint8_t *start;
    const uint8_t *end;
    const uint8_t *index; /* .eh_frame_hdr, NULL: none */
};

enum heaptrace_rule_kind {
    HEAPTRACE_RULE_SAME,      /* the caller's value is still in the register */
    HEAPTRACE_RULE_UNDEFINED, /* lost; for the instruction pointer: there is no caller */
    HEAPTRACE_RULE_SAVED,     /* at the CFA plus `offset` */
    HEAPTRACE_RULE_SAVED_BY,  /* at the address that `expression` gives */
    HEAPTRACE_RULE_VALUE_BY   /* the value of `expression` */
};

/* The bytes of a DWARF expression. */
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
    bool is_signal;   /* the caller was interrupted: its address is not a return address */
    int64_t cfa_offset;
    struct heaptrace_expression cfa_expression;
    struct heaptrace_register_rule bp;
    struct heaptrace_register_rule ip;
};

/*
 * Finds the rule for `address`; for a return address, pass one less. Returns false if the image has
 * no rule, or none that is understood. Async-signal-safe.
 */
bool heaptrace_frame_rule(const struct heaptrace_mapping *mapping, uint64_t address,
                          struct heaptrace_frame_rule *rule);

/* Reads the 8 bytes at `address` for an expression. Returns false if they cannot be read. */
typedef bool heaptrace_read(void *context, uint64_t address, uint64_t *value);

/*
 * Evaluates an expression, whose registers are rbp and rsp. `initial` is the first value on its
 * stack. Returns false if it uses an operation that is not supported, or cannot read memory.
 */
bool heaptrace_expression_value(const struct heaptrace_expression *expression, uint64_t initial,
                                uint64_t bp, uint64_t sp, heaptrace_read *read, void *context,
                                uint64_t *value);

#endif
