/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A made-up /proc, and made-up sequences of the kernel's records. The records that are emitted for
 * processes and images become a text: a line for each, with its time, its processor (* for
 * rundowns) and its content.
 */
#ifndef ETWAS_TESTS_SYSTEM_MADE_UP_PROCESSES_H
#define ETWAS_TESTS_SYSTEM_MADE_UP_PROCESSES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/names/processes.h"

struct made_up {
    uint32_t id;
    uint32_t parent_id;
    uint32_t threads[4];
    bool is_leaving[4];
    uint64_t start_tick;
    uint64_t page_faults;
    const char *name;
    const char *command_line;
    struct etwas_mapping mappings[3];
};

extern struct made_up machine[8]; /* the processes that exist; unused if the id is 0 */
extern int64_t now_ns;
extern bool is_listed; /* whether /proc can be read */

/* From the next beginning on, taken between any two that are looked at. NULL: nothing is. */
extern struct etwas_quiesce *quiesce_with;

/* What is under test. */
extern struct etwas_processes processes;

extern const struct etwas_mapping shell;
extern const struct etwas_mapping library;

/* Asserts what was told since the last time, and forgets it. */
void expect(const char *text);
void forget(void);

/* Whether anything was told since. */
bool was_emitted(void);

/* What the kernel says, by process 1 and its only thread, on processor 3. */
void fork_at(int64_t time_ns, uint32_t parent_id, uint32_t process_id, uint32_t thread_id);
void exit_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id);
void name_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id, const char *name,
             bool is_exec);
void start_at(int64_t time_ns, uint32_t process_id, const char *name, const char *arguments,
              uint32_t bytes);
void map_at(int64_t time_ns, uint32_t process_id, const struct etwas_mapping *mapping);

/*
 * make_up_machine makes process 1, a shell with a library. begin_on_machine finds all that there
 * are, at 50.
 */
void make_up_machine(void);
void begin_on_machine(uint32_t emits);

/* Both. */
void begin_with(uint32_t emits);

/* Processes alone; the rundown is of no interest. */
void begin(void);

/* A teardown. */
int end_test(void **state);

#endif
