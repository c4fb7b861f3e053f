/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Included by the assembler files, also by one that is empty on this architecture. It marks the
 * object as using the branch protection that it is built with (-fcf-protection on x86-64,
 * -mbranch-protection on aarch64). The linker disables the protection of the whole library if one
 * object lacks the mark.
 *
 * ETWAS_BRANCH_TARGET stands where a function may be entered by an indirect branch. An abort point
 * needs none: the kernel sets the program counter there, which is no branch.
 */
#ifdef __CET__

#include <cet.h>
#define ETWAS_BRANCH_TARGET _CET_ENDBR

#elif defined(__ARM_FEATURE_BTI_DEFAULT) || defined(__ARM_FEATURE_PAC_DEFAULT)

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define ETWAS_BTI 1
#define ETWAS_BRANCH_TARGET bti c
#else
#define ETWAS_BTI 0
#define ETWAS_BRANCH_TARGET
#endif
#ifdef __ARM_FEATURE_PAC_DEFAULT
#define ETWAS_PAC 2
#else
#define ETWAS_PAC 0
#endif

/* clang-format off */
        .pushsection .note.gnu.property, "a", %note
        .balign 8
        .long   4, 16, 5                /* bytes of the name, of the value; the note's type */
        .asciz  "GNU"
        .long   0xc0000000, 4                   /* GNU_PROPERTY_AARCH64_FEATURE_1_AND, bytes */
        .long   ETWAS_BTI | ETWAS_PAC, 0
        .popsection
/* clang-format on */

#else
#define ETWAS_BRANCH_TARGET
#endif
