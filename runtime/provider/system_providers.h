/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system providers: GUIDs by which EnableTraceEx2 requests events of a source (source.h)
 * instead of a program's.
 */
#ifndef ETWAS_PROVIDER_SYSTEM_PROVIDERS_H
#define ETWAS_PROVIDER_SYSTEM_PROVIDERS_H

#include <etwas/evntprov.h>
#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/event_filter.h"

/*
 * What a session requests from the kernel's source (source.h). All of it may change while the
 * source runs.
 */

enum {
    /* The interval of EVENT_TRACE_FLAG_PROFILE in units of 100 ns. ETW's own default and bounds. */
    ETWAS_PROFILE_INTERVAL = 10000,
    ETWAS_PROFILE_INTERVAL_LEAST = 1221,
    ETWAS_PROFILE_INTERVAL_MOST = 1000000,

    ETWAS_STACK_HOOKS = 256, /* R189 */

    /* Both a perf record and a record of a file have room for this, with registers and headers. */
    ETWAS_USER_STACK_MOST_BYTES = 32768,

    ETWAS_SYSTEM_PROVIDERS = 17, /* system_providers.h */
    ETWAS_GROUP_MASKS = 8,       /* EnableFlags are the first mask */
};

/*
 * What EnableTraceEx2 requests from a system provider. An event's id is its hook: group and type.
 */
struct etwas_system_enablement {
    bool is_enabled;
    uint8_t level;      /* ignored: kernel events have no level */
    uint64_t match_any; /* keywords; 0: all */
    uint64_t match_all;
    uint32_t turn;          /* how often the session has enabled the provider */
    uint32_t process_count; /* 0: every process */
    uint32_t processes[MAX_EVENT_FILTER_PID_COUNT];
    struct etwas_id_filter events; /* without ids: every event */
    bool has_stacks;
    struct etwas_id_filter stacks; /* the events that have stacks; without ids: every event */
};

struct etwas_system_settings {
    uint32_t flags;                         /* EnableFlags */
    uint32_t groups[ETWAS_GROUP_MASKS - 1]; /* the other masks, as set by TraceSetInformation */
    uint32_t profile_interval;              /* in units of 100 ns */
    bool no_kernel_stacks;                  /* stacks have only their user part */
    /* How much of the program's stack is recorded beside each stack walk; 0: none. */
    uint32_t user_stack_bytes;
    uint32_t stack_count;
    uint16_t stack_hooks[ETWAS_STACK_HOOKS]; /* group and type of the records that have a stack */
    struct etwas_system_enablement providers[ETWAS_SYSTEM_PROVIDERS];
};

/* ---- the list -------------------------------------------------------------------------------- */

enum etwas_system_provider {
    ETWAS_SYSTEM_ALPC,
    ETWAS_SYSTEM_CONFIG,
    ETWAS_SYSTEM_CPU,
    ETWAS_SYSTEM_HYPERVISOR,
    ETWAS_SYSTEM_INTERRUPT,
    ETWAS_SYSTEM_IO,
    ETWAS_SYSTEM_IOFILTER,
    ETWAS_SYSTEM_LOCK,
    ETWAS_SYSTEM_MEMORY,
    ETWAS_SYSTEM_OBJECT,
    ETWAS_SYSTEM_POWER,
    ETWAS_SYSTEM_PROCESS,
    ETWAS_SYSTEM_PROFILE,
    ETWAS_SYSTEM_REGISTRY,
    ETWAS_SYSTEM_SCHEDULER,
    ETWAS_SYSTEM_SYSCALL,
    ETWAS_SYSTEM_TIMER,
};
_Static_assert(ETWAS_SYSTEM_TIMER + 1 == ETWAS_SYSTEM_PROVIDERS, "each has settings");

/*
 * Returns the number of the provider with this GUID; ETWAS_SYSTEM_PROVIDERS: it is no system
 * provider.
 */
uint32_t etwas_system_provider_of(const etwas_guid *guid);

/* `provider`: 0 to ETWAS_SYSTEM_PROVIDERS - 1. */
const etwas_guid *etwas_system_provider_guid(uint32_t provider);

#endif
