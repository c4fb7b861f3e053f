/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stand-in for Concurrency Kit's <ck_pr.h> in builds with ThreadSanitizer, and only there: the
 * build puts this folder ahead of CK's. CK's operations are inline assembly (or volatile accesses),
 * which ThreadSanitizer cannot see; here the same operations, under the same names and with the
 * same parameters, are compiler builtins, which it understands.
 *
 * Ordering. CK leaves loads and stores unordered and has separate fences; ThreadSanitizer does not
 * understand separate fences. So each operation carries its order itself:
 *
 *   load              acquire, store release: what both are on x86-64 anyway, and what
 *                     `load; fence; use` and `write; fence; store` mean everywhere.
 *   read-modify-write sequentially consistent: a locked instruction on x86-64.
 *   fences            order the machine and the compiler but say nothing to ThreadSanitizer. They
 *                     must be real, because this is the only order between a store and a later
 *                     load. A read-modify-write of one dummy would be understood, but it would
 *                     order all threads that ever pass a fence, and hide the races between them.
 *
 * The price: a fence that is missing between two accesses of CK's kind is not found by this build.
 *
 * Operations that runtime and tests do not use are left out; their use is an error at compile time.
 */
#ifndef ETWAS_PLATFORM_TSAN_CK_PR_H
#define ETWAS_PLATFORM_TSAN_CK_PR_H

/* The guard of CK's own header, so that it adds nothing when it is included by its full path. */
#define CK_PR_H

#include <ck_cc.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>

/* ck_ec.h checks with this whether there are operations of 64 bits. */
#define CK_F_PR_FAA_64

/* Orders the compiler alone: for a thread and its signal handlers. */
CK_CC_INLINE static void ck_pr_barrier(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/* ---- numbers --------------------------------------------------------------------------------- */

#define ETWAS_TSAN_NO_RESULT(name, builtin, S, T)                                                  \
    CK_CC_INLINE static void ck_pr_##name##_##S(T *target, T value)                                \
    {                                                                                              \
        (void)builtin(target, value, __ATOMIC_SEQ_CST);                                            \
    }

#define ETWAS_TSAN_NUMBER(S, T)                                                                    \
    CK_CC_INLINE static T ck_pr_load_##S(const T *target)                                          \
    {                                                                                              \
        return __atomic_load_n(target, __ATOMIC_ACQUIRE);                                          \
    }                                                                                              \
    CK_CC_INLINE static void ck_pr_store_##S(T *target, T value)                                   \
    {                                                                                              \
        __atomic_store_n(target, value, __ATOMIC_RELEASE);                                         \
    }                                                                                              \
    CK_CC_INLINE static T ck_pr_fas_##S(T *target, T value)                                        \
    {                                                                                              \
        return __atomic_exchange_n(target, value, __ATOMIC_SEQ_CST);                               \
    }                                                                                              \
    CK_CC_INLINE static T ck_pr_faa_##S(T *target, T value)                                        \
    {                                                                                              \
        return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);                                \
    }                                                                                              \
    /* *previous receives what the target held, also when the exchange succeeds. */                \
    CK_CC_INLINE static bool ck_pr_cas_##S##_value(T *target, T compare, T set, T *previous)       \
    {                                                                                              \
        *previous = compare;                                                                       \
        return __atomic_compare_exchange_n(target, previous, set, false, __ATOMIC_SEQ_CST,         \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    CK_CC_INLINE static bool ck_pr_cas_##S(T *target, T compare, T set)                            \
    {                                                                                              \
        return ck_pr_cas_##S##_value(target, compare, set, &compare);                              \
    }                                                                                              \
    ETWAS_TSAN_NO_RESULT(add, __atomic_fetch_add, S, T)                                            \
    ETWAS_TSAN_NO_RESULT(sub, __atomic_fetch_sub, S, T)                                            \
    ETWAS_TSAN_NO_RESULT(or, __atomic_fetch_or, S, T)                                              \
    CK_CC_INLINE static void ck_pr_inc_##S(T *target)                                              \
    {                                                                                              \
        ck_pr_add_##S(target, 1);                                                                  \
    }                                                                                              \
    CK_CC_INLINE static void ck_pr_dec_##S(T *target)                                              \
    {                                                                                              \
        ck_pr_sub_##S(target, 1);                                                                  \
    }

ETWAS_TSAN_NUMBER(8, uint8_t)
ETWAS_TSAN_NUMBER(16, uint16_t)
ETWAS_TSAN_NUMBER(32, uint32_t)
ETWAS_TSAN_NUMBER(64, uint64_t)
ETWAS_TSAN_NUMBER(int, int)
ETWAS_TSAN_NUMBER(uint, unsigned int)

/* ---- pointers -------------------------------------------------------------------------------- */

/* The access uses an alias type, because the target may be a pointer to any type. */
typedef void *etwas_tsan_pointer __attribute__((__may_alias__));

CK_CC_INLINE static void *ck_pr_md_load_ptr(const void *target)
{
    return __atomic_load_n((const etwas_tsan_pointer *)target, __ATOMIC_ACQUIRE);
}

CK_CC_INLINE static void ck_pr_md_store_ptr(void *target, const void *value)
{
    etwas_tsan_pointer pointer = CK_CC_DECONST_PTR(value);

    __atomic_store_n((etwas_tsan_pointer *)target, pointer, __ATOMIC_RELEASE);
}

/* As CK's: the pointer loaded has the target's type, and a store of another type is refused. */
#define ck_pr_load_ptr(SRC) ((CK_CC_TYPEOF(*(SRC), (void *)))ck_pr_md_load_ptr((SRC)))
#define ck_pr_store_ptr(DST, VAL) ck_pr_md_store_ptr(((void)sizeof(*(DST) = (VAL)), (DST)), (VAL))

CK_CC_INLINE static bool ck_pr_cas_ptr(void *target, void *compare, void *set)
{
    etwas_tsan_pointer expected = compare;

    return __atomic_compare_exchange_n((etwas_tsan_pointer *)target, &expected, set, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* ---- fences ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ETWAS_TSAN_FULL_FENCE "mfence"
#define ETWAS_TSAN_STALL "pause"
#elif defined(__aarch64__)
#define ETWAS_TSAN_FULL_FENCE "dmb ish"
#define ETWAS_TSAN_STALL "yield"
#else
#error "The ThreadSanitizer stand-in for ck_pr.h knows x86-64 and aarch64."
#endif

/* The kind is not distinguished: this build checks that there is an order at all, not its cost. */
#define ETWAS_TSAN_FENCE(KIND)                                                                     \
    CK_CC_INLINE static void ck_pr_fence_##KIND(void)                                              \
    {                                                                                              \
        __asm__ __volatile__(ETWAS_TSAN_FULL_FENCE ::: "memory");                                  \
    }

ETWAS_TSAN_FENCE(atomic)
ETWAS_TSAN_FENCE(atomic_load)
ETWAS_TSAN_FENCE(load)
ETWAS_TSAN_FENCE(store)
ETWAS_TSAN_FENCE(store_atomic)
ETWAS_TSAN_FENCE(memory)
ETWAS_TSAN_FENCE(strict_memory)
ETWAS_TSAN_FENCE(acquire)
ETWAS_TSAN_FENCE(release)

/* Hints to the processor that this thread waits for another. */
CK_CC_INLINE static void ck_pr_stall(void)
{
    __asm__ __volatile__(ETWAS_TSAN_STALL ::: "memory");
}

#endif
