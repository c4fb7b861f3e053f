/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The events of the kernel sources on all of their streams: system-wide, or one for each thread of
 * the own process.
 */
#ifndef ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H
#define ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H

#include "system/kernel_sources.h"

/*
 * Adds an event to all streams from `kernel->first_stream` on; none with this tag may be there. On
 * failure it is on no stream, and *reason says why.
 */
bool etwas_kernel_sources_add_event(struct etwas_kernel_sources *kernel,
                                    const struct etwas_cpu_stream_request *request,
                                    struct etwas_unavailability *reason);

/* Removes all events of the tag from these streams. Their counts and losses go to the accounts. */
void etwas_kernel_sources_remove_event(struct etwas_kernel_sources *kernel, uint32_t tag);

/*
 * Opens the probe of this kind, one of ETWAS_PROCESS_RECORD_PROBES. Where it is refused, the groups
 * do without it.
 */
void etwas_kernel_sources_open_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/*
 * Connects an open probe to the streams from `kernel->first_stream` on. Returns false if it is not
 * connected to all of them.
 */
bool etwas_kernel_sources_connect_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/* Closes the probe. Events that it has written keep their tag. */
void etwas_kernel_sources_close_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/* Closes all probes. Async-signal-safe. */
void etwas_kernel_sources_close_probes(struct etwas_kernel_sources *kernel);

/*
 * Opens on the streams from `kernel->first_stream` on every event that is open on the others.
 * Returns false if one could not be opened.
 */
bool etwas_kernel_sources_reopen(struct etwas_kernel_sources *kernel);

/*
 * Emits a loss record: this many events found no room in the processor's ring; 0: the processor was
 * offline.
 */
void etwas_kernel_sources_record_loss(struct etwas_kernel_sources *kernel, uint32_t processor,
                                      uint64_t events, int64_t from_ns, int64_t until_ns);

/* Adds the final counts and losses of a stream that is stopped to the accounts. */
void etwas_kernel_sources_add_last_counts(struct etwas_kernel_sources *kernel,
                                          const struct etwas_cpu_stream *stream);

/*
 * At the end: find_offline closes streams whose processors went offline, after a drain and before
 * the streams are stopped; emit_offline emits the gaps that are still open.
 */
void etwas_kernel_sources_find_offline(struct etwas_kernel_sources *kernel);
void etwas_kernel_sources_emit_offline(struct etwas_kernel_sources *kernel);

#endif
