/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A storm of signals: an interval timer for each thread that asks, whose handler logs an event
 * itself.
 */
#ifndef ETWAS_BUFFER_STORM_H
#define ETWAS_BUFFER_STORM_H

#include <stdint.h>

#include "support/writer.h"

/* Handles SIGALRM for the process. Called before the first storm. */
void storm_prepare(void);

/*
 * Begins the storm of the calling thread, once: every `interval_ns` its handler logs one event with
 * `writer`.
 */
void storm_begin(struct writer *writer, uint32_t interval_ns);
void storm_end(void);

#endif
