/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/keywords.h"

#include <etwas/evntrace.h>
#include <stdbool.h>

#include "provider/system_providers.h"
#include "system/groups/event_groups.h"
#include "system/inventory/inventory_internal.h"
#include "system/stream/event_group.h"

#define CONFIGURATION(type) ETWAS_REQUESTED_INVENTORY(ETWAS_INVENTORY_##type)

/*
 * Keywords that have a meaning here. ETW's documentation gives FILE_IO_INIT the keyword OPTICAL,
 * its header FILE_INIT.
 */
static const struct meaning {
    enum etwas_system_provider provider;
    uint32_t keyword;
    uint64_t requested;
} meanings[] = {
    {ETWAS_SYSTEM_ALPC, SYSTEM_ALPC_KW_GENERAL, EVENT_TRACE_FLAG_ALPC},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_SYSTEM,
     CONFIGURATION(CPU) | CONFIGURATION(PLATFORM) | CONFIGURATION(POWER) | CONFIGURATION(IRQ)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_GRAPHICS, CONFIGURATION(VIDEO)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_STORAGE,
     CONFIGURATION(PHYSICAL_DISK) | CONFIGURATION(LOGICAL_DISK) | CONFIGURATION(IDE_CHANNEL)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_NETWORK, CONFIGURATION(NIC) | CONFIGURATION(NETWORK)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_SERVICES, CONFIGURATION(SERVICE)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_PNP, CONFIGURATION(PNP)},
    {ETWAS_SYSTEM_CONFIG, SYSTEM_CONFIG_KW_OPTICAL, CONFIGURATION(OPTICAL)},
    {ETWAS_SYSTEM_INTERRUPT, SYSTEM_INTERRUPT_KW_GENERAL, EVENT_TRACE_FLAG_INTERRUPT},
    {ETWAS_SYSTEM_INTERRUPT, SYSTEM_INTERRUPT_KW_CLOCK_INTERRUPT, ETWAS_REQUESTED_CLOCK_INTERRUPT},
    {ETWAS_SYSTEM_INTERRUPT, SYSTEM_INTERRUPT_KW_DPC, EVENT_TRACE_FLAG_DPC},
    {ETWAS_SYSTEM_INTERRUPT, SYSTEM_INTERRUPT_KW_IPI, ETWAS_REQUESTED_PROCESSOR_CALL},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_DISK, EVENT_TRACE_FLAG_DISK_IO},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_DISK_INIT, EVENT_TRACE_FLAG_DISK_IO_INIT},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_FILENAME, EVENT_TRACE_FLAG_DISK_FILE_IO},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_SPLIT, EVENT_TRACE_FLAG_SPLIT_IO},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_FILE, EVENT_TRACE_FLAG_FILE_IO},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_OPTICAL, EVENT_TRACE_FLAG_FILE_IO_INIT},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_DRIVERS, EVENT_TRACE_FLAG_DRIVER},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_NETWORK, EVENT_TRACE_FLAG_NETWORK_TCPIP},
    {ETWAS_SYSTEM_IO, SYSTEM_IO_KW_FILE_INIT, EVENT_TRACE_FLAG_FILE_IO_INIT},
    {ETWAS_SYSTEM_MEMORY, SYSTEM_MEMORY_KW_HARD_FAULTS, EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS},
    {ETWAS_SYSTEM_MEMORY, SYSTEM_MEMORY_KW_ALL_FAULTS, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS},
    {ETWAS_SYSTEM_MEMORY, SYSTEM_MEMORY_KW_VIRTUAL_ALLOC, EVENT_TRACE_FLAG_VIRTUAL_ALLOC},
    {ETWAS_SYSTEM_MEMORY, SYSTEM_MEMORY_KW_VAMAP, EVENT_TRACE_FLAG_VAMAP},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_GENERAL, EVENT_TRACE_FLAG_PROCESS},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_PERF_COUNTER, EVENT_TRACE_FLAG_PROCESS_COUNTERS},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_DEBUG_EVENTS, EVENT_TRACE_FLAG_DEBUG_EVENTS},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_DBGPRINT, EVENT_TRACE_FLAG_DBGPRINT},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_JOB, EVENT_TRACE_FLAG_JOB},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_THREAD, EVENT_TRACE_FLAG_THREAD},
    {ETWAS_SYSTEM_PROCESS, SYSTEM_PROCESS_KW_LOADER, EVENT_TRACE_FLAG_IMAGE_LOAD},
    {ETWAS_SYSTEM_PROFILE, SYSTEM_PROFILE_KW_GENERAL, EVENT_TRACE_FLAG_PROFILE},
    {ETWAS_SYSTEM_REGISTRY, SYSTEM_REGISTRY_KW_GENERAL, EVENT_TRACE_FLAG_REGISTRY},
    {ETWAS_SYSTEM_SCHEDULER, SYSTEM_SCHEDULER_KW_DISPATCHER, EVENT_TRACE_FLAG_DISPATCHER},
    {ETWAS_SYSTEM_SCHEDULER, SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH, EVENT_TRACE_FLAG_CSWITCH},
    {ETWAS_SYSTEM_SYSCALL, SYSTEM_SYSCALL_KW_GENERAL, EVENT_TRACE_FLAG_SYSTEMCALL},
};

enum {
    MEANINGS = sizeof meanings / sizeof *meanings
};

/* Bits of the masks after EnableFlags. */
static const struct group_meaning {
    uint32_t group; /* number of the mask, minus 1 */
    uint32_t bit;
    uint64_t requested;
} group_meanings[] = {
    {0, 0x00000002, EVENT_TRACE_FLAG_PROFILE},
    {0, 0x00000004, EVENT_TRACE_FLAG_CSWITCH},
    {0, 0x00000080, EVENT_TRACE_FLAG_DPC},
    {0, 0x00000200, EVENT_TRACE_FLAG_DISPATCHER},
    {0, 0x00004000, EVENT_TRACE_FLAG_INTERRUPT},
    {0, 0x00008000, EVENT_TRACE_FLAG_VIRTUAL_ALLOC},
    {1, 0x00000040, EVENT_TRACE_FLAG_SYSTEMCALL},
    {1, 0x00040000, ETWAS_REQUESTED_CLOCK_INTERRUPT},
    {1, 0x00400000, ETWAS_REQUESTED_PROCESSOR_CALL},
};

enum {
    GROUP_MEANINGS = sizeof group_meanings / sizeof *group_meanings
};

static bool delivers(uint64_t requested)
{
    return etwas_requested_inventory(requested) != 0 ||
           ((requested & etwas_event_group_flags()) != 0 &&
            etwas_empty_group_flags((uint32_t)requested) == 0);
}

uint64_t etwas_system_provider_keywords(uint32_t provider)
{
    uint64_t keywords = 0;

    for (uint32_t index = 0; index < MEANINGS; index++) {
        if (meanings[index].provider == provider && delivers(meanings[index].requested)) {
            keywords |= meanings[index].keyword;
        }
    }
    return keywords;
}

uint64_t etwas_system_provider_requested(const struct etwas_system_settings *settings,
                                         uint32_t provider)
{
    const struct etwas_system_enablement *asked = &settings->providers[provider];
    uint64_t requested = 0;

    for (uint32_t index = 0; asked->is_enabled && index < MEANINGS; index++) {
        uint64_t keyword = meanings[index].keyword;

        if (meanings[index].provider == provider &&
            (asked->match_any == 0 || (keyword & asked->match_any) != 0) &&
            (keyword & asked->match_all) == asked->match_all) {
            requested |= meanings[index].requested;
        }
    }
    return requested;
}

uint64_t etwas_settings_masks_requested(const struct etwas_system_settings *settings)
{
    uint64_t requested = settings->flags;

    for (uint32_t index = 0; index < GROUP_MEANINGS; index++) {
        const struct group_meaning *meaning = &group_meanings[index];

        requested |=
            (settings->groups[meaning->group] & meaning->bit) != 0 ? meaning->requested : 0;
    }
    return requested;
}

uint64_t etwas_settings_requested(const struct etwas_system_settings *settings)
{
    uint64_t requested = etwas_settings_masks_requested(settings);

    for (uint32_t provider = 0; provider < ETWAS_SYSTEM_PROVIDERS; provider++) {
        requested |= etwas_system_provider_requested(settings, provider);
    }
    return requested;
}

void etwas_settings_drop(struct etwas_system_settings *settings, uint64_t requested)
{
    settings->flags &= ~(uint32_t)requested;
    for (uint32_t provider = 0; provider < ETWAS_SYSTEM_PROVIDERS; provider++) {
        if ((etwas_system_provider_requested(settings, provider) & requested) != 0) {
            settings->providers[provider].is_enabled = false;
        }
    }
    for (uint32_t index = 0; index < GROUP_MEANINGS; index++) {
        const struct group_meaning *meaning = &group_meanings[index];

        settings->groups[meaning->group] &=
            (meaning->requested & requested) != 0 ? ~meaning->bit : UINT32_MAX;
    }
}
