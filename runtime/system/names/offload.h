/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs tasks that may block for ever. Reading a process's memory and mappings blocks while a page
 * fault holds their lock, and a file may be on a file system that another process serves. The
 * thread that reads the rings must not wait for that. So a task runs on another thread. After a
 * quarter of a second the thread is abandoned with its task, and ends when the task returns.
 *
 * While a task is abandoned, neither its process nor files of its device are read again. At most
 * ETWAS_OFFLOAD_MOST tasks run or are abandoned at once, for all loggers together; further ones are
 * refused. A thread that has not called etwas_offload_begin runs its tasks by itself.
 */
#ifndef ETWAS_SYSTEM_NAMES_OFFLOAD_H
#define ETWAS_SYSTEM_NAMES_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_OFFLOAD_MOST = 8
};

/* The first member of a task, which is allocated with malloc. */
struct etwas_offload_task {
    void (*run)(struct etwas_offload_task *task);
    void (*free)(struct etwas_offload_task *task);

    /*
     * Called before the task is abandoned: saves the results so far. NULL: there are none to save.
     */
    void (*abandon)(struct etwas_offload_task *task);

    uint32_t process_id;
    /* The device of the file that is being read, set while the task runs; ETWAS_NO_DEVICE: none. */
    uint64_t device;
};

#define ETWAS_NO_DEVICE UINT64_MAX

/* Between begin and end, tasks of the calling thread run on another thread. */
void etwas_offload_begin(void);
void etwas_offload_end(void);

/*
 * Runs the task. Returns false if it was refused or abandoned; the caller must not touch it then.
 * Otherwise the caller frees it.
 */
bool etwas_offload_run(struct etwas_offload_task *task);

/* Whether an abandoned task waits for a file of the device. */
bool etwas_offload_waits_for(uint64_t device);

/* In a fork's child, which has none of the threads. */
void etwas_offload_forget(void);

/* Returns how many tasks are abandoned. */
uint32_t etwas_offload_abandoned(void);

#endif
