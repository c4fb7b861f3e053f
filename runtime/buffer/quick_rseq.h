/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * PUBLISH of publish_rseq.c for the commonest record, inlined into TraceEventInstance: an
 * instance header and a payload in one piece of at most ETWAS_QUICK_PAYLOAD_BYTES. The record is
 * written from registers and the caller's memory straight to its place.
 *
 *              1  rseq_cs ← descriptor                           arms the sequence
 *     start:   2  slot.index ≠ cpu_id                            → exit OTHER
 *              3  slot.gate ≠ generation                         → exit OTHER
 *              4  w ← slot.word;  w.units + units > slot.limit   → exit OTHER
 *              5  stamp < slot.newest                            → exit OTHER
 *              6  zero the record's last unit; copy header and payload to w's place
 *              7  slot.newest ← stamp
 *              8  slot.word ← w + {1 record, 0, units}           the commit
 *     end:        → COMMITTED
 *     abort:   9                                                 → exit ABORTED
 *
 * Step 8 is one addition to memory and needs no lock: the word is this processor's, and whatever
 * could come between its load and its store aborts the sequence before or comes after. Its store
 * x86-64 keeps behind all earlier ones: a release.
 *
 * What is read of the slot outside the sequence (kind, and with it the clock) belongs to the
 * session of the gate that step 3 finds.
 *
 * Ten cache lines for an event of 88 bytes, besides the stack and the caller's event: the slot, the
 * class, the thread's ids, its rseq area, the linker's entry for the ids, the globals (three lines,
 * never written after the start), and the two of the record. Only slot and record are written to,
 * and the rseq area; no line is shared with another processor's writers.
 *
 * For anything else nothing is committed, and the caller takes the general way.
 */
#ifndef ETWAS_BUFFER_QUICK_RSEQ_H
#define ETWAS_BUFFER_QUICK_RSEQ_H

#include "platform/rseq.h"

/* aarch64 has the general way only. */
#if ETWAS_RSEQ && defined(__x86_64__)
#define ETWAS_QUICK_RSEQ 1

#include <emmintrin.h>
#include <etwas/evntrace.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "etl/layout.h"
#include "platform/processor.h"

enum {
    ETWAS_QUICK_PAYLOAD_BYTES = 1024
};

enum etwas_quick_rseq {
    ETWAS_QUICK_COMMITTED,
    ETWAS_QUICK_ABORTED,
    ETWAS_QUICK_OTHER
};

_Static_assert(sizeof(EVENT_INSTANCE_HEADER) == 56, "the payload's offset in the sequence");
_Static_assert(sizeof(struct etwas_etl_instance_header) == 72, "and in the record");

/* What one record adds to a word, beside its units: too large for an instruction. */
static const uint64_t etwas_one_record = UINT64_C(1) << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS);

/* A record in registers. */
struct etwas_quick_record {
    __m128i start;          /* bytes 0..15: marker, class, thread and process id */
    __m128i guid;           /* 24..39 */
    __m128i instances;      /* 40..55: no times, instance and parent instance id */
    __m128i parent;         /* 56..71: its GUID */
    int64_t stamp;          /* 16..23 */
    const void *before;     /* the payload begins an event header's size behind it */
    uint64_t payload_bytes; /* at most ETWAS_QUICK_PAYLOAD_BYTES */
};

#ifdef ETWAS_TESTPOINTS
#define ETWAS_QUICK_TRAP(number)                                                                   \
    "cmpl $" #number ", etwas_rseq_trap(%%rip)\n\t"                                                \
    "jne 7f\n\t"                                                                                   \
    "int3\n"                                                                                       \
    "7:\n\t"
#else
#define ETWAS_QUICK_TRAP(number) ""
#endif

/*
 * `slot` was found by the thread's cpu_id. `generation_above` has the session's generation, which
 * is not 0, in bits 8 to 39, as a session's handle has.
 */
static inline __attribute__((always_inline)) enum etwas_quick_rseq etwas_quick_rseq(
    struct etwas_slot *slot, uint64_t generation_above, const struct etwas_quick_record *record)
{
    const uint64_t units =
        (sizeof(struct etwas_etl_instance_header) + record->payload_bytes + ETWAS_UNIT_BYTES - 1) /
        ETWAS_UNIT_BYTES;

    /*
     * r8: the word, its buffer, what the commit adds; r9: distance from the thread pointer to
     * cpu_id, then the place; r10: units, then offsets into the payload, which begins 56 bytes
     * behind `before` and 72 behind the place. 16 to 32 bytes of payload are two moves that may
     * overlap. All copying stands before the commit: the range the kernel aborts is one piece and
     * ends with the commit.
     */
    /* clang-format off */
    __asm__ goto(
        ".pushsection __rseq_cs, \"aw\"\n\t"
        ".balign 32\n"
        "1:\n\t"
        ".long 0, 0\n\t"
        ".quad 2f, 3f - 2f, 4f\n\t"
        ".popsection\n\t"
        ".pushsection .text.unlikely, \"ax\"\n\t"
        ".byte 0x0f, 0xb9, 0x3d\n\t"                /* ud1, never executed */
        ".long 0x53053053\n"                        /* the kernel's signature of abort points */
        "4:\n\t"
        "jmp %l[aborted]\n\t"                       /* 9 */
        ".popsection\n\t"

        ETWAS_QUICK_TRAP(15)
        "movq %[offset], %%r9\n\t"
        "leaq 1b(%%rip), %%r8\n\t"
        "movq %%r8, %%fs:4(%%r9)\n"                 /* 1 */
        "2:\n\t"
        ETWAS_QUICK_TRAP(16)
        "movl %c[index](%[slot]), %%r8d\n\t"
        "cmpl %%r8d, %%fs:(%%r9)\n\t"               /* 2 */
        "jne %l[other]\n\t"
        "movq %[generation], %%r8\n\t"
        "shrq $8, %%r8\n\t"
        "cmpl %%r8d, %c[gate](%[slot])\n\t"         /* 3 */
        "jne %l[other]\n\t"
        ETWAS_QUICK_TRAP(17)
        "movq %c[word](%[slot]), %%r8\n\t"          /* 4 */
        "movl %%r8d, %%r10d\n\t"
        "andl %[units_mask], %%r10d\n\t"
        "leal (%%r10,%[units]), %%r9d\n\t"
        "cmpl %c[limit](%[slot]), %%r9d\n\t"
        "ja %l[other]\n\t"
        "cmpq %[stamp], %c[newest](%[slot])\n\t"    /* 5 */
        "jg %l[other]\n\t"
        "shrq %[units_bits], %%r8\n\t"
        "andl %[buffer_mask], %%r8d\n\t"
        "movl %c[limit](%[slot]), %%r9d\n\t"
        "imulq %%r8, %%r9\n\t"
        "addq %%r10, %%r9\n\t"
        "shlq $3, %%r9\n\t"
        "addq %c[region](%[slot]), %%r9\n\t"

        "movq $0, -8(%%r9,%[units],8)\n\t"          /* 6 */
        "movups %[start], (%%r9)\n\t"
        "movq %[stamp], 16(%%r9)\n\t"
        "movups %[guid], 24(%%r9)\n\t"
        "movups %[instances], 40(%%r9)\n\t"
        "movups %[parent], 56(%%r9)\n\t"
        ETWAS_QUICK_TRAP(18)
        "leaq -16(%[bytes]), %%r10\n\t"
        "cmpq $16, %%r10\n\t"
        "ja 5f\n\t"
        "movups 56(%[before]), %%xmm0\n\t"
        "movups 40(%[before],%[bytes]), %%xmm1\n\t"
        "movups %%xmm0, 72(%%r9)\n\t"
        "movups %%xmm1, 56(%%r9,%[bytes])\n\t"
        "jmp 6f\n"

        "5:\n\t"                                    /* by the flags: below 16 bytes, or above 32 */
        "js 51f\n"
        "50:\n\t"                                   /* from the end, the last 16 bytes first */
        "movups 56(%[before],%%r10), %%xmm0\n\t"
        "movups %%xmm0, 72(%%r9,%%r10)\n\t"
        "subq $16, %%r10\n\t"
        "ja 50b\n\t"
        "movups 56(%[before]), %%xmm0\n\t"
        "movups %%xmm0, 72(%%r9)\n\t"
        "jmp 6f\n"
        "51:\n\t"
        "addq $8, %%r10\n\t"
        "js 52f\n\t"
        "movq 56(%[before]), %%xmm0\n\t"            /* 8 to 15 */
        "movq 48(%[before],%[bytes]), %%xmm1\n\t"
        "movq %%xmm0, 72(%%r9)\n\t"
        "movq %%xmm1, 64(%%r9,%[bytes])\n\t"
        "jmp 6f\n"
        "52:\n\t"                                   /* 0 to 7 */
        "addq $8, %%r10\n\t"
        "jz 6f\n"
        "53:\n\t"
        "movb 55(%[before],%%r10), %%r8b\n\t"
        "movb %%r8b, 71(%%r9,%%r10)\n\t"
        "subq $1, %%r10\n\t"
        "jnz 53b\n"

        "6:\n\t"
        ETWAS_QUICK_TRAP(19)
        "movq %[stamp], %c[newest](%[slot])\n\t"    /* 7 */
        "movq %[one_record], %%r8\n\t"
        "addq %[units], %%r8\n\t"
        ETWAS_QUICK_TRAP(20)
        "addq %%r8, %c[word](%[slot])\n"            /* 8 */
        "3:\n\t"
        :
        : [offset] "m"(etwas_processor_offset), [slot] "r"(slot),
          [generation] "r"(generation_above), [units] "r"(units), [stamp] "r"(record->stamp),
          [before] "r"(record->before), [bytes] "r"(record->payload_bytes),
          [start] "x"(record->start), [guid] "x"(record->guid), [instances] "x"(record->instances),
          [parent] "x"(record->parent), [one_record] "m"(etwas_one_record),
          [word] "i"(offsetof(struct etwas_slot, word)),
          [newest] "i"(offsetof(struct etwas_slot, newest)),
          [gate] "i"(offsetof(struct etwas_slot, gate)),
          [limit] "i"(offsetof(struct etwas_slot, limit_units)),
          [region] "i"(offsetof(struct etwas_slot, region)),
          [index] "i"(offsetof(struct etwas_slot, index)),
          [units_mask] "i"((1 << ETWAS_UNITS_BITS) - 1), [units_bits] "i"(ETWAS_UNITS_BITS),
          [buffer_mask] "i"(ETWAS_NO_BUFFER)
        : "r8", "r9", "r10", "xmm0", "xmm1", "cc", "memory"
        : aborted, other);
    /* clang-format on */
    return ETWAS_QUICK_COMMITTED;
aborted:
    return ETWAS_QUICK_ABORTED;
other:
    return ETWAS_QUICK_OTHER;
}

#else
#define ETWAS_QUICK_RSEQ 0
#endif

#endif
