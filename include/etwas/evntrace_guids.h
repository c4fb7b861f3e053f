/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_GUIDS_H
#define ETWAS_EVNTRACE_GUIDS_H

/*
 * The well-known GUIDs of evntrace.h; include that.
 *
 * The library defines them, as weak symbols: a program may define its own with the same value.
 * INITGUID is accepted and not needed.
 */

#include <etwas/types.h>

#ifndef ETWAS_NO_WINDOWS_TYPES
#include <etwas/windows_types.h>
#endif

ETWAS_BEGIN_DECLS

#define ETWAS_WELL_KNOWN_GUID(name) extern const etwas_guid name ETWAS_API(etwas_##name)

/* Sessions, and the events of a log file itself. */
ETWAS_WELL_KNOWN_GUID(SystemTraceControlGuid);
ETWAS_WELL_KNOWN_GUID(EventTraceGuid);
ETWAS_WELL_KNOWN_GUID(EventTraceConfigGuid);
ETWAS_WELL_KNOWN_GUID(DefaultTraceSecurityGuid);
ETWAS_WELL_KNOWN_GUID(PrivateLoggerNotificationGuid);
ETWAS_WELL_KNOWN_GUID(GlobalLoggerGuid);
ETWAS_WELL_KNOWN_GUID(KernelRundownGuid);

/* Event classes of the NT Kernel Logger. */
ETWAS_WELL_KNOWN_GUID(ProcessGuid);
ETWAS_WELL_KNOWN_GUID(ThreadGuid);
ETWAS_WELL_KNOWN_GUID(PageFaultGuid);
ETWAS_WELL_KNOWN_GUID(DiskIoGuid);
ETWAS_WELL_KNOWN_GUID(FileIoGuid);
ETWAS_WELL_KNOWN_GUID(ImageLoadGuid);
ETWAS_WELL_KNOWN_GUID(PerfInfoGuid);
ETWAS_WELL_KNOWN_GUID(RegistryGuid);
ETWAS_WELL_KNOWN_GUID(SplitIoGuid);
ETWAS_WELL_KNOWN_GUID(TcpIpGuid);
ETWAS_WELL_KNOWN_GUID(UdpIpGuid);
ETWAS_WELL_KNOWN_GUID(ALPCGuid);
ETWAS_WELL_KNOWN_GUID(StackWalkGuid);
ETWAS_WELL_KNOWN_GUID(HeapGuid);
ETWAS_WELL_KNOWN_GUID(CritSecGuid);
ETWAS_WELL_KNOWN_GUID(PoolGuid);

/* System providers. ETW page: "System Providers". */
ETWAS_WELL_KNOWN_GUID(SystemAlpcProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemConfigProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemCpuProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemHypervisorProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemInterruptProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemIoProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemIoFilterProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemLockProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemMemoryProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemObjectProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemPowerProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemProcessProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemProfileProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemRegistryProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemSchedulerProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemSyscallProviderGuid);
ETWAS_WELL_KNOWN_GUID(SystemTimerProviderGuid);

#undef ETWAS_WELL_KNOWN_GUID

ETWAS_END_DECLS

#endif
