/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The machine code of quick_rseq.h for aarch64.
 *
 * Step 3 is an acquire: later loads use an address that depends on the value that it found. A
 * load-acquire would also wait for the store of the commit before it.
 *
 * Step 8 is a store-release of the word that step 4 loaded, with the addition: no other thread
 * writes it without aborting the sequence.
 *
 * A conditional jump does not reach everything that a program is linked to, so jumps to `other` go
 * to a jump inside the sequence.
 */
#ifndef ETWAS_BUFFER_QUICK_RSEQ_AARCH64_H
#define ETWAS_BUFFER_QUICK_RSEQ_AARCH64_H

/* clang-format off */

/*
 * The signal arrives with the thread before the brk: outside a sequence the test's handler steps
 * over it.
 */
#ifdef ETWAS_TESTPOINTS
#define ETWAS_QUICK_TRAP(number)                                                                   \
    "adrp x17, etwas_rseq_trap\n\t"                                                                \
    "ldr w17, [x17, :lo12:etwas_rseq_trap]\n\t"                                                    \
    "cmp w17, " #number "\n\t"                                                                     \
    "b.ne 7f\n\t"                                                                                  \
    "brk 1\n"                                                                                      \
    "7:\n\t"
#else
#define ETWAS_QUICK_TRAP(number) ""
#endif

/*
 * The common beginning and end of the sequences.
 *
 * ARM, steps 1 to 3, ends with the word in x16, and with the slot in x14 for the other accesses
 * that depend on step 3. COMMIT is steps 7 and 8, with the record's units added to x16. x17 holds
 * nothing for long. All copying stands before the commit: the range the kernel aborts is one piece
 * and ends with the commit.
 */
#define ETWAS_QUICK_ARM                                                                            \
        ".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
        ".balign 32\n"                                                                             \
        "1:\n\t"                                                                                   \
        ".long 0, 0\n\t"                                                                           \
        ".quad 2f, 3f - 2f, 4f\n\t"                                                                \
        ".popsection\n\t"                                                                          \
        ".pushsection .text.unlikely, \"ax\"\n\t"                                                  \
        ".inst 0xd428bc00\n"        /* the kernel's signature of abort points, never executed */   \
        "4:\n\t"                                                                                   \
        "b %l[aborted]\n\t"                         /* 9 */                                        \
        ".popsection\n\t"                                                                          \
        ETWAS_QUICK_TRAP(15)                                                                       \
        "adrp x17, 1b\n\t"                                                                         \
        "add x17, x17, :lo12:1b\n\t"                                                               \
        "stur x17, [%[area], 4]\n"                  /* 1 */                                        \
        "2:\n\t"                                                                                   \
        ETWAS_QUICK_TRAP(16)                                                                       \
        "ldr w16, [%[slot], %c[index]]\n\t"                                                        \
        "ldr w17, [%[area]]\n\t"                                                                   \
        "cmp w16, w17\n\t"                          /* 2 */                                        \
        "b.ne 9f\n\t"                                                                              \
        "ldr w14, [%[slot], %c[gate]]\n\t"                                                         \
        "eor w14, w14, %w[generation]\n\t"                                                         \
        "cbnz w14, 9f\n\t"                          /* 3 */                                        \
        "add x14, %[slot], w14, uxtw\n\t"                                                          \
        ETWAS_QUICK_TRAP(17)                                                                       \
        "ldr x16, [x14]\n\t"                        /* 4 */

#define ETWAS_QUICK_BEGIN                                                                          \
        ETWAS_QUICK_ARM                                                                            \
        "sub x15, x14, %c[local], lsl 12\n\t"                                                      \
        "ldp w13, w11, [x15, %c[limit]]\n\t"                                                       \
        "add x16, x16, %[units]\n\t"                                                               \
        "ubfx x12, x16, 0, %c[units_bits]\n\t"                                                     \
        "cmp w12, w13\n\t"                                                                         \
        "b.hi 9f\n\t"                                                                              \
        "ldr x9, [x14, %c[newest]]\n\t"                                                            \
        "cmp x9, %[stamp]\n\t"                      /* 5 */                                        \
        "b.gt 9f\n\t"                                                                              \
        "and x9, x11, x16, lsr %c[units_bits]\n\t"                                                 \
        "madd x12, x9, x13, x12\n\t"                                                               \
        "ldr x9, [x15, %c[region]]\n\t"                                                            \
        "add x9, x9, x12, lsl 3\n\t"                                                               \
        "stur xzr, [x9, -8]\n\t"                    /* 6 */                                        \
        "sub x9, x9, %[units], lsl 3\n\t"

#define ETWAS_QUICK_COMMIT(ADD_RECORDS)                                                            \
        ETWAS_QUICK_TRAP(19)                                                                       \
        "str %[stamp], [%[slot], %c[newest]]\n\t"   /* 7 */                                        \
        ADD_RECORDS                                                                                \
        ETWAS_QUICK_TRAP(20)                                                                       \
        "stlr x16, [%[slot]]\n"                     /* 8 */                                        \
        "3:\n\t"

#define ETWAS_QUICK_ONE_RECORD                                                                     \
        "mov x17, 1\n\t"                                                                           \
        "add x16, x16, x17, lsl %c[units_bits] + %c[buffer_bits]\n\t"

_Static_assert(offsetof(struct etwas_slot, word) == 0, "a store-release knows no offset");
_Static_assert(ETWAS_SLOT_LOCAL_BYTES % 4096 == 0 && ETWAS_SLOT_LOCAL_BYTES >> 24 == 0,
               "one subtraction leads from a slot to its local data");
_Static_assert(offsetof(struct etwas_slot_local, buffer_mask) ==
                   offsetof(struct etwas_slot_local, limit_units) + 4,
               "a limit and a mask are loaded together");
_Static_assert(offsetof(MOF_FIELD, DataType) == offsetof(MOF_FIELD, Length) + 4,
               "a piece's length and type are one word");

#define ETWAS_QUICK_OPERANDS(SLOT, GENERATION, STAMP)                                              \
        [area] "r"(etwas_thread_pointer() + etwas_processor_offset), [slot] "r"(SLOT),             \
        [generation] "r"(GENERATION), [stamp] "r"(STAMP),                                          \
        [newest] "i"(offsetof(struct etwas_slot, newest)),                                         \
        [gate] "i"(offsetof(struct etwas_slot, gate)),                                             \
        [local] "i"(ETWAS_SLOT_LOCAL_BYTES >> 12),                                                 \
        [limit] "i"(offsetof(struct etwas_slot_local, limit_units)),                               \
        [region] "i"(offsetof(struct etwas_slot_local, region)),                                   \
        [index] "i"(offsetof(struct etwas_slot, processor)),                                       \
        [units_bits] "i"(ETWAS_UNITS_BITS), [buffer_bits] "i"(ETWAS_BUFFER_BITS)

/* A part of the header as two operands. */
#define ETWAS_QUICK_PART(LOW, HIGH, PART) [LOW] "rZ"((PART).low), [HIGH] "rZ"((PART).high)

#define ETWAS_QUICK_CLOBBERS                                                                       \
        "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "v0", "v1", "v2", "v3", "cc",\
        "memory"

/* Parts of a header to the record's place. */
#define ETWAS_QUICK_PUT_WORDS(WORD, NEXT, AT) "stp %x[" #WORD "], %x[" #NEXT "], [x9, " #AT "]\n\t"
#define ETWAS_QUICK_PUT_WORD(WORD, AT) "str %x[" #WORD "], [x9, " #AT "]\n\t"
#define ETWAS_QUICK_PUT_ZERO(AT) "str xzr, [x9, " #AT "]\n\t"
#define ETWAS_QUICK_PUT(PART, AT) ETWAS_QUICK_PUT_WORDS(PART##_low, PART##_high, AT)

/*
 * Copies x12 bytes from x11 to x15, and ends with x10 behind the copy. From 16 bytes on the last 16
 * or 32 are two moves that may overlap those before; fewer are two moves that may overlap. x17 is
 * the end of the copied bytes. Here is also the jump, 9, to `other`.
 */
#define ETWAS_QUICK_COPY                                                                           \
        "add x17, x11, x12\n\t"                                                                    \
        "add x10, x15, x12\n\t"                                                                    \
        "cmp x12, 16\n\t"                                                                          \
        "b.hs 55f\n\t"                                                                             \
        "tbz x12, 3, 51f\n\t"                       /* 8 to 15 */                                  \
        "ldr x11, [x11]\n\t"                                                                       \
        "ldur x17, [x17, -8]\n\t"                                                                  \
        "str x11, [x15]\n\t"                                                                       \
        "stur x17, [x10, -8]\n\t"                                                                  \
        "b 57f\n"                                                                                  \
        "51:\n\t"                                                                                  \
        "tbz x12, 2, 52f\n\t"                       /* 4 to 7 */                                   \
        "ldr w11, [x11]\n\t"                                                                       \
        "ldur w17, [x17, -4]\n\t"                                                                  \
        "str w11, [x15]\n\t"                                                                       \
        "stur w17, [x10, -4]\n\t"                                                                  \
        "b 57f\n"                                                                                  \
        "52:\n\t"                                                                                  \
        "tbz x12, 1, 53f\n\t"                       /* 2 or 3 */                                   \
        "ldrh w11, [x11]\n\t"                                                                      \
        "ldurb w17, [x17, -1]\n\t"                                                                 \
        "strh w11, [x15]\n\t"                                                                      \
        "sturb w17, [x10, -1]\n\t"                                                                 \
        "b 57f\n"                                                                                  \
        "53:\n\t"                                                                                  \
        "cbz x12, 57f\n\t"                                                                         \
        "ldrb w11, [x11]\n\t"                                                                      \
        "strb w11, [x15]\n\t"                                                                      \
        "b 57f\n"                                                                                  \
        "9:\n\t"                                                                                   \
        "b %l[other]\n"                                                                            \
        "54:\n\t"                                   /* more than 32 */                             \
        "ldp q0, q1, [x17, -32]\n\t"                                                               \
        "sub x12, x12, 32\n"                                                                       \
        "540:\n\t"                                                                                 \
        "ldp q2, q3, [x11], 32\n\t"                                                                \
        "stp q2, q3, [x15], 32\n\t"                                                                \
        "subs x12, x12, 32\n\t"                                                                    \
        "b.hi 540b\n\t"                                                                            \
        "stp q0, q1, [x10, -32]\n\t"                                                               \
        "b 57f\n"                                                                                  \
        "55:\n\t"                                                                                  \
        "cmp x12, 32\n\t"                                                                          \
        "b.hi 54b\n\t"                                                                             \
        "ldr q0, [x11]\n\t"                                                                        \
        "ldur q1, [x17, -16]\n\t"                                                                  \
        "str q0, [x15]\n\t"                                                                        \
        "stur q1, [x10, -16]\n"                                                                    \
        "57:\n\t"

/* clang-format on */

/* `slot` was found by the thread's cpu_id. `generation`, the session's, is not 0. */
static inline __attribute__((always_inline)) enum etwas_quick_rseq etwas_quick_rseq(
    struct etwas_slot *slot, uint32_t generation, const struct etwas_quick_record *record)
{
    const uint64_t units =
        (sizeof(struct etwas_etl_instance_header) + record->payload_bytes + ETWAS_UNIT_BYTES - 1) /
        ETWAS_UNIT_BYTES;

    /* clang-format off */
    __asm__ goto(
        ETWAS_QUICK_BEGIN
        ETWAS_QUICK_PUT(start, 0)
        ETWAS_QUICK_PUT_WORD(stamp, 16)
        ETWAS_QUICK_PUT(guid, 24)
        ETWAS_QUICK_PUT(instances, 40)
        ETWAS_QUICK_PUT(parent, 56)
        "add x11, %[before], 56\n\t"
        "mov x12, %[bytes]\n\t"
        "add x15, x9, 72\n\t"
        ETWAS_QUICK_TRAP(18)
        ETWAS_QUICK_COPY
        ETWAS_QUICK_COMMIT(ETWAS_QUICK_ONE_RECORD)
        :
        : ETWAS_QUICK_OPERANDS(slot, generation, record->stamp), [units] "r"(units),
          [before] "r"(record->before), [bytes] "r"(record->payload_bytes),
          ETWAS_QUICK_PART(start_low, start_high, record->start),
          ETWAS_QUICK_PART(guid_low, guid_high, record->guid),
          ETWAS_QUICK_PART(instances_low, instances_high, record->instances),
          ETWAS_QUICK_PART(parent_low, parent_high, record->parent)
        : ETWAS_QUICK_CLOBBERS
        : aborted, other);
    /* clang-format on */
    return ETWAS_QUICK_COMMITTED;
aborted:
    return ETWAS_QUICK_ABORTED;
other:
    return ETWAS_QUICK_OTHER;
}

/*
 * CHECK. Each loads a piece's length: with a type above it, it is longer than any.
 */
/* clang-format off */
#define ETWAS_QUICK_ANYTHING "ldr w12, [x14, %c[length]]\n\t"
#define ETWAS_QUICK_DATA "ldr x12, [x14, %c[length]]\n\t"
#define ETWAS_QUICK_ITEMS_AND_DATA                                                                 \
        ETWAS_QUICK_DATA                                                                           \
        "sub x17, x14, %[pieces]\n\t"                                                              \
        "cmp x17, 32\n\t"                                                                          \
        "b.hs 50f\n\t"                                                                             \
        "mov w12, w12\n"                                                                           \
        "50:\n\t"
/* clang-format on */

/* clang-format off */
/* Steps 4 and 5: the place in x9, the bytes from there to the end of the buffer in x13. */
#define ETWAS_QUICK_PLACE                                                                          \
        "ldr x12, [x14, %c[newest]]\n\t"                                                           \
        "cmp x12, %[stamp]\n\t"                 /* 5 */                                            \
        "b.gt 9f\n\t"                                                                              \
        "sub x10, x14, %c[local], lsl 12\n\t"                                                      \
        "ldp w13, w12, [x10, %c[limit]]\n\t"                                                       \
        "ubfx x15, x16, 0, %c[units_bits]\n\t"                                                     \
        "and x12, x12, x16, lsr %c[units_bits]\n\t"                                                \
        "madd x12, x12, x13, x15\n\t"                                                              \
        "sub x13, x13, x15\n\t"                                                                    \
        "ldr x9, [x10, %c[region]]\n\t"                                                            \
        "add x9, x9, x12, lsl 3\n\t"                                                               \
        "lsl x13, x13, 3\n\t"

/* clang-format on */

/*
 * HEADER stores the header at x9, all but its first 8 bytes. x14 is the next piece, x13 the
 * remaining room, x10 the target of the next piece; lengths are added up in x8.
 */
/* clang-format off */
#define ETWAS_QUICK_PIECES(NAME, HEADER, STEP, CHECK)                                              \
    static inline __attribute__((always_inline)) enum etwas_quick_rseq NAME(                       \
        struct etwas_slot *slot, uint32_t generation,                                              \
        const struct etwas_quick_header *header, int64_t stamp, const void *pieces,                \
        uint64_t count)                                                                            \
    {                                                                                              \
        __asm__ goto(                                                                              \
            ETWAS_QUICK_ARM                                                                        \
            ETWAS_QUICK_PLACE                                                                      \
            "subs x13, x13, " #STEP " + 8\n\t"                                                     \
            "b.lt 9f\n\t"                                                                          \
            HEADER                                  /* 6 */                                        \
            "mov x8, " #STEP "\n\t"                                                                \
            "add x10, x9, " #STEP "\n\t"                                                           \
            "mov x14, %[pieces]\n\t"                                                               \
            ETWAS_QUICK_TRAP(18)                                                                   \
            "cmp x14, %[end]\n\t"                                                                  \
            "b.eq 6f\n"                                                                            \
            "5:\n\t"                                                                               \
            CHECK                                                                                  \
            "ldr x11, [x14], 16\n\t"                                                               \
            "subs x13, x13, x12\n\t"                                                               \
            "b.lo 9f\n\t"                                                                          \
            "cbz x11, 9f\n\t"                                                                      \
            "add x8, x8, x12\n\t"                                                                  \
            "mov x15, x10\n\t"                                                                     \
            ETWAS_QUICK_COPY                                                                       \
            "cmp x14, %[end]\n\t"                                                                  \
            "b.ne 5b\n"                                                                            \
            "6:\n\t"                                                                               \
            "str xzr, [x10]\n\t"                                                                   \
            "lsr x17, x8, 16\n\t"                                                                  \
            "cbnz x17, 9b\n\t"                                                                     \
            "add x17, %[start], x8\n\t"                                                            \
            "str x17, [x9]\n\t"                                                                    \
            "add x8, x8, 7\n\t"                                                                    \
            "add x16, x16, x8, lsr 3\n\t"                                                          \
            ETWAS_QUICK_COMMIT(ETWAS_QUICK_ONE_RECORD)                                             \
            :                                                                                      \
            : ETWAS_QUICK_OPERANDS(slot, generation, stamp), [pieces] "r"(pieces),                 \
              [end] "r"((uintptr_t)pieces + count * sizeof(MOF_FIELD)),                            \
              [length] "i"(offsetof(MOF_FIELD, Length)), [start] "r"(header->start),               \
              [ids] "r"(header->ids),                                                              \
              ETWAS_QUICK_PART(second_low, second_high, header->second),                           \
              ETWAS_QUICK_PART(third_low, third_high, header->third),                              \
              ETWAS_QUICK_PART(fourth_low, fourth_high, header->fourth)                            \
            : "x8", ETWAS_QUICK_CLOBBERS                                                           \
            : aborted, other);                                                                     \
        return ETWAS_QUICK_COMMITTED;                                                              \
    aborted:                                                                                       \
        return ETWAS_QUICK_ABORTED;                                                                \
    other:                                                                                         \
        return ETWAS_QUICK_OTHER;                                                                  \
    }
/* clang-format on */

/* Copies a batch from its image, by 64 bytes; the last 64 may overlap those before. */
static inline __attribute__((always_inline)) enum etwas_quick_rseq etwas_quick_image(
    struct etwas_slot *slot, uint32_t generation, int64_t stamp,
    const struct etwas_batch_image *image)
{
    /* clang-format off */
    __asm__ goto(
        ETWAS_QUICK_ARM
        ETWAS_QUICK_PLACE
        "mov w12, %w[bytes]\n\t"
        "cmp x13, x12\n\t"
        "b.lt 9f\n\t"
        ETWAS_QUICK_TRAP(18)
        "mov x11, %[data]\n\t"
        "subs x12, x12, 64\n\t"                     /* 6 */
        "b.hs 80f\n"
        "9:\n\t"
        "b %l[other]\n"
        "80:\n\t"
        "ldp q0, q1, [x11]\n\t"
        "ldp q2, q3, [x11, 32]\n\t"
        "stp q0, q1, [x9]\n\t"
        "stp q2, q3, [x9, 32]\n\t"
        "add x11, x11, 64\n\t"
        "add x9, x9, 64\n\t"
        "subs x12, x12, 64\n\t"
        "b.hi 80b\n\t"
        "add x11, x11, x12\n\t"
        "add x9, x9, x12\n\t"
        "ldp q0, q1, [x11]\n\t"
        "ldp q2, q3, [x11, 32]\n\t"
        "stp q0, q1, [x9]\n\t"
        "stp q2, q3, [x9, 32]\n\t"
        "mov w12, %w[bytes]\n\t"
        "add x16, x16, x12, lsr 3\n\t"
        ETWAS_QUICK_COMMIT("add x16, x16, %[records]\n\t")
        :
        : ETWAS_QUICK_OPERANDS(slot, generation, stamp), [data] "r"(image->data),
          [bytes] "r"(image->bytes),
          [records] "r"((uint64_t)image->records << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS))
        : ETWAS_QUICK_CLOBBERS
        : aborted, other);
    /* clang-format on */
    return ETWAS_QUICK_COMMITTED;
aborted:
    return ETWAS_QUICK_ABORTED;
other:
    return ETWAS_QUICK_OTHER;
}

#endif
