/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_rseq_run for x86-64. The steps are numbered as in rseq.h.
 *
 *     rdi   the sequence, then the target of a copy
 *     r10   the sequence
 *     r11   distance from the thread pointer to cpu_id; rseq_cs lies 4 bytes behind it
 *
 * Only registers a function may change are used, and no stack, so that the abort point finds what
 * the entry point left.
 */
#include "platform/branch_protection.h"

#if defined(__x86_64__) && defined(ETWAS_WITH_RSEQ)

#define CHECKS      0
#define CHECK_COUNT 8
#define COPIES      16
#define COPY_COUNT  24
#define TARGET      32
#define EXPECTED    40
#define VALUE       48
#define PROCESSOR   56
#define EXCHANGE    60

#define ABORTED   1
#define MOVED     2
#define CHANGED   3

/*
 * Longer copies are made in blocks of 64 bytes, of which each but the first and the last fills a
 * line of the cache: stores across two lines are slower. On Sapphire Rapids that is about as fast
 * as memcpy from 256 bytes to 4 KB, and as `rep movsb` at 16 KB; without whole lines 4 KB take 1.8
 * times as long. The copy has to be done between two interruptions.
 */
#define LARGE_BYTES 128

/* The signature that the kernel wants in front of an abort point, an instruction's operand. */
#define SIGNATURE 0x53053053

#ifdef ETWAS_TESTPOINTS
        .hidden etwas_rseq_trap
#define TRAP(number)                              \
        cmpl    $number, etwas_rseq_trap(%rip);   \
        jne     77f;                              \
        int3;                                     \
77:
#else
#define TRAP(number)
#endif

/* Copies 64 bytes; \store needs an aligned place, or does not. */
        .macro  BLOCK store, from, to
        movups  (\from), %xmm0
        movups  16(\from), %xmm1
        movups  32(\from), %xmm2
        movups  48(\from), %xmm3
        \store  %xmm0, (\to)
        \store  %xmm1, 16(\to)
        \store  %xmm2, 32(\to)
        \store  %xmm3, 48(\to)
        .endm

/*
 * The sequence with one kind of commit. \kind is `store` or `exchange`; the last instruction before
 * .Lend is the commit.
 */
        .macro  SEQUENCE kind
        .pushsection __rseq_cs, "aw", @progbits
        .balign 32
.Ldescriptor_\kind:
        .long   0, 0
        .quad   .Lstart_\kind, .Lend_\kind - .Lstart_\kind, .Labort
        .popsection

        leaq    .Ldescriptor_\kind(%rip), %rax
        movq    %rax, %fs:4(%r11)               /* 1 */
.Lstart_\kind:
        TRAP(1)
        movl    PROCESSOR(%r10), %eax           /* 2 */
        cmpl    %fs:(%r11), %eax
        jne     .Lmoved
        TRAP(2)

        movq    CHECKS(%r10), %rsi              /* 3 */
        movq    CHECK_COUNT(%r10), %rcx
        shlq    $4, %rcx
        jz      .Lchecked_\kind
        addq    %rcx, %rsi
        negq    %rcx
.Lcheck_\kind:
        movq    (%rsi, %rcx), %rax
        movq    (%rax), %rax
        cmpq    8(%rsi, %rcx), %rax
        jne     .Lchanged
        addq    $16, %rcx
        jnz     .Lcheck_\kind
.Lchecked_\kind:
        TRAP(3)

        movq    COPIES(%r10), %r8               /* 4 */
        movq    COPY_COUNT(%r10), %r9
.Lcopy_\kind:
        subq    $1, %r9
        jb      .Lcopied_\kind
        movq    (%r8), %rdi
        movq    8(%r8), %rsi
        movq    16(%r8), %rcx
        addq    $24, %r8
        cmpq    $LARGE_BYTES, %rcx
        jae     .Llarge_\kind
.Lwords_\kind:
        subq    $8, %rcx
        jb      .Ltail_\kind
.Lword_\kind:
        movq    (%rsi), %rax
        movq    %rax, (%rdi)
        addq    $8, %rsi
        addq    $8, %rdi
        subq    $8, %rcx
        jae     .Lword_\kind
.Ltail_\kind:
        addq    $8, %rcx
        jz      .Lcopy_\kind
.Lbyte_\kind:
        movzbl  (%rsi), %eax
        movb    %al, (%rdi)
        addq    $1, %rsi
        addq    $1, %rdi
        subq    $1, %rcx
        jnz     .Lbyte_\kind
        jmp     .Lcopy_\kind
.Llarge_\kind:
        BLOCK   movups, %rsi, %rdi
        TRAP(5)
        movl    %edi, %eax                      /* on to the next line: 1 to 64 bytes */
        andl    $63, %eax
        subq    $64, %rax
        subq    %rax, %rsi
        subq    %rax, %rdi
        addq    %rax, %rcx
.Lblock_\kind:
        BLOCK   movaps, %rsi, %rdi
        addq    $64, %rsi
        addq    $64, %rdi
        subq    $64, %rcx
        cmpq    $64, %rcx
        jae     .Lblock_\kind
        leaq    -64(%rsi, %rcx), %rsi           /* the last 64 bytes, some of them once more */
        leaq    -64(%rdi, %rcx), %rdi
        BLOCK   movups, %rsi, %rdi
        jmp     .Lcopy_\kind
.Lcopied_\kind:
        TRAP(4)

        movq    TARGET(%r10), %rdx              /* 5 */
        movq    VALUE(%r10), %rcx
        .ifc \kind, store
        movq    %rcx, (%rdx)
        .else
        movq    EXPECTED(%r10), %rax
        lock cmpxchgq %rcx, (%rdx)
        .endif
.Lend_\kind:
        .endm

        .text
        .hidden etwas_processor_offset
        .globl  etwas_rseq_run
        .hidden etwas_rseq_run
        .type   etwas_rseq_run, @function
        .balign 64
etwas_rseq_run:
        .cfi_startproc
        ETWAS_BRANCH_TARGET
        movq    %rdi, %r10
        movq    etwas_processor_offset(%rip), %r11
        cmpl    $0, EXCHANGE(%r10)
        jne     .Lexchange

        SEQUENCE store
.Lcommitted:
        xorl    %eax, %eax                      /* 6 */
        ret

.Lexchange:
        SEQUENCE exchange
        je      .Lcommitted
.Lchanged:
        movl    $CHANGED, %eax
        ret
.Lmoved:
        movl    $MOVED, %eax
        ret

        .byte   0x0f, 0xb9, 0x3d                /* ud1, never executed */
        .long   SIGNATURE
.Labort:
        movl    $ABORTED, %eax                  /* 7 */
        ret
        .cfi_endproc
        .size   etwas_rseq_run, . - etwas_rseq_run

#endif

        .section .note.GNU-stack, "", @progbits
