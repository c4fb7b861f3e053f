/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Starting a crash-safe session: its pool lies in a mapping, with all that makes a log file of it.
 */
#ifndef ETWAS_CONTROL_CRASH_SAFE_H
#define ETWAS_CONTROL_CRASH_SAFE_H

#include <stdint.h>

#include "buffer/pool.h"
#include "session/session.h"

/*
 * Gives a session that shall be crash-safe its mapping, and the options of its pool the file. A
 * code, and a sentence (etwas_crash_safe_refusal), where there can be none.
 */
uint32_t etwas_crash_safe_begin(struct etwas_session *session, struct etwas_pool_options *options);

/* What is in it can be recovered from here on: before the session's gates are opened. */
void etwas_crash_safe_open(struct etwas_session *session);

/* For a start that failed before there was a pool. */
void etwas_crash_safe_end(struct etwas_session *session);

#endif
