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
 * Operations that the runtime does not use are left out; their use is an error at compile time.
 */
#ifndef ETWAS_PLATFORM_TSAN_CK_PR_H
#define ETWAS_PLATFORM_TSAN_CK_PR_H

/* The guard of CK's own header, so that it adds nothing when it is included by its full path. */
#define CK_PR_H

#include <ck_cc.h>
#include <ck_limits.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>

/* CK's other headers ask with these which operations there are. */
#define CK_F_PR_LOAD_8
#define CK_F_PR_LOAD_16
#define CK_F_PR_LOAD_32
#define CK_F_PR_LOAD_64
#define CK_F_PR_LOAD_UINT
#define CK_F_PR_LOAD_PTR
#define CK_F_PR_STORE_8
#define CK_F_PR_STORE_16
#define CK_F_PR_STORE_32
#define CK_F_PR_STORE_64
#define CK_F_PR_STORE_UINT
#define CK_F_PR_STORE_PTR
#define CK_F_PR_CAS_32
#define CK_F_PR_CAS_32_VALUE
#define CK_F_PR_CAS_64
#define CK_F_PR_CAS_64_VALUE
#define CK_F_PR_CAS_UINT
#define CK_F_PR_CAS_UINT_VALUE
#define CK_F_PR_CAS_PTR
#define CK_F_PR_CAS_PTR_VALUE
#define CK_F_PR_FAA_32
#define CK_F_PR_FAA_64
#define CK_F_PR_FAA_UINT
#define CK_F_PR_FAS_32
#define CK_F_PR_FAS_64
#define CK_F_PR_FAS_UINT
#define CK_F_PR_FAS_PTR
#define CK_F_PR_INC_32
#define CK_F_PR_AND_UINT
#define CK_F_PR_OR_UINT

/* Pointers are exchanged through an alias, because the target may be a pointer to any type. */
typedef void *etwas_tsan_pointer __attribute__((__may_alias__));

/* ---- loads and stores ------------------------------------------------------------------------ */

#define ETWAS_TSAN_LOAD_STORE(S, T)                                                                \
    CK_CC_INLINE static T ck_pr_load_##S(const T *target)                                          \
    {                                                                                              \
        return __atomic_load_n(target, __ATOMIC_ACQUIRE);                                          \
    }                                                                                              \
    CK_CC_INLINE static void ck_pr_store_##S(T *target, T value)                                   \
    {                                                                                              \
        __atomic_store_n(target, value, __ATOMIC_RELEASE);                                         \
    }

ETWAS_TSAN_LOAD_STORE(8, uint8_t)
ETWAS_TSAN_LOAD_STORE(16, uint16_t)
ETWAS_TSAN_LOAD_STORE(32, uint32_t)
ETWAS_TSAN_LOAD_STORE(64, uint64_t)
ETWAS_TSAN_LOAD_STORE(char, char)
ETWAS_TSAN_LOAD_STORE(int, int)
ETWAS_TSAN_LOAD_STORE(uint, unsigned int)

#undef ETWAS_TSAN_LOAD_STORE

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
#define ck_pr_store_ptr_unsafe(DST, VAL) ck_pr_md_store_ptr((DST), (VAL))

/* ---- exchange and compare-exchange ----------------------------------------------------------- */

#define ETWAS_TSAN_EXCHANGE(S, M, T, A)                                                            \
    CK_CC_INLINE static T ck_pr_fas_##S(M *target, T value)                                        \
    {                                                                                              \
        return __atomic_exchange_n((A *)target, value, __ATOMIC_SEQ_CST);                          \
    }                                                                                              \
    CK_CC_INLINE static bool ck_pr_cas_##S(M *target, T compare, T set)                            \
    {                                                                                              \
        A expected = compare;                                                                      \
        return __atomic_compare_exchange_n((A *)target, &expected, set, false, __ATOMIC_SEQ_CST,   \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    /* *previous receives what the target held, also when the exchange succeeds. */                \
    CK_CC_INLINE static bool ck_pr_cas_##S##_value(M *target, T compare, T set, M *previous)       \
    {                                                                                              \
        A expected = compare;                                                                      \
        bool exchanged = __atomic_compare_exchange_n((A *)target, &expected, set, false,           \
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
        *(A *)previous = expected;                                                                 \
        return exchanged;                                                                          \
    }

ETWAS_TSAN_EXCHANGE(8, uint8_t, uint8_t, uint8_t)
ETWAS_TSAN_EXCHANGE(16, uint16_t, uint16_t, uint16_t)
ETWAS_TSAN_EXCHANGE(32, uint32_t, uint32_t, uint32_t)
ETWAS_TSAN_EXCHANGE(64, uint64_t, uint64_t, uint64_t)
ETWAS_TSAN_EXCHANGE(int, int, int, int)
ETWAS_TSAN_EXCHANGE(uint, unsigned int, unsigned int, unsigned int)
ETWAS_TSAN_EXCHANGE(ptr, void, void *, etwas_tsan_pointer)

#undef ETWAS_TSAN_EXCHANGE

/* ---- arithmetic and bits --------------------------------------------------------------------- */

#define ETWAS_TSAN_BINARY(K, S, T)                                                                 \
    CK_CC_INLINE static void ck_pr_##K##_##S(T *target, T value)                                   \
    {                                                                                              \
        (void)__atomic_fetch_##K(target, value, __ATOMIC_SEQ_CST);                                 \
    }

#define ETWAS_TSAN_ARITHMETIC(S, T)                                                                \
    CK_CC_INLINE static T ck_pr_faa_##S(T *target, T value)                                        \
    {                                                                                              \
        return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);                                \
    }                                                                                              \
    ETWAS_TSAN_BINARY(add, S, T)                                                                   \
    ETWAS_TSAN_BINARY(sub, S, T)                                                                   \
    ETWAS_TSAN_BINARY(and, S, T)                                                                   \
    ETWAS_TSAN_BINARY(or, S, T)                                                                    \
    ETWAS_TSAN_BINARY(xor, S, T)                                                                   \
    CK_CC_INLINE static void ck_pr_inc_##S(T *target)                                              \
    {                                                                                              \
        (void)__atomic_fetch_add(target, (T)1, __ATOMIC_SEQ_CST);                                  \
    }                                                                                              \
    CK_CC_INLINE static void ck_pr_dec_##S(T *target)                                              \
    {                                                                                              \
        (void)__atomic_fetch_sub(target, (T)1, __ATOMIC_SEQ_CST);                                  \
    }                                                                                              \
    CK_CC_INLINE static bool ck_pr_inc_##S##_is_zero(T *target)                                    \
    {                                                                                              \
        return __atomic_add_fetch(target, (T)1, __ATOMIC_SEQ_CST) == 0;                            \
    }                                                                                              \
    CK_CC_INLINE static bool ck_pr_dec_##S##_is_zero(T *target)                                    \
    {                                                                                              \
        return __atomic_sub_fetch(target, (T)1, __ATOMIC_SEQ_CST) == 0;                            \
    }

ETWAS_TSAN_ARITHMETIC(8, uint8_t)
ETWAS_TSAN_ARITHMETIC(16, uint16_t)
ETWAS_TSAN_ARITHMETIC(32, uint32_t)
ETWAS_TSAN_ARITHMETIC(64, uint64_t)
ETWAS_TSAN_ARITHMETIC(int, int)
ETWAS_TSAN_ARITHMETIC(uint, unsigned int)

#undef ETWAS_TSAN_ARITHMETIC
#undef ETWAS_TSAN_BINARY

/* CK's older form of dec_is_zero, which its other headers call. */
CK_CC_INLINE static void ck_pr_dec_uint_zero(unsigned int *target, bool *is_zero)
{
    *is_zero = ck_pr_dec_uint_is_zero(target);
}

/* ---- fences ---------------------------------------------------------------------------------- */

CK_CC_INLINE static void ck_pr_barrier(void)
{
    __asm__ __volatile__("" ::: "memory");
}

#if defined(__x86_64__)
#define ETWAS_TSAN_FULL_FENCE "mfence"
#define ETWAS_TSAN_STALL "pause"
#elif defined(__aarch64__)
#define ETWAS_TSAN_FULL_FENCE "dmb ish"
#define ETWAS_TSAN_STALL "yield"
#else
#error "The ThreadSanitizer stand-in for ck_pr.h knows x86-64 and aarch64."
#endif

/*
 * The kind is not distinguished: this build is about order being there at all, not about its cost.
 */
#define ETWAS_TSAN_FENCE(KIND)                                                                     \
    CK_CC_INLINE static void ck_pr_fence_strict_##KIND(void)                                       \
    {                                                                                              \
        __asm__ __volatile__(ETWAS_TSAN_FULL_FENCE ::: "memory");                                  \
    }                                                                                              \
    CK_CC_INLINE static void ck_pr_fence_##KIND(void)                                              \
    {                                                                                              \
        ck_pr_fence_strict_##KIND();                                                               \
    }

ETWAS_TSAN_FENCE(atomic)
ETWAS_TSAN_FENCE(atomic_load)
ETWAS_TSAN_FENCE(atomic_store)
ETWAS_TSAN_FENCE(store_atomic)
ETWAS_TSAN_FENCE(load_atomic)
ETWAS_TSAN_FENCE(load_depends)
ETWAS_TSAN_FENCE(load_store)
ETWAS_TSAN_FENCE(store_load)
ETWAS_TSAN_FENCE(load)
ETWAS_TSAN_FENCE(store)
ETWAS_TSAN_FENCE(memory)
ETWAS_TSAN_FENCE(acquire)
ETWAS_TSAN_FENCE(release)
ETWAS_TSAN_FENCE(acqrel)
ETWAS_TSAN_FENCE(lock)
ETWAS_TSAN_FENCE(unlock)

#undef ETWAS_TSAN_FENCE

/* Tells the processor that this thread waits for another. */
CK_CC_INLINE static void ck_pr_stall(void)
{
    __asm__ __volatile__(ETWAS_TSAN_STALL ::: "memory");
}

#endif
