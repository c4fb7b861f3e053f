/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a system logger shall do, all of which may change while it runs.
 */
#ifndef ETWAS_SYSTEM_SETTINGS_H
#define ETWAS_SYSTEM_SETTINGS_H

#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/event_filter.h"

enum {
    /* Of EVENT_TRACE_FLAG_PROFILE, in units of 100 ns: ETW's own. */
    ETWAS_PROFILE_INTERVAL = 10000,
    ETWAS_PROFILE_INTERVAL_LEAST = 1221,
    ETWAS_PROFILE_INTERVAL_MOST = 1000000,

    ETWAS_STACK_HOOKS = 256, /* R189 */

    /* With registers and heads a record of a ring and one of a file have room for it. */
    ETWAS_USER_STACK_MOST_BYTES = 32768,

    ETWAS_SYSTEM_PROVIDERS = 17, /* keywords.h */
    ETWAS_GROUP_MASKS = 8,       /* EnableFlags are the first of them */
};

/* What EnableTraceEx2 asks a system provider for. An event's id is its hook: group and type. */
struct etwas_system_enablement {
    bool is_enabled;
    uint8_t level;      /* events of the system have none */
    uint64_t match_any; /* keywords; 0: all */
    uint64_t match_all;
    uint32_t turn;          /* how often the session has enabled it */
    uint32_t process_count; /* 0: everybody's */
    uint32_t processes[MAX_EVENT_FILTER_PID_COUNT];
    struct etwas_id_filter events; /* of no ids: all */
    bool has_stacks;
    struct etwas_id_filter stacks; /* of these events; of no ids: of all */
};

struct etwas_system_settings {
    uint32_t flags;                         /* EnableFlags */
    uint32_t groups[ETWAS_GROUP_MASKS - 1]; /* the other masks, as TraceSetInformation gives them */
    uint32_t profile_interval;              /* 100 ns */
    bool no_kernel_stacks;                  /* of stacks the user's part alone */
    uint32_t user_stack_bytes;              /* recorded beside each stack; 0: none */
    uint32_t stack_count;
    uint16_t stack_hooks[ETWAS_STACK_HOOKS]; /* group and type of records that have a stack */
    struct etwas_system_enablement providers[ETWAS_SYSTEM_PROVIDERS];
};

#endif
