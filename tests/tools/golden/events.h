/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#ifndef ETWAS_TESTS_TOOLS_GOLDEN_EVENTS_H
#define ETWAS_TESTS_TOOLS_GOLDEN_EVENTS_H

/*
 * The providers of golden files, and what they log. GENERATION is the number in the README.
 */

#include <etwas/etwas.h>

#include <stdint.h>

#if GENERATION == 1
#define maximum_file_size maximum_file_size_mb
#endif
#if GENERATION >= 2
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#endif
#if GENERATION >= 5
#include <etwas/TraceLoggingProvider.h>
#include <etwas/tdh.h>

TRACELOGGING_DECLARE_PROVIDER(shop);
#endif

enum {
    FILLER_BYTES = 1200,
};

extern const GUID server_guid;
#if GENERATION >= 2
extern const GUID modern_guid;
#endif

/* What is logged goes there. */
extern TRACEHANDLE session;

/* Ends the program where something is refused. */
void require(const char *what, ULONG error);

void register_all(void);

/* An event with a number, and so many bytes more. */
void log_number(uint32_t bytes);

/* A request, whose step another thread does. */
void log_instances(void);

/* One of each kind. */
void log_all(void);

#if GENERATION >= 2
void log_modern(void);
#endif
#if GENERATION >= 10
/* What does not get smaller. */
void log_noise(void);
#endif

#endif
