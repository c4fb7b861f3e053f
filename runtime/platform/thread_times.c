/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processor time of a thread. The system call costs several times what an event costs, so a
 * thread keeps each reading for a moment.
 *
 * A signal handler may make a reading of its own at each step of another. So `began_ns` is stored
 * last and loaded first: what is found with it is at least as new.
 */
#include <ck_pr.h>
#include <sys/resource.h>

#include "platform/thread.h"
#include "platform/wait.h"

/* The last reading; 0: there is none. */
static _Thread_local struct {
    uint64_t began_ns;
    uint64_t kernel_us; /* a kept number, as the next */
    uint64_t user_us;
} kept;

static uint64_t timeval_us(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/*
 * A clock that went back makes a reading look old.
 *
 * The thread's clock (CLOCK_THREAD_CPUTIME_ID) takes a system call, too, and does not separate
 * kernel and user mode.
 */
struct etwas_thread_times etwas_thread_times(void)
{
    const uint64_t now_ns = etwas_monotonic_ns();
    const uint64_t began_ns = ck_pr_load_64(&kept.began_ns);
    const uint64_t kernel = ck_pr_load_64(&kept.kernel_us);
    const uint64_t user = ck_pr_load_64(&kept.user_us);
    struct etwas_thread_times times;
    struct rusage usage;

    if (__builtin_expect(now_ns - began_ns < ETWAS_THREAD_TIMES_KEPT_NS, 1)) {
        times.kernel_us = etwas_kept_number(kernel);
        times.user_us = etwas_kept_number(user);
        return times;
    }
    /* It fails only for an unknown constant or an invalid address. */
    (void)getrusage(RUSAGE_THREAD, &usage);
    times.kernel_us = timeval_us(&usage.ru_stime);
    times.user_us = timeval_us(&usage.ru_utime);
    etwas_kept_replace(&kept.kernel_us, kernel, times.kernel_us);
    etwas_kept_replace(&kept.user_us, user, times.user_us);
    (void)ck_pr_cas_64(&kept.began_ns, began_ns, now_ns);
    return times;
}

void etwas_thread_times_forget(void)
{
    ck_pr_store_64(&kept.began_ns, 0);
    etwas_kept_forget(&kept.kernel_us);
    etwas_kept_forget(&kept.user_us);
}
