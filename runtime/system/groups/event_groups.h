/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * All event groups.
 */
#ifndef ETWAS_SYSTEM_GROUPS_EVENT_GROUPS_H
#define ETWAS_SYSTEM_GROUPS_EVENT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "system/stream/event_group.h"

/* profile.c */
extern const struct etwas_event_group etwas_event_group_profile;

/* process.c */
extern const struct etwas_event_group etwas_event_group_processes;
extern const struct etwas_event_group etwas_event_group_images;
extern const struct etwas_event_group etwas_event_group_counters;

/* thread.c */
extern const struct etwas_event_group etwas_event_group_threads;

/* context_switch.c */
extern const struct etwas_event_group etwas_event_group_switches;

/* ready_thread.c */
extern const struct etwas_event_group etwas_event_group_ready_threads;

/* network.c */
extern const struct etwas_event_group etwas_event_group_network;

/* system_call.c */
extern const struct etwas_event_group etwas_event_group_system_calls;

/* interrupt.c */
extern const struct etwas_event_group etwas_event_group_interrupts;

/* deferred_call.c */
extern const struct etwas_event_group etwas_event_group_deferred_calls;
extern const struct etwas_event_group etwas_event_group_work_queues;

/* page_fault.c */
extern const struct etwas_event_group etwas_event_group_page_faults;

/* disk_io.c */
extern const struct etwas_event_group etwas_event_group_disk_io;

/* file_io.c */
extern const struct etwas_event_group etwas_event_group_file_io;

/* hard_fault.c */
extern const struct etwas_event_group etwas_event_group_hard_faults;

/* disk_file_io.c */
extern const struct etwas_event_group etwas_event_group_disk_file_io;

/* file_map.c */
extern const struct etwas_event_group etwas_event_group_file_maps;

/* virtual_memory.c */
extern const struct etwas_event_group etwas_event_group_virtual_memory;

/* job.c */
extern const struct etwas_event_group etwas_event_group_jobs;

/* empty_groups.c */
extern const struct etwas_event_group etwas_event_group_alpc;
extern const struct etwas_event_group etwas_event_group_registry;
extern const struct etwas_event_group etwas_event_group_drivers;

/* debug_print.c */
extern const struct etwas_event_group etwas_event_group_debug_prints;

/* EnableFlags that are accepted and have no events, since Linux has no such thing. */

/* Returns those among the flags. */
uint32_t etwas_empty_group_flags(uint32_t flags);

/*
 * Writes a sentence on why such flags have no events, cut to `room`. It is empty if none of the
 * flags is one of them.
 */
void etwas_empty_group_explain(uint32_t flags, char *text, size_t room);

struct etwas_event_group_host;

/* Emits during a rundown that the flag has no events, or fewer than it should, for this reason. */
void etwas_empty_group_emit(const struct etwas_event_group_host *host, uint32_t flag,
                            const char *reason);

#endif
