/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The event of a call, in the class that README.md describes. If stacks are taken, the event of an
 * allocation has version 1 of the class, with the frames behind its other data.
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

/* Registers and describes the class. Does nothing if that is done already. */
uint32_t heaptrace_event_register(bool with_stacks);

/*
 * Registers the class again in a fork's child, which no session knows. After either function
 * returns, the sessions of other processes that enable the provider are known.
 */
uint32_t heaptrace_event_register_again(void);

/* Returns the session of another process that enables the provider; 0 if none does. */
etwas_trace_handle heaptrace_event_session(void);

/*
 * Writes one call. `frames` is NULL without stacks; otherwise `frame_count` may be 0. Keeps errno.
 */
void heaptrace_event_write(etwas_trace_handle session, const struct heaptrace_call *call,
                           const uint64_t *frames, uint16_t frame_count);

/* Returns whether a call of this type carries a stack when stacks are wanted. */
bool heaptrace_event_has_stack(uint8_t type);

void heaptrace_event_write_image(etwas_trace_handle session, const struct heaptrace_image *image);

#endif
