/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_HOST_HOST_H
#define ETWAS_TOOLS_HOST_HOST_H

/*
 * etwas-host: a process whose only purpose is one session, which it keeps until it ends.
 */

#include <etwas/evntrace.h>

#include <stdbool.h>

enum {
    /*
     * Written to the program that started the host: what comes next says where the session is, what
     * came before were messages.
     */
    ETWAS_HOST_RUNS = '\0'
};

/* Tells a service manager something, if there is one (sd_notify): "READY=1". */
void etwas_host_notify(const char *state);

/* Standard input, output and error become /dev/null. */
void etwas_host_let_go(void);

/*
 * SIGINT, SIGTERM and SIGHUP wait from here on. Before there is any thread, which would get them.
 */
void etwas_host_block_signals(void);

/*
 * Waits until the session has ended; each of these signals stops it. False: there is no thread for
 * that, and it has been stopped.
 */
bool etwas_host_serve(TRACEHANDLE session);

#endif
