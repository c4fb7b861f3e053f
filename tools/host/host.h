/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_HOST_HOST_H
#define ETWAS_TOOLS_HOST_HOST_H

/* etwas-host: a process that keeps one session until it ends. */

#include <etwas/evntrace.h>

#include <stdbool.h>

enum {
    /*
     * Written to the program that started the host: messages precede it, and where the session is
     * follows it.
     */
    ETWAS_HOST_RUNS = '\0'
};

/* Sends a state such as "READY=1" to the service manager, if there is one (sd_notify). */
void etwas_host_notify(const char *state);

/* Redirects standard input, output and error to /dev/null. */
void etwas_host_let_go(void);

/*
 * Blocks SIGINT, SIGTERM and SIGHUP. Call it before threads are created, which would receive them.
 */
void etwas_host_block_signals(void);

/*
 * Waits until the session has ended; each of these signals stops it. Returns false if no thread
 * could be created for that; then the session was stopped.
 */
bool etwas_host_serve(TRACEHANDLE session);

#endif
