/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_rseq_run for aarch64. The steps are numbered as in rseq.h.
 *
 *     x0    the sequence, and the result at the end
 *     x9    the place of cpu_id; rseq_cs lies 4 bytes behind it
 *     x6    the check or copy at hand, x7 how many are left
 *     x1-x3 target, source and bytes of a copy
 *
 * Only registers a function may change are used, and no stack, so that the abort point finds what
 * the entry point left.
 */
#include "platform/branch_protection.h"

#if defined(__aarch64__) && defined(ETWAS_WITH_RSEQ)

        .equ    CHECKS, 0
        .equ    COPIES, 16
        .equ    TARGET, 32
        .equ    EXPECTED, 40
        .equ    VALUE, 48
        .equ    PROCESSOR, 56
        .equ    EXCHANGE, 60

        .equ    ABORTED, 1
        .equ    MOVED, 2
        .equ    CHANGED, 3

/* From here on copies go by 64 bytes a turn. At least 64. */
        .equ    LARGE_BYTES, 256

/* The signature that the kernel requires in front of an abort point: an instruction that traps. */
        .equ    SIGNATURE, 0xd428bc00

/*
 * The saved program counter of a brk is its own address, not the next one's; it does not matter,
 * since the signal's delivery puts the abort point in its place.
 */
        .macro  TRAP number
#ifdef ETWAS_TESTPOINTS
        adrp    x16, etwas_rseq_trap
        ldr     w16, [x16, :lo12:etwas_rseq_trap]
        cmp     w16, \number
        b.ne    77f
        brk     1
77:
#endif
        .endm

/*
 * The sequence with one kind of commit. \kind is `store` or `exchange`; the last instruction before
 * .Lend is the commit.
 */
        .macro  SEQUENCE kind
        .pushsection __rseq_cs, "aw", %progbits
        .balign 32
.Ldescriptor_\kind:
        .long   0, 0
        .quad   .Lstart_\kind, .Lend_\kind - .Lstart_\kind, .Labort
        .popsection

        adrp    x4, .Ldescriptor_\kind
        add     x4, x4, :lo12:.Ldescriptor_\kind
        stur    x4, [x9, 4]                     /* 1 */
.Lstart_\kind:
        TRAP    1
        ldr     w4, [x0, PROCESSOR]             /* 2 */
        ldr     w5, [x9]
        cmp     w4, w5
        b.ne    .Lmoved
        TRAP    2

        ldp     x6, x7, [x0, CHECKS]            /* 3 */
.Lcheck_\kind:
        subs    x7, x7, 1
        b.lo    .Lchecked_\kind
        ldp     x4, x5, [x6], 16
        ldar    x4, [x4]
        cmp     x4, x5
        b.ne    .Lchanged
        b       .Lcheck_\kind
.Lchecked_\kind:
        TRAP    3

        ldp     x6, x7, [x0, COPIES]            /* 4 */
.Lcopy_\kind:
        subs    x7, x7, 1
        b.lo    .Lcopied_\kind
        ldp     x1, x2, [x6]
        ldr     x3, [x6, 16]
        add     x6, x6, 24
        cmp     x3, LARGE_BYTES
        b.hs    .Llarge_\kind
.Lsmall_\kind:
        subs    x3, x3, 16
        b.lo    .Ltail_\kind
        ldp     x4, x5, [x2], 16
        stp     x4, x5, [x1], 16
        b       .Lsmall_\kind
.Ltail_\kind:                                   /* x3 = bytes left - 16: their bits below 16 */
        tbz     x3, 3, 1f
        ldr     x4, [x2], 8
        str     x4, [x1], 8
1:      tbz     x3, 2, 2f
        ldr     w4, [x2], 4
        str     w4, [x1], 4
2:      tbz     x3, 1, 3f
        ldrh    w4, [x2], 2
        strh    w4, [x1], 2
3:      tbz     x3, 0, .Lcopy_\kind
        ldrb    w4, [x2]
        strb    w4, [x1]
        b       .Lcopy_\kind
.Llarge_\kind:
        ldp     q0, q1, [x2], 32
        ldp     q2, q3, [x2], 32
        stp     q0, q1, [x1], 32
        stp     q2, q3, [x1], 32
        TRAP    5
        sub     x3, x3, 64
        cmp     x3, 64
        b.hs    .Llarge_\kind
        b       .Lsmall_\kind
.Lcopied_\kind:
        TRAP    4

        ldr     x1, [x0, TARGET]                /* 5 */
        ldr     x2, [x0, VALUE]
        .ifc \kind, store
        stlr    x2, [x1]
        .else
        ldr     x3, [x0, EXPECTED]
        ldaxr   x4, [x1]
        cmp     x4, x3
        b.ne    .Lchanged
        stlxr   w5, x2, [x1]
        .endif
.Lend_\kind:
        .endm

        .text
        .hidden etwas_processor_offset
#ifdef ETWAS_TESTPOINTS
        .hidden etwas_rseq_trap
#endif
        .globl  etwas_rseq_run
        .hidden etwas_rseq_run
        .type   etwas_rseq_run, %function
        .balign 64
etwas_rseq_run:
        .cfi_startproc
        ETWAS_BRANCH_TARGET
        mrs     x9, tpidr_el0
        adrp    x10, etwas_processor_offset
        ldr     x10, [x10, :lo12:etwas_processor_offset]
        add     x9, x9, x10
        ldr     w4, [x0, EXCHANGE]
        cbnz    w4, .Lexchange

        SEQUENCE store
.Lcommitted:
        mov     w0, wzr                         /* 6 */
        ret

/*
 * A store-exclusive also fails when the processor took any interrupt since the load, or another one
 * touched the cache line: nothing is known to have changed, so that is an abort, not CHANGED.
 */
.Lexchange:
        SEQUENCE exchange
        cbz     w5, .Lcommitted
        b       .Labort
.Lchanged:
        mov     w0, CHANGED
        ret
.Lmoved:
        mov     w0, MOVED
        ret

        .inst   SIGNATURE                       /* never executed */
.Labort:
        mov     w0, ABORTED                     /* 7 */
        ret
        .cfi_endproc
        .size   etwas_rseq_run, . - etwas_rseq_run

#endif

        .section .note.GNU-stack, "", %progbits
