/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_RECORD_RECORD_H
#define ETWAS_TOOLS_RECORD_RECORD_H

/* The request of an `etwas record`: what to record. */

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
    bool force;      /* replace existing files */
    bool has_kernel; /* record the kernel; else only programs' own providers */
    bool is_unasked; /* only because nothing else was requested */
    uint32_t flags;  /* EnableFlags */
    int clock;       /* index from 0; see etwas_record_clock */
    STACK_TRACING_EVENT_ID stacks[ETWAS_RECORD_STACKS];
    uint32_t stack_count;
    uint32_t stack_flags;               /* EnableFlags that these events need */
    uint32_t user_stack_bytes;          /* size of the stack's copy, for unwinding; 0: none */
    struct etwas_steer_filters filters; /* processes, and events of programs, to record */
    uint32_t provider_count;            /* providers of programs */
    struct etwas_steer_provider providers[ETWAS_RECORD_PROVIDERS];
    char **program; /* *program is NULL: record until the processes have ended */
};

/*
 * Returns whether a program is to be run. Otherwise it records until the processes of --pid have
 * ended.
 */
static inline bool etwas_record_runs(const struct etwas_record_request *request)
{
    return *request->program != NULL;
}

/* Returns the clock as Wnode.ClientContext. */
static inline uint32_t etwas_record_clock(const struct etwas_record_request *request)
{
    return (uint32_t)request->clock + 1;
}

/* Reads names of EnableFlags, separated by commas; for etwas_option.read. */
bool etwas_record_read_flags(const struct etwas_option_use *use);

/* Reads names of events that can have a stack in the same way. */
bool etwas_record_read_stacks(const struct etwas_option_use *use);

/*
 * Returns the flags that cannot be limited to some processes, since no provider has their events.
 */
uint32_t etwas_record_others(uint32_t flags);

/*
 * Enables the flags for the processes of --pid, in addition to what the session records of all.
 * Returns an error code.
 */
ULONG etwas_record_only(TRACEHANDLE session, uint32_t flags,
                        const struct etwas_steer_filters *filters);

/* Returns 0, or the errno with which the program cannot be run. */
int etwas_record_find_program(const char *name);

/* Makes signals request the end of recording from now on. */
void etwas_record_catch_signals(void);
bool etwas_record_is_stopped(void);

/*
 * Looks for registered providers with names similar to those of --enable. Call it repeatedly while
 * programs are running.
 */
void etwas_record_look_near(const struct etwas_record_request *request);

/*
 * Returns the most similar name that was seen for that --enable; NULL if there is none, or the name
 * itself exists.
 */
const char *etwas_record_near(const struct etwas_record_request *request, uint32_t index);

/*
 * Runs the program, unless the end was requested, and waits for it. Returns the exit status: that
 * of the program, or 128 plus the number of the signal that ended it or requested the end.
 */
int etwas_record_child(const struct etwas_record_request *request);

/* Reports that the program cannot be run, and returns the exit status. */
int etwas_record_cannot_run(const char *program, int error);

/*
 * Joins the registry, so that other processes can enable the program's providers. Call it before
 * threads are created. Returns false after a message on standard error.
 */
bool etwas_record_share(void);

/*
 * Starts a session for programs' providers and enables them. Its file is request->path, or a file
 * beside it if that is the kernel's. Returns false after a message; then no session is running.
 */
bool etwas_record_programs(const struct etwas_record_request *request, TRACEHANDLE *session);
const char *etwas_record_programs_path(const struct etwas_record_request *request);

/*
 * Reports the losses of a stopped session on standard error, a line for each reason, and what
 * helps. Returns false if the file could not be written.
 */
bool etwas_record_report_losses(TRACEHANDLE session, const char *path, const char *help);

/*
 * Reports on standard error what was recorded from the providers of each pattern, and which
 * --enable recorded nothing, with the known reasons. Call it after the session has ended. `counts`
 * are the session's; they do not distinguish providers. Reads the trace if several were enabled.
 */
void etwas_record_summarize(const struct etwas_record_request *request, const char *path,
                            const etwas_session_counts *counts);

/* Records, and returns the exit status. */
int etwas_record_run(const struct etwas_record_request *request);

#endif
