/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Starts a crash-safe session: its pool lies in a mapping, with all that is needed to make a log
 * file of it.
 */
#ifndef ETWAS_CONTROL_CRASH_SAFE_H
#define ETWAS_CONTROL_CRASH_SAFE_H

#include <stdint.h>

#include "buffer/pool.h"
#include "session/session.h"

/*
 * Creates the mapping of a session that is to be crash-safe, and stores its file in the options of
 * the pool. Where that fails, returns a code and stores a sentence (etwas_crash_safe_refusal).
 */
uint32_t etwas_crash_safe_begin(struct etwas_session *session, struct etwas_pool_options *options);

/* Makes the mapping recoverable from here on. Called before the session's gates are opened. */
void etwas_crash_safe_open(struct etwas_session *session);

/* Ends the mapping after a start that failed before there was a pool. */
void etwas_crash_safe_end(struct etwas_session *session);

#endif
