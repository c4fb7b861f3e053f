/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system providers: GUIDs by which EnableTraceEx2 requests events of a source (source.h)
 * instead of a program's.
 */
#ifndef ETWAS_PROVIDER_SYSTEM_PROVIDERS_H
#define ETWAS_PROVIDER_SYSTEM_PROVIDERS_H

#include <etwas/types.h>
#include <stdint.h>

#include "provider/system_settings.h"

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
