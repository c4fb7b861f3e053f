/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Thread and process ids of records, cached in thread-local storage: a system call once a thread,
 * then two loads. Also the processor time that a thread has used, and the creation of the library's
 * own threads.
 */
#ifndef ETWAS_PLATFORM_THREAD_H
#define ETWAS_PLATFORM_THREAD_H

#include <ck_pr.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct etwas_thread_ids {
    uint32_t thread_id; /* 0: not read yet */
    uint32_t process_id;
} __attribute__((aligned(8)));

extern _Thread_local struct etwas_thread_ids etwas_thread_ids_cache;

/*
 * Returns the process's id in records. In another PID namespace than the host of its session it is
 * the id that the host sees, if that was set before the process first needed it; otherwise its own.
 * It never changes afterwards, so that one process never has two ids. Async-signal-safe.
 */
uint32_t etwas_process_id(void);
void etwas_process_id_set(uint32_t process_id);

/* Returns the same, without fixing it: until it is fixed, the process's own id. */
uint32_t etwas_process_id_peek(void);

/* Reads the ids from the kernel into the cache. Async-signal-safe. */
void etwas_thread_ids_load(void);

/* Async-signal-safe: a handler that interrupts the filling stores the same numbers. */
static inline struct etwas_thread_ids etwas_thread_ids(void)
{
    struct etwas_thread_ids ids = etwas_thread_ids_cache;

    if (__builtin_expect(ids.thread_id == 0, 0)) {
        etwas_thread_ids_load();
        ids = etwas_thread_ids_cache;
    }
    return ids;
}

/* Returns both ids as in a record's header, the thread id in the low half; 0: not read yet. */
static inline uint64_t etwas_thread_ids_word(void)
{
    uint64_t word;

    memcpy(&word, &etwas_thread_ids_cache, sizeof word);
    return word;
}

/*
 * A number below 2^48 that a thread keeps in its thread-local storage. Above it is the number of
 * forks, so that a reading that a handler's fork interrupts changes nothing in the child.
 */
#define ETWAS_KEPT_NUMBER ((UINT64_C(1) << 48) - 1)

static inline uint64_t etwas_kept_number(uint64_t word)
{
    return word & ETWAS_KEPT_NUMBER;
}

/* Stores `number`, unless a handler has changed the word since it was `before`. */
static inline void etwas_kept_replace(uint64_t *word, uint64_t before, uint64_t number)
{
    (void)ck_pr_cas_64(word, before, (before & ~ETWAS_KEPT_NUMBER) | number);
}

/* In a fork's child: the number is 0. */
static inline void etwas_kept_forget(uint64_t *word)
{
    ck_pr_store_64(word, (ck_pr_load_64(word) | ETWAS_KEPT_NUMBER) + 1);
}

/* Processor time of the calling thread. */
struct etwas_thread_times {
    uint64_t kernel_us;
    uint64_t user_us;
};

#define ETWAS_THREAD_TIMES_KEPT_NS 100000

/*
 * Returns what the system said of the thread at most ETWAS_THREAD_TIMES_KEPT_NS before the call.
 * The times are never ahead of that and never go back. A handler may return newer ones than the
 * call that it interrupts. Async-signal-safe. Makes at most one system call in that time.
 */
struct etwas_thread_times etwas_thread_times(void);

/* Empties what the thread keeps, in a fork's child. */
void etwas_thread_times_forget(void);

/*
 * Calls pthread_create with all signals blocked: no handler of the host ever runs in the new
 * thread. `attributes` may be NULL.
 */
int etwas_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument);

/* Empties the cache in a fork's child, where the process and its only thread have other ids. */
void etwas_thread_ids_forget(void);

#endif
