/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The topics there are.
 */
#ifndef ETWAS_SYSTEM_TOPICS_H
#define ETWAS_SYSTEM_TOPICS_H

#include "system/topic.h"

extern const struct etwas_topic etwas_topic_profile;   /* profile.c */
extern const struct etwas_topic etwas_topic_processes; /* process.c */
extern const struct etwas_topic etwas_topic_images;
extern const struct etwas_topic etwas_topic_threads;  /* thread.c */
extern const struct etwas_topic etwas_topic_switches; /* context_switch.c */
extern const struct etwas_topic etwas_topic_network;  /* network.c */
extern const struct etwas_topic etwas_topic_ready_threads;
extern const struct etwas_topic etwas_topic_system_calls;
extern const struct etwas_topic etwas_topic_interrupts;
extern const struct etwas_topic etwas_topic_deferred;
extern const struct etwas_topic etwas_topic_work;
extern const struct etwas_topic etwas_topic_page_faults;
extern const struct etwas_topic etwas_topic_disks;          /* disk.c */
extern const struct etwas_topic etwas_topic_threads;        /* thread.c */
extern const struct etwas_topic etwas_topic_switches;       /* context_switch.c */
extern const struct etwas_topic etwas_topic_network;        /* network.c */
extern const struct etwas_topic etwas_topic_disks;          /* disk.c */
extern const struct etwas_topic etwas_topic_virtual_memory; /* virtual_memory.c */

#endif
