/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_PROCESSES_H
#define ETWAS_TOOLS_KERNEL_PROCESSES_H

/*
 * The names of a trace's processes over time, from the kernel's events about them. An id that is
 * assigned again is another process, and a process that executes another program has another name
 * from then on. Each of these is a life of the id. A second table does the same for threads.
 */

#include "kernel/schedule.h"

#include <etwas/decode.h>

enum {
    ETWAS_PROCESSES = 1 << 20, /* lives; further ones are dropped */
    ETWAS_PROCESSES_NAME_BYTES = 256,
};

#define ETWAS_PROCESSES_NONE UINT32_MAX

struct etwas_processes_life {
    uint32_t process;
    uint32_t before; /* number of the id's previous life, from 1; 0: none */
    bool begins;     /* it is another process than the life before, not another program of it */
    bool was_there;  /* it existed before `from` */
    bool has_ended;
    int64_t from;  /* in the unit of the times given */
    int64_t until; /* valid if it has ended */
    char *name;
};

struct etwas_processes {
    etwas_decoder *decoder;
    bool is_of_threads;                 /* ids are those of threads */
    struct etwas_processes_life *lives; /* in the order of their beginning */
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places; /* index of the last life of each id */
    bool out_of_memory;
};

/* What a record says about the process with an id. */
enum etwas_processes_news {
    ETWAS_PROCESSES_SAME,
    ETWAS_PROCESSES_BEGAN,   /* a process started */
    ETWAS_PROCESSES_RENAMED, /* it executes another program */
};

/* Return false without memory. */
bool etwas_processes_open(struct etwas_processes *processes);
bool etwas_processes_open_threads(struct etwas_processes *processes);

/*
 * Adds a record about a process (etwas_kernel_is_process), or about a thread
 * (etwas_kernel_is_thread), and sets *process to its id. Records must come in time order.
 */
enum etwas_processes_news etwas_processes_add_record(struct etwas_processes *processes,
                                                     const EVENT_RECORD *record, int64_t time,
                                                     uint32_t *process);

/*
 * Adds a record in the same way. If the process executes another program, the schedule counts its
 * thread as a new one from then on.
 */
void etwas_processes_follow(struct etwas_processes *processes, struct etwas_schedule *schedule,
                            const EVENT_RECORD *record, int64_t time_ns);

/* Returns the number of the life of an id at that time; ETWAS_PROCESSES_NONE if it is not known. */
uint32_t etwas_processes_life(const struct etwas_processes *processes, uint32_t process,
                              int64_t time);

/*
 * Returns the name of a process at that time, in UTF-8 with any characters; NULL if it is not
 * known.
 */
const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process,
                                 int64_t time);

/*
 * Returns the process that has an id after the records added so far, as the number of its first
 * life; ETWAS_PROCESSES_NONE for the first process with that id.
 */
uint32_t etwas_processes_now(const struct etwas_processes *processes, uint32_t process);

/*
 * Writes all names of such a process, separated by commas: "sh, make". Returns the text in `room`,
 * which may be cut, or NULL if no name is known.
 */
const char *etwas_processes_names(const struct etwas_processes *processes, uint32_t process,
                                  uint32_t first, char *room, size_t room_bytes);

void etwas_processes_close(struct etwas_processes *processes);

#endif
