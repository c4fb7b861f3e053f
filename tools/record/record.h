/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_RECORD_RECORD_H
#define ETWAS_TOOLS_RECORD_RECORD_H

/*
 * What `etwas record` is asked to record.
 */

#include <etwas/KernelTraceControl.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    ETWAS_RECORD_STACKS = 64
};

struct etwas_record_wish {
    const char *path;
    uint32_t flags; /* EnableFlags */
    uint32_t clock; /* as Wnode.ClientContext */
    STACK_TRACING_EVENT_ID stacks[ETWAS_RECORD_STACKS];
    uint32_t stack_count;
    uint32_t stack_flags;      /* EnableFlags without which these never come */
    uint32_t user_stack_bytes; /* to unwind programs from; 0: none */
    pid_t process;             /* to wait for; 0: there is a program to run */
    char **program;
};

/* Names of EnableFlags with commas between them. False: `*bad` is the first that is none. */
bool etwas_record_parse_flags(const char *text, uint32_t *flags, const char **bad);

/* Names of events that can have a stack. False: likewise, or there are too many. */
bool etwas_record_parse_stacks(const char *text, struct etwas_record_wish *wish, const char **bad);

/* The name of one of the flags, which is taken out; NULL: none has one. */
const char *etwas_record_next_flag(uint32_t *flags);

/* 0, or the error for which the program cannot be run. */
int etwas_record_find_program(const char *name);

/* What the program exits with. */
int etwas_record_run(const struct etwas_record_wish *wish);

#endif
