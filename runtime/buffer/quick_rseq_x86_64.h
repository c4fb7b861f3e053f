/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The machine code of quick_rseq.h for x86-64.
 *
 * Step 8 is one addition to memory and needs no lock: the word is this processor's, and anything
 * that could come between its load and its store aborts the sequence before or comes after. x86-64
 * keeps its store after all earlier ones: a release.
 */
#ifndef ETWAS_BUFFER_QUICK_RSEQ_X86_64_H
#define ETWAS_BUFFER_QUICK_RSEQ_X86_64_H

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
 * The common beginning and end of the sequences.
 *
 * ARM is steps 1 to 3: r9 holds the distance from the thread pointer to cpu_id, r8 the descriptor,
 * then the slot's index. BEGIN, steps 1 to 5, ends with the record's place in r9 and its last unit
 * zeroed; r8 held the word and its buffer, r10 the units before the record. COMMIT is steps 7 and
 * 8: r9 holds the record's units, to which it adds one record, and the sum it adds to the word. All
 * copying stands before the commit: the range the kernel aborts is one piece and ends with the
 * commit.
 */
/* clang-format off */
#define ETWAS_QUICK_ARM                                                                            \
        ".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
        ".balign 32\n"                                                                             \
        "1:\n\t"                                                                                   \
        ".long 0, 0\n\t"                                                                           \
        ".quad 2f, 3f - 2f, 4f\n\t"                                                                \
        ".popsection\n\t"                                                                          \
        ".pushsection .text.unlikely, \"ax\"\n\t"                                                  \
        ".byte 0x0f, 0xb9, 0x3d\n\t"                /* ud1, never executed */                      \
        ".long 0x53053053\n"                        /* the kernel's signature of abort points */   \
        "4:\n\t"                                                                                   \
        "jmp %l[aborted]\n\t"                       /* 9 */                                        \
        ".popsection\n\t"                                                                          \
        ETWAS_QUICK_TRAP(15)                                                                       \
        "movq %[offset], %%r9\n\t"                                                                 \
        "leaq 1b(%%rip), %%r8\n\t"                                                                 \
        "movq %%r8, %%fs:4(%%r9)\n"                 /* 1 */                                        \
        "2:\n\t"                                                                                   \
        ETWAS_QUICK_TRAP(16)                                                                       \
        "movl %c[index](%[slot]), %%r8d\n\t"                                                       \
        "cmpl %%r8d, %%fs:(%%r9)\n\t"               /* 2 */                                        \
        "jne %l[other]\n\t"                                                                        \
        "cmpl %k[generation], %c[gate](%[slot])\n\t" /* 3 */                                       \
        "jne %l[other]\n\t"                                                                        \
        ETWAS_QUICK_TRAP(17)

#define ETWAS_QUICK_BEGIN                                                                          \
        ETWAS_QUICK_ARM                                                                            \
        "movq %c[word](%[slot]), %%r8\n\t"          /* 4 */                                        \
        "movl %%r8d, %%r10d\n\t"                                                                   \
        "andl %[units_mask], %%r10d\n\t"                                                           \
        "leal (%%r10,%[units]), %%r9d\n\t"                                                         \
        "cmpl %c[limit](%[slot]), %%r9d\n\t"                                                       \
        "ja %l[other]\n\t"                                                                         \
        "cmpq %[stamp], %c[newest](%[slot])\n\t"    /* 5 */                                        \
        "jg %l[other]\n\t"                                                                         \
        "shrq %[units_bits], %%r8\n\t"                                                             \
        "andl %c[mask](%[slot]), %%r8d\n\t"                                                        \
        "movl %c[limit](%[slot]), %%r9d\n\t"                                                       \
        "imulq %%r8, %%r9\n\t"                                                                     \
        "addq %%r10, %%r9\n\t"                                                                     \
        "shlq $3, %%r9\n\t"                                                                        \
        "addq %c[region](%[slot]), %%r9\n\t"                                                       \
        "movq $0, -8(%%r9,%[units],8)\n\t"          /* 6 */

#define ETWAS_QUICK_COMMIT(ADD_RECORDS)                                                            \
        ETWAS_QUICK_TRAP(19)                                                                       \
        "movq %[stamp], %c[newest](%[slot])\n\t"    /* 7 */                                        \
        ADD_RECORDS                                                                                \
        ETWAS_QUICK_TRAP(20)                                                                       \
        "addq %%r9, %c[word](%[slot])\n"            /* 8 */                                        \
        "3:\n\t"

#define ETWAS_QUICK_ONE_RECORD "btsq %[one_record], %%r9\n\t"

/* The offset of a member of the process-local data from the slot. */
#define ETWAS_QUICK_LOCAL(NAME)                                                                    \
        ((int)offsetof(struct etwas_slot_local, NAME) - (int)ETWAS_SLOT_LOCAL_BYTES)

#define ETWAS_QUICK_OPERANDS(SLOT, GENERATION, STAMP)                                              \
        [offset] "m"(etwas_processor_offset), [slot] "r"(SLOT), [generation] "r"(GENERATION),      \
        [stamp] "r"(STAMP), [one_record] "i"(ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS),                \
        [word] "i"(offsetof(struct etwas_slot, word)),                                             \
        [newest] "i"(offsetof(struct etwas_slot, newest)),                                         \
        [gate] "i"(offsetof(struct etwas_slot, gate)),                                             \
        [limit] "i"(ETWAS_QUICK_LOCAL(limit_units)), [mask] "i"(ETWAS_QUICK_LOCAL(buffer_mask)),   \
        [region] "i"(ETWAS_QUICK_LOCAL(region)),                                                   \
        [index] "i"(offsetof(struct etwas_slot, processor)),                                       \
        [units_mask] "i"((1 << ETWAS_UNITS_BITS) - 1), [units_bits] "i"(ETWAS_UNITS_BITS)
/* clang-format on */

/* `slot` was found by the thread's cpu_id. `generation`, the session's, is not 0. */
static inline __attribute__((always_inline)) enum etwas_quick_rseq etwas_quick_rseq(
    struct etwas_slot *slot, uint32_t generation, const struct etwas_quick_record *record)
{
    const uint64_t units =
        (sizeof(struct etwas_etl_instance_header) + record->payload_bytes + ETWAS_UNIT_BYTES - 1) /
        ETWAS_UNIT_BYTES;

    /*
     * r10: offsets into the payload, which begins 56 bytes behind `before` and 72 behind the place.
     * 16 to 32 bytes of payload are two moves that may overlap.
     */
    /* clang-format off */
    __asm__ goto(
        ETWAS_QUICK_BEGIN
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
        "movq %[units], %%r9\n\t"
        ETWAS_QUICK_COMMIT(ETWAS_QUICK_ONE_RECORD)
        :
        : ETWAS_QUICK_OPERANDS(slot, generation, record->stamp), [units] "r"(units),
          [before] "r"(record->before), [bytes] "r"(record->payload_bytes),
          [start] "x"(record->start), [guid] "x"(record->guid), [instances] "x"(record->instances),
          [parent] "x"(record->parent)
        : "r8", "r9", "r10", "xmm0", "xmm1", "cc", "memory"
        : aborted, other);
    /* clang-format on */
    return ETWAS_QUICK_COMMITTED;
aborted:
    return ETWAS_QUICK_ABORTED;
other:
    return ETWAS_QUICK_OTHER;
}

/*
 * Copies the pieces from r11 to `end`. r8: the source of a piece; r10: its length; r9: its target
 * in the record; rax: the remaining room.
 *
 * A piece of 16 bytes or more is copied in moves of 16 from its beginning, and its last 16 bytes in
 * one that may overlap them; a shorter one in two moves that may overlap. A large one is copied as
 * etwas_rseq_run does it (platform/rseq_x86_64.S).
 */
/* clang-format off */
/* Copies 64 bytes; STORE needs an aligned place, or does not. */
#define ETWAS_QUICK_BLOCK(STORE, FROM, TO)                                                         \
        ".irp at, 0, 16, 32, 48\n\t"                                                               \
        "movups \\at(" FROM "), %%xmm0\n\t"                                                        \
        STORE " %%xmm0, \\at(" TO ")\n\t"                                                          \
        ".endr\n\t"

#define ETWAS_QUICK_NEXT_PIECE                                                                     \
        "addq $16, %%r11\n\t"                                                                      \
        "cmpq %[end], %%r11\n\t"                                                                   \
        "jne 50b\n"

#define ETWAS_QUICK_COPY(CHECK)                                                                    \
        "cmpq %[end], %%r11\n\t"                                                                   \
        "je 6f\n"                                                                                  \
        "50:\n\t"                                                                                  \
        "movl %c[length](%%r11), %%r10d\n\t"                                                       \
        CHECK                                                                                      \
        "movq (%%r11), %%r8\n\t"                                                                   \
        "subq %%r10, %%rax\n\t"                                                                    \
        "jb %l[other]\n\t"                                                                         \
        "testq %%r8, %%r8\n\t"                                                                     \
        "je %l[other]\n\t"                                                                         \
        "cmpl $16, %%r10d\n\t"                                                                     \
        "jae 55f\n\t"                                                                              \
        "cmpl $8, %%r10d\n\t"                                                                      \
        "jb 52f\n\t"                                                                               \
        "movq (%%r8), %%xmm0\n\t"                   /* 8 to 15 */                                  \
        "movq -8(%%r8,%%r10), %%xmm1\n\t"                                                          \
        "movq %%xmm0, (%%rcx,%%r9)\n\t"                                                            \
        "addq %%r10, %%r9\n\t"                                                                     \
        "movq %%xmm1, -8(%%rcx,%%r9)\n"                                                            \
        "51:\n\t"                                                                                  \
        ETWAS_QUICK_NEXT_PIECE                                                                     \
        "jmp 6f\n"                                                                                 \
        "52:\n\t"                                                                                  \
        "cmpl $4, %%r10d\n\t"                                                                      \
        "jb 53f\n\t"                                                                               \
        "movd (%%r8), %%xmm0\n\t"                   /* 4 to 7 */                                   \
        "movd -4(%%r8,%%r10), %%xmm1\n\t"                                                          \
        "movd %%xmm0, (%%rcx,%%r9)\n\t"                                                            \
        "addq %%r10, %%r9\n\t"                                                                     \
        "movd %%xmm1, -4(%%rcx,%%r9)\n\t"                                                          \
        "jmp 51b\n"                                                                                \
        "53:\n\t"                                   /* 0 to 3, by way of rax */                    \
        "movq %%rax, %%xmm0\n\t"                                                                   \
        "addq %%r8, %%r10\n"                                                                       \
        "54:\n\t"                                                                                  \
        "cmpq %%r10, %%r8\n\t"                                                                     \
        "je 57f\n\t"                                                                               \
        "movb (%%r8), %%al\n\t"                                                                    \
        "movb %%al, (%%rcx,%%r9)\n\t"                                                              \
        "addq $1, %%r8\n\t"                                                                        \
        "addq $1, %%r9\n\t"                                                                        \
        "jmp 54b\n"                                                                                \
        "57:\n\t"                                                                                  \
        "movq %%xmm0, %%rax\n\t"                                                                   \
        "jmp 51b\n"                                                                                \
        "58:\n\t"                                   /* more than 32 are left */                    \
        "cmpl %[large], %%r10d\n\t"                                                                \
        "jae 70f\n\t"                                                                              \
        "addq $16, %%r8\n\t"                                                                       \
        "addq $16, %%r9\n\t"                                                                       \
        "subq $16, %%r10\n\t"                                                                      \
        "jmp 56f\n"                                                                                \
        "70:\n\t"                                   /* by lines; rax lies in xmm2 */               \
        "movq %%rax, %%xmm2\n\t"                                                                   \
        ETWAS_QUICK_BLOCK("movups", "%%r8", "%%rcx,%%r9")                                          \
        "leal (%%rcx,%%r9), %%eax\n\t"              /* on to the next line: 1 to 64 bytes */       \
        "andl $63, %%eax\n\t"                                                                      \
        "subq $64, %%rax\n\t"                                                                      \
        "subq %%rax, %%r8\n\t"                                                                     \
        "subq %%rax, %%r9\n\t"                                                                     \
        "addq %%rax, %%r10\n"                                                                      \
        "71:\n\t"                                                                                  \
        ETWAS_QUICK_BLOCK("movaps", "%%r8", "%%rcx,%%r9")                                          \
        "addq $64, %%r8\n\t"                                                                       \
        "addq $64, %%r9\n\t"                                                                       \
        "subq $64, %%r10\n\t"                                                                      \
        "cmpq $64, %%r10\n\t"                                                                      \
        "jae 71b\n\t"                                                                              \
        "leaq -64(%%r8,%%r10), %%r8\n\t"            /* the last 64 bytes, some of them once more */\
        "leaq -64(%%r9,%%r10), %%r9\n\t"                                                           \
        ETWAS_QUICK_BLOCK("movups", "%%r8", "%%rcx,%%r9")                                          \
        "addq $64, %%r9\n\t"                                                                       \
        "movq %%xmm2, %%rax\n\t"                                                                   \
        "jmp 51b\n"                                                                                \
        "55:\n\t"                                                                                  \
        "movups -16(%%r8,%%r10), %%xmm1\n"                                                         \
        "56:\n\t"                                                                                  \
        "movups (%%r8), %%xmm0\n\t"                                                                \
        "movups %%xmm0, (%%rcx,%%r9)\n\t"                                                          \
        "cmpl $32, %%r10d\n\t"                                                                     \
        "ja 58b\n\t"                                                                               \
        "addq %%r10, %%r9\n\t"                                                                     \
        "movups %%xmm1, -16(%%rcx,%%r9)\n\t"                                                       \
        ETWAS_QUICK_NEXT_PIECE                                                                     \
        "6:\n\t"

/* CHECK, with what comes before the loop: r11 is the first of the pieces that are left. */
#define ETWAS_QUICK_ANYTHING ""
#define ETWAS_QUICK_ANYTHING_FIRST "movq %[pieces], %%r11\n\t"
#define ETWAS_QUICK_DATA                                                                           \
        "cmpl $0, %c[type](%%r11)\n\t"                                                             \
        "jne %l[other]\n\t"
#define ETWAS_QUICK_DATA_FIRST ETWAS_QUICK_ANYTHING_FIRST
#define ETWAS_QUICK_ITEMS_AND_DATA ETWAS_QUICK_DATA
#define ETWAS_QUICK_ITEMS_AND_DATA_FIRST                                                           \
        ETWAS_QUICK_ITEM(0, 60, 61)                                                                \
        ETWAS_QUICK_ITEM(16, 62, 63)                                                               \
        "leaq 32(%[pieces]), %%r11\n\t"

/* A piece whose type is known: an item, which has 16 bytes at least. */
#define ETWAS_QUICK_ITEM(AT, MORE, LAST)                                                           \
        "movl %c[length] + " #AT "(%[pieces]), %%r10d\n\t"                                         \
        "movq " #AT "(%[pieces]), %%r8\n\t"                                                        \
        "subq %%r10, %%rax\n\t"                                                                    \
        "jb %l[other]\n\t"                                                                         \
        "testq %%r8, %%r8\n\t"                                                                     \
        "je %l[other]\n\t"                                                                         \
        "cmpl $16, %%r10d\n\t"                                                                     \
        "jb %l[other]\n\t"                                                                         \
        "movups -16(%%r8,%%r10), %%xmm1\n"                                                         \
        #MORE ":\n\t"                                                                              \
        "movups (%%r8), %%xmm0\n\t"                                                                \
        "movups %%xmm0, (%%rcx,%%r9)\n\t"                                                          \
        "cmpl $32, %%r10d\n\t"                                                                     \
        "jbe " #LAST "f\n\t"                                                                       \
        "addq $16, %%r8\n\t"                                                                       \
        "addq $16, %%r9\n\t"                                                                       \
        "subq $16, %%r10\n\t"                                                                      \
        "jmp " #MORE "b\n"                                                                         \
        #LAST ":\n\t"                                                                              \
        "addq %%r10, %%r9\n\t"                                                                     \
        "movups %%xmm1, -16(%%rcx,%%r9)\n\t"

/* Steps 4 and 5: the place in rcx, the bytes from there to the end of the buffer in rax. */
#define ETWAS_QUICK_PLACE                                                                          \
        "movq %c[word](%[slot]), %%rcx\n\t"     /* 4 */                                            \
        "cmpq %[stamp], %c[newest](%[slot])\n\t" /* 5 */                                           \
        "jg %l[other]\n\t"                                                                         \
        "movl %c[limit](%[slot]), %%eax\n\t"                                                       \
        "movq %%rcx, %%r8\n\t"                                                                     \
        "andl %[units_mask], %%ecx\n\t"                                                            \
        "shrq %[units_bits], %%r8\n\t"                                                             \
        "andl %c[mask](%[slot]), %%r8d\n\t"                                                        \
        "imulq %%rax, %%r8\n\t"                                                                    \
        "subq %%rcx, %%rax\n\t"                                                                    \
        "addq %%r8, %%rcx\n\t"                                                                     \
        "shlq $3, %%rcx\n\t"                                                                       \
        "addq %c[region](%[slot]), %%rcx\n\t"                                                      \
        "shlq $3, %%rax\n\t"

/* HEADER stores the header at rcx, all but its first 8 bytes. */
#define ETWAS_QUICK_PIECES(NAME, HEADER, STEP, CHECK)                                              \
    static inline __attribute__((always_inline)) enum etwas_quick_rseq NAME(                       \
        struct etwas_slot *slot, uint32_t generation,                                              \
        const struct etwas_quick_header *header, int64_t stamp, const void *pieces,                \
        uint64_t count)                                                                            \
    {                                                                                              \
        __asm__ goto(                                                                              \
            ETWAS_QUICK_ARM                                                                        \
            ETWAS_QUICK_PLACE                                                                      \
            "subq $" #STEP " + 8, %%rax\n\t"                                                       \
            "jl %l[other]\n\t"                                                                     \
            "movl $" #STEP ", %%r9d\n\t"                                                           \
            HEADER                                  /* 6 */                                        \
            ETWAS_QUICK_TRAP(18)                                                                   \
            CHECK##_FIRST                                                                          \
            ETWAS_QUICK_COPY(CHECK)                                                                \
            "movq $0, (%%rcx,%%r9)\n\t"                                                            \
            "cmpl $0xFFFF, %%r9d\n\t"                                                              \
            "ja %l[other]\n\t"                                                                     \
            "leaq (%[start],%%r9), %%r8\n\t"                                                       \
            "movq %%r8, (%%rcx)\n\t"                                                               \
            "addl $7, %%r9d\n\t"                                                                   \
            "shrl $3, %%r9d\n\t"                                                                   \
            ETWAS_QUICK_COMMIT(ETWAS_QUICK_ONE_RECORD)                                             \
            :                                                                                      \
            : ETWAS_QUICK_OPERANDS(slot, generation, stamp), [pieces] "r"(pieces),                 \
              [end] "rm"((uintptr_t)pieces + count * sizeof(MOF_FIELD)),                           \
              [length] "i"(offsetof(MOF_FIELD, Length)),                                           \
              [type] "i"(offsetof(MOF_FIELD, DataType)), [large] "i"(ETWAS_QUICK_LARGE_BYTES),     \
              [start] "r"(header->start),                                                          \
              [ids] "rx"(header->ids), [second] "x"(header->second), [third] "x"(header->third),   \
              [fourth] "x"(header->fourth)                                                         \
            : "rax", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "cc", "memory"       \
            : aborted, other);                                                                     \
        return ETWAS_QUICK_COMMITTED;                                                              \
    aborted:                                                                                       \
        return ETWAS_QUICK_ABORTED;                                                                \
    other:                                                                                         \
        return ETWAS_QUICK_OTHER;                                                                  \
    }

/* Parts of a header, to the record's place. */
#define ETWAS_QUICK_PUT(PART, AT) "movups %[" #PART "], " #AT "(%%rcx)\n\t"
#define ETWAS_QUICK_PUT_WORD(WORD, AT) "movq %[" #WORD "], " #AT "(%%rcx)\n\t"
#define ETWAS_QUICK_PUT_ZERO(AT) "movq $0, " #AT "(%%rcx)\n\t"
/* clang-format on */

/*
 * Copies a batch from its image, by 64 bytes; the last 64 may overlap those before. r8: the source;
 * rcx: the target; r9: the bytes that are left.
 */
static inline __attribute__((always_inline)) enum etwas_quick_rseq etwas_quick_image(
    struct etwas_slot *slot, uint32_t generation, int64_t stamp,
    const struct etwas_batch_image *image)
{
    /* clang-format off */
    __asm__ goto(
        ETWAS_QUICK_ARM
        ETWAS_QUICK_PLACE
        "movl %[bytes], %%r9d\n\t"
        "movq %[data], %%r8\n\t"
        "cmpq %%r9, %%rax\n\t"
        "jl %l[other]\n\t"
        ETWAS_QUICK_TRAP(18)
        "subq $64, %%r9\n\t"                        /* 6 */
        "jb %l[other]\n"
        "80:\n\t"
        ETWAS_QUICK_BLOCK("movups", "%%r8", "%%rcx")
        "addq $64, %%r8\n\t"
        "addq $64, %%rcx\n\t"
        "subq $64, %%r9\n\t"
        "ja 80b\n\t"
        ETWAS_QUICK_BLOCK("movups", "%%r8,%%r9", "%%rcx,%%r9")
        "movl %[bytes], %%r9d\n\t"
        "shrl $3, %%r9d\n\t"
        ETWAS_QUICK_COMMIT("addq %[records], %%r9\n\t")
        :
        : ETWAS_QUICK_OPERANDS(slot, generation, stamp), [data] "r"(image->data),
          [bytes] "rm"(image->bytes),
          [records] "rm"((uint64_t)image->records << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS))
        : "rax", "rcx", "r8", "r9", "xmm0", "cc", "memory"
        : aborted, other);
    /* clang-format on */
    return ETWAS_QUICK_COMMITTED;
aborted:
    return ETWAS_QUICK_ABORTED;
other:
    return ETWAS_QUICK_OTHER;
}

#endif
