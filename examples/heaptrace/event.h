/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is written of a call: one event, of the class that README.md has the table of. If stacks are
 * taken, what allocates is of the class's version 1 and carries its frames behind its other data.
 *
 *   function                    may be called by
 *   heaptrace_event_register    one thread, before any event of its process
 *   …_register_again, _session  the same
 *   the rest                    any thread, signal handlers
 */
#ifndef ETWAS_HEAPTRACE_EVENT_H
#define ETWAS_HEAPTRACE_EVENT_H

#include "heaptrace.h"

#include <etwas/types.h>

/* Registers the class and describes it. Does nothing where that is done. */
uint32_t heaptrace_event_register(bool with_stacks);

/*
 * In a fork's child, of which no session knows: registers anew. When either returns, the sessions
 * of other processes that enable the provider have said so.
 */
uint32_t heaptrace_event_register_again(void);

/* The session of another process that enables the provider; 0: none does. */
etwas_trace_handle heaptrace_event_session(void);

/*
 * Writes one call. `frames` is NULL without stacks; with them there may be 0 of them. Keeps errno.
 */
void heaptrace_event_write(etwas_trace_handle session, const struct heaptrace_call *call,
                           const uint64_t *frames, uint16_t frame_count);

/* Whether a call of this type carries a stack, where stacks are wanted. */
bool heaptrace_event_has_stack(uint8_t type);

void heaptrace_event_write_image(etwas_trace_handle session, const struct heaptrace_image *image);

#endif
