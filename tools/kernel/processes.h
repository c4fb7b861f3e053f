/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_PROCESSES_H
#define ETWAS_TOOLS_KERNEL_PROCESSES_H

/*
 * What the processes of a trace are called, by the kernel's events about them, and when: an id that
 * is given again is another process, and one that runs another program has another name from then
 * on. Each of that is a life of the id. Likewise the threads, in a table of their own.
 */

#include "kernel/schedule.h"

#include <etwas/decode.h>

enum {
    ETWAS_PROCESSES = 1 << 20, /* lives; further ones have no name */
    ETWAS_PROCESSES_NAME_BYTES = 256,
};

#define ETWAS_PROCESSES_NONE UINT32_MAX

struct etwas_processes_life {
    uint32_t process;
    uint32_t before; /* the same id's, from 1; 0: there is none */
    bool begins;     /* another process than before, else another program of it */
    bool was_there;  /* before `from`, for all that is known */
    bool has_ended;
    int64_t from;  /* as the times that are taken */
    int64_t until; /* if it has ended */
    char *name;
};

struct etwas_processes {
    etwas_decoder *decoder;
    bool is_of_threads;                 /* the ids are of threads */
    struct etwas_processes_life *lives; /* as they begin */
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places; /* the last life of each id */
    bool out_of_memory;
};

/* What a record tells about the process that has an id. */
enum etwas_processes_news {
    ETWAS_PROCESSES_SAME,
    ETWAS_PROCESSES_BEGAN,   /* a process */
    ETWAS_PROCESSES_RENAMED, /* it runs another program */
};

/* Return false without memory. */
bool etwas_processes_open(struct etwas_processes *processes);
bool etwas_processes_open_threads(struct etwas_processes *processes);

/*
 * Adds a record about a process (etwas_kernel_is_process), or about a thread
 * (etwas_kernel_is_thread), in the order of time, and sets *process to its id.
 */
enum etwas_processes_news etwas_processes_add_record(struct etwas_processes *processes,
                                                     const EVENT_RECORD *record, int64_t time,
                                                     uint32_t *process);

/*
 * Adds a record in the same way. If the process runs another program from now on, its thread counts
 * as another one in the schedule.
 */
void etwas_processes_follow(struct etwas_processes *processes, struct etwas_schedule *schedule,
                            const EVENT_RECORD *record, int64_t time_ns);

/*
 * Returns the number of the life that an id had at that time; ETWAS_PROCESSES_NONE: it is not
 * known.
 */
uint32_t etwas_processes_life(const struct etwas_processes *processes, uint32_t process,
                              int64_t time);

/*
 * Returns the name of a process at that time in UTF-8, with any characters; NULL: it is not known.
 */
const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process,
                                 int64_t time);

/*
 * Returns the process that has an id by the records that were added so far, as the number of its
 * first life; ETWAS_PROCESSES_NONE: the first one that had the id.
 */
uint32_t etwas_processes_now(const struct etwas_processes *processes, uint32_t process);

/*
 * Writes the names that such a process had, separated by commas: "sh, make". Returns `room` with
 * the text, which may be cut, or NULL if no name is known.
 */
const char *etwas_processes_names(const struct etwas_processes *processes, uint32_t process,
                                  uint32_t first, char *room, size_t room_bytes);

void etwas_processes_close(struct etwas_processes *processes);

#endif
