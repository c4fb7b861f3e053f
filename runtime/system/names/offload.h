/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What may take for ever: a process's memory and mappings, which a page fault that nobody answers locks; and a
 * file of a file system that is another process. Who reads the rings must not wait for that. So another thread
 * does it, is waited for a quarter of a second, and then left alone with it; it ends when it comes back.
 *
 * As long as it has not, neither that process nor a file of that device is asked again, and not more than
 * ETWAS_OFFLOAD_MOST are left like that: so with those no more are being done at once, for all loggers
 * together. Where a thread has not begun errands, it does them itself.
 */
#ifndef ETWAS_SYSTEM_NAMES_OFFLOAD_H
#define ETWAS_SYSTEM_NAMES_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_OFFLOAD_MOST = 8
};

/* The head of what it needs and brings; from the heap. */
struct etwas_offload_task {
    void (*run)(struct etwas_offload_task *task);
    void (*free)(struct etwas_offload_task *task);

    /* What it has by now is taken, before it is left alone; NULL: nothing is. */
    void (*abandon)(struct etwas_offload_task *task);

    uint32_t process_id;
    uint64_t device; /* whose file is being read, set while it runs; ETWAS_NO_DEVICE: none's */
};

#define ETWAS_NO_DEVICE UINT64_MAX

/* From now on the thread has its errands done by others, until the end. */
void etwas_offload_begin(void);
void etwas_offload_end(void);

/* False: it is refused, or was left alone, and is not the caller's any more. Else the caller frees it. */
bool etwas_offload_run(struct etwas_offload_task *task);

/* Whether somebody waits for a file of that device. */
bool etwas_offload_waits_for(uint64_t device);

/* In a fork's child, where none of them is. */
void etwas_offload_forget(void);

#ifdef ETWAS_TESTPOINTS
/* How many are left alone. */
uint32_t etwas_offload_abandoned(void);
#endif

#endif
