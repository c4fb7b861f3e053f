/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The topics there are.
 */
#ifndef ETWAS_SYSTEM_GROUPS_EVENT_GROUPS_H
#define ETWAS_SYSTEM_GROUPS_EVENT_GROUPS_H

#include "system/stream/event_group.h"

/* profile.c */
extern const struct etwas_topic etwas_topic_profile;

/* process.c */
extern const struct etwas_topic etwas_topic_processes;
extern const struct etwas_topic etwas_topic_images;
extern const struct etwas_topic etwas_topic_counters;

/* thread.c */
extern const struct etwas_topic etwas_topic_threads;

/* context_switch.c */
extern const struct etwas_topic etwas_topic_switches;

/* ready_thread.c */
extern const struct etwas_topic etwas_topic_ready_threads;

/* network.c */
extern const struct etwas_topic etwas_topic_network;

/* system_call.c */
extern const struct etwas_topic etwas_topic_system_calls;

/* interrupt.c */
extern const struct etwas_topic etwas_topic_interrupts;

/* deferred_call.c */
extern const struct etwas_topic etwas_topic_deferred;

/* work_queue.c */
extern const struct etwas_topic etwas_topic_work;

/* page_fault.c */
extern const struct etwas_topic etwas_topic_page_faults;

/* disk_io.c */
extern const struct etwas_topic etwas_topic_disks;

/* file_io.c */
extern const struct etwas_topic etwas_topic_file_io;

/* hard_fault.c */
extern const struct etwas_topic etwas_topic_hard_faults;

/* disk_file_io.c */
extern const struct etwas_topic etwas_topic_disk_files;

/* file_map.c */
extern const struct etwas_topic etwas_topic_file_maps;

/* virtual_memory.c */
extern const struct etwas_topic etwas_topic_virtual_memory;

/* job.c */
extern const struct etwas_topic etwas_topic_jobs;

/* empty_groups.c */
extern const struct etwas_topic etwas_topic_alpc;
extern const struct etwas_topic etwas_topic_registry;
extern const struct etwas_topic etwas_topic_drivers;

/* debug_print.c */
extern const struct etwas_topic etwas_topic_debug_prints;

#endif
