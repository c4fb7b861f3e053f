/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_PROCESSES_H
#define ETWAS_TOOLS_KERNEL_PROCESSES_H

/*
 * What the processes of a trace are called, by the kernel's events about them, and when: an id that
 * is given again is another process, and one that runs another program has another name from then
 * on. Each of that is a life of the id.
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
    int64_t from; /* as the times that are taken */
    char *name;
};

struct etwas_processes {
    etwas_decoder *decoder;
    struct etwas_processes_life *lives; /* as they begin */
    uint32_t count;
    uint32_t capacity;
    uint32_t *places; /* a hash table of the last life of each id, from 1; twice the capacity */
    bool out_of_memory;
};

/* What a record says of the process that has an id. */
enum etwas_processes_news {
    ETWAS_PROCESSES_SAME,
    ETWAS_PROCESSES_BEGAN,   /* a process */
    ETWAS_PROCESSES_RENAMED, /* it runs another program */
};

/* False without memory. */
bool etwas_processes_open(struct etwas_processes *processes);

/*
 * Learns of a record that is about a process (etwas_kernel_is_process), in the order of time;
 * *process: which.
 */
enum etwas_processes_news etwas_processes_add_record(struct etwas_processes *processes,
                                                     const EVENT_RECORD *record, int64_t time,
                                                     uint32_t *process);

/* The same, and a thread that runs another program is another one of the schedule from then on. */
void etwas_processes_follow(struct etwas_processes *processes, struct etwas_schedule *schedule,
                            const EVENT_RECORD *record, int64_t time_ns);

/* Which life of an id it was then, its number; ETWAS_PROCESSES_NONE: it is not known. */
uint32_t etwas_processes_life(const struct etwas_processes *processes, uint32_t process,
                              int64_t time);

/* UTF-8, any characters; NULL: it is not known. */
const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process,
                                 int64_t time);

/*
 * Which process has the id by what was taken so far: its first life's number; ETWAS_PROCESSES_NONE:
 * the first one had it.
 */
uint32_t etwas_processes_now(const struct etwas_processes *processes, uint32_t process);

/*
 * The names that such a process had, one after the other: "sh, make". Returns `room`, which is cut
 * at its end; NULL: none is known.
 */
const char *etwas_processes_names(const struct etwas_processes *processes, uint32_t process,
                                  uint32_t first, char *room, size_t room_bytes);

void etwas_processes_close(struct etwas_processes *processes);

#endif
