/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/system_providers.h"

#include <etwas/evntrace.h>
#include <string.h>

/* They are in the order of the enum. */
static const etwas_guid *const guids[ETWAS_SYSTEM_PROVIDERS] = {
    &SystemAlpcProviderGuid,       &SystemConfigProviderGuid,    &SystemCpuProviderGuid,
    &SystemHypervisorProviderGuid, &SystemInterruptProviderGuid, &SystemIoProviderGuid,
    &SystemIoFilterProviderGuid,   &SystemLockProviderGuid,      &SystemMemoryProviderGuid,
    &SystemObjectProviderGuid,     &SystemPowerProviderGuid,     &SystemProcessProviderGuid,
    &SystemProfileProviderGuid,    &SystemRegistryProviderGuid,  &SystemSchedulerProviderGuid,
    &SystemSyscallProviderGuid,    &SystemTimerProviderGuid,
};

uint32_t etwas_system_provider_of(const etwas_guid *guid)
{
    uint32_t provider = 0;

    while (provider < ETWAS_SYSTEM_PROVIDERS && memcmp(guids[provider], guid, sizeof *guid) != 0) {
        provider++;
    }
    return provider;
}

const etwas_guid *etwas_system_provider_guid(uint32_t provider)
{
    return guids[provider];
}
