/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_RECORD_RECORD_H
#define ETWAS_TOOLS_RECORD_RECORD_H

/*
 * What `etwas record` is asked to record.
 */

#include "cli/command.h"
#include "steer/provider.h"

#include <etwas/KernelTraceControl.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_RECORD_STACKS = 64,
    ETWAS_RECORD_PROVIDERS = 64,
};

struct etwas_record_request {
    const char *path;
    bool force;      /* what is there is replaced */
    bool has_kernel; /* that is recorded; else programs' own providers alone */
    bool is_unasked; /* that is since nothing else was asked for */
    uint32_t flags;  /* EnableFlags */
    int clock;       /* from 0; etwas_record_clock */
    STACK_TRACING_EVENT_ID stacks[ETWAS_RECORD_STACKS];
    uint32_t stack_count;
    uint32_t stack_flags;               /* EnableFlags without which these never come */
    uint32_t user_stack_bytes;          /* to unwind programs from; 0: none */
    struct etwas_steer_filters filters; /* of which processes, and which events of programs */
    uint32_t provider_count;            /* of programs */
    struct etwas_steer_provider providers[ETWAS_RECORD_PROVIDERS];
    char **program; /* NULL in it: until the processes have ended */
};

/* Without a program to run it is recorded until the processes of --pid have ended. */
static inline bool etwas_record_runs(const struct etwas_record_request *request)
{
    return *request->program != NULL;
}

/* As Wnode.ClientContext. */
static inline uint32_t etwas_record_clock(const struct etwas_record_request *request)
{
    return (uint32_t)request->clock + 1;
}

/* Reads names of EnableFlags, with commas between them. As etwas_option.read. */
bool etwas_record_read_flags(const struct etwas_option_use *use);

/* Reads names of events that can have a stack, likewise. */
bool etwas_record_read_stacks(const struct etwas_option_use *use);

/* Returns the flags that cannot be recorded of some processes: they have no events. */
uint32_t etwas_record_others(uint32_t flags);

/* Has the flags recorded of the processes of --pid, beside what the session records of all. */
ULONG etwas_record_only(TRACEHANDLE session, uint32_t flags,
                        const struct etwas_steer_filters *filters);

/* 0, or the error for which the program cannot be run. */
int etwas_record_find_program(const char *name);

/* From now on they ask for the end. */
void etwas_record_catch_signals(void);
bool etwas_record_is_stopped(void);

/*
 * Looks for registered providers whose names are near those of --enable. Call it from time to time
 * while programs run.
 */
void etwas_record_look_near(const struct etwas_record_request *request);

/* Returns the nearest that was seen for that --enable; NULL: none, or that very name. */
const char *etwas_record_near(const struct etwas_record_request *request, uint32_t index);

/*
 * Runs the program, unless it is stopped already, and waits for it. Returns what to exit with: what
 * it exits with, or 128 and the number of the signal that ended it, or asked for the end.
 */
int etwas_record_child(const struct etwas_record_request *request);

/* Says so, and returns what to exit with. */
int etwas_record_cannot_run(const char *program, int error);

/*
 * Joins the registry, so that other processes can enable the program's providers. Call it before
 * there is any thread. Returns false after a message on standard error.
 */
bool etwas_record_share(void);

/*
 * Starts a session for the providers of programs, which are enabled in it before this returns. Its
 * file is request->path, or, if the kernel is recorded to that one, a file beside it. Returns false
 * after a message: then nothing runs.
 */
bool etwas_record_programs(const struct etwas_record_request *request, TRACEHANDLE *session);
const char *etwas_record_programs_path(const struct etwas_record_request *request);

/*
 * On standard error, of a session that has stopped, and its file; a line for each reason, and what
 * helps. False: the file could not be written.
 */
bool etwas_record_report_losses(TRACEHANDLE session, const char *path, const char *help);

/*
 * On standard error, when the session has ended: what was recorded of the providers that patterns
 * stood for, and which of --enable recorded nothing, with the reasons that can be known. `counts`:
 * of the session; it says nothing where its events are of one provider. Reads the trace if several
 * were enabled.
 */
void etwas_record_summarize(const struct etwas_record_request *request, const char *path,
                            const etwas_session_counts *counts);

/* What the program exits with. */
int etwas_record_run(const struct etwas_record_request *request);

#endif
