/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What may take for ever: a process's memory and mappings, which a page fault that nobody answers locks; and a
 * file of a file system that is another process. Who reads the rings must not wait for that. So another thread
 * does it, is waited for a quarter of a second, and then left alone with it; it ends when it comes back.
 *
 * As long as it has not, neither that process nor a file of that device is asked again, and not more than
 * ETWAS_ERRANDS_LEFT are left like that: so with those no more are being done at once, for all loggers
 * together. Where a thread has not begun errands, it does them itself.
 */
#ifndef ETWAS_SYSTEM_NAMES_OFFLOAD_H
#define ETWAS_SYSTEM_NAMES_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_ERRANDS_LEFT = 8
};

/* The head of what it needs and brings; from the heap. */
struct etwas_errand {
    void (*run)(struct etwas_errand *errand);
    void (*free)(struct etwas_errand *errand);

    /* What it has by now is taken, before it is left alone; NULL: nothing is. */
    void (*leave)(struct etwas_errand *errand);

    uint32_t process_id;
    uint64_t device; /* whose file is being read, set while it runs; ETWAS_NO_DEVICE: none's */
};

#define ETWAS_NO_DEVICE UINT64_MAX

/* From now on the thread has its errands done by others, until the end. */
void etwas_errands_begin(void);
void etwas_errands_end(void);

/* False: it is refused, or was left alone, and is not the caller's any more. Else the caller frees it. */
bool etwas_errand_do(struct etwas_errand *errand);

/* Whether somebody waits for a file of that device. */
bool etwas_errand_waits_for(uint64_t device);

/* In a fork's child, where none of them is. */
void etwas_errands_forget(void);

#ifdef ETWAS_TESTPOINTS
/* How many are left alone. */
uint32_t etwas_errands_left(void);
#endif

#endif
