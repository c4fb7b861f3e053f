/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A board's events, on all of its feeds: everybody's, or each thread's of the own process.
 */
#ifndef ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H
#define ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H

#include "system/kernel_sources.h"

/* There are none of the tag on feeds from board->first_feed on. On failure neither. */
bool etwas_kernel_sources_add_event(struct etwas_kernel_sources *kernel,
                                    const struct etwas_cpu_stream_request *request,
                                    struct etwas_unavailability *reason);

/* All of the tag, on these feeds; what they counted and lost stays in the board's accounts. */
void etwas_kernel_sources_remove_event(struct etwas_kernel_sources *kernel, uint32_t tag);

/* ETWAS_PROCESS_RECORD_ARGUMENTS or _PATHS. Where that may not be, it is done without. */
void etwas_kernel_sources_open_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/* Of one that is open: on feeds from board->first_feed on. */
bool etwas_kernel_sources_connect_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/* No events come from it any more; those that came are its event's. */
void etwas_kernel_sources_close_probe(struct etwas_kernel_sources *kernel, uint32_t kind);

/* All of them; async-signal-safe. */
void etwas_kernel_sources_close_probes(struct etwas_kernel_sources *kernel);

/* What is open has its events on feeds from board->first_feed on, too; false: not all of it. */
bool etwas_kernel_sources_reopen(struct etwas_kernel_sources *kernel);

/* Of what the ring had no room for, when there was room again; 0 events: of a processor that was off. */
void etwas_kernel_sources_record_loss(struct etwas_kernel_sources *kernel, uint32_t processor,
                                      uint64_t events, int64_t from_ns, int64_t until_ns);

/* What a feed counted and lost in which nothing happens any more. */
void etwas_kernel_sources_add_last_counts(struct etwas_kernel_sources *kernel,
                                          const struct etwas_cpu_stream *stream);

/* Before the feeds are stopped, with all that has happened drained: which processors are gone; and afterwards since when. */
void etwas_kernel_sources_find_offline(struct etwas_kernel_sources *kernel);
void etwas_kernel_sources_emit_offline(struct etwas_kernel_sources *kernel);

#endif
