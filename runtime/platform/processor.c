/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/processor.h"

#include <sched.h>
#include <sys/rseq.h>
#include <unistd.h>

/* Weak, so that the library loads with a glibc that has no rseq. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

ptrdiff_t etwas_processor_offset;

static _Thread_local int32_t no_rseq = -1;

bool etwas_processor_is_registered(void)
{
    return &__rseq_size != NULL && __rseq_size != 0;
}

void etwas_processor_prepare(void)
{
    const char *place = (const char *)&no_rseq;

    if (etwas_processor_is_registered()) {
        place = etwas_thread_pointer() + __rseq_offset + offsetof(struct rseq, cpu_id);
    }
    /* The same in every thread; stored once, so that a later call changes nothing under readers. */
    if (etwas_processor_offset == 0) {
        etwas_processor_offset = place - etwas_thread_pointer();
    }
}

uint32_t etwas_processor_count(void)
{
    static uint32_t count;
    uint32_t known = ck_pr_load_32(&count);

    if (known == 0) {
        long configured = sysconf(_SC_NPROCESSORS_CONF);

        known = configured > 0 ? (uint32_t)configured : 1;
        /* Relaxed: every thread computes the same number. */
        ck_pr_store_32(&count, known);
    }
    return known;
}

uint32_t etwas_processor_ask(void)
{
    int processor = sched_getcpu();

    return processor >= 0 ? (uint32_t)processor : 0;
}
