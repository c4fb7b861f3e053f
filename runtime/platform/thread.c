/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/thread.h"

#include <stdatomic.h>
#include <unistd.h>

_Thread_local struct etwas_thread_ids etwas_thread_ids_cache;

void etwas_thread_ids_load(void)
{
    etwas_thread_ids_cache.process_id = (uint32_t)getpid();
    /* A signal handler on this thread must not see the thread id before the process id. */
    atomic_signal_fence(memory_order_seq_cst);
    etwas_thread_ids_cache.thread_id = (uint32_t)gettid();
}
