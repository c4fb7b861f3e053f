/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The well-known GUIDs. They are weak, so that a program links that defines one itself, with the
 * same value, as ported programs do.
 */

#include <etwas/evntrace.h>

#define BYTE(value, index) (uint8_t)((uint64_t)(value) >> 8 * (index))

/* Defines a GUID by the parts of its text form: {first-second-third-fourth-last}. */
#define WEAK_GUID(name, first, second, third, fourth, last)                                        \
    __attribute__((weak))                                                                          \
    const etwas_guid name = {first,                                                                \
                             second,                                                               \
                             third,                                                                \
                             {BYTE(fourth, 1), BYTE(fourth, 0), BYTE(last, 5), BYTE(last, 4),      \
                              BYTE(last, 3), BYTE(last, 2), BYTE(last, 1), BYTE(last, 0)}}

WEAK_GUID(SystemTraceControlGuid, 0x9e814aad, 0x3204, 0x11d2, 0x9a82, 0x006008a86939);
WEAK_GUID(EventTraceGuid, 0x68fdd900, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3);
WEAK_GUID(EventTraceConfigGuid, 0x01853a65, 0x418f, 0x4f36, 0xaefc, 0xdc0f1d2fd235);
WEAK_GUID(DefaultTraceSecurityGuid, 0x0811c1af, 0x7a07, 0x4a06, 0x82ed, 0x869455cdf713);
WEAK_GUID(PrivateLoggerNotificationGuid, 0x3595ab5c, 0x042a, 0x4c8e, 0xb942, 0x2d059bfeb1b1);
WEAK_GUID(GlobalLoggerGuid, 0xe8908abc, 0xaa84, 0x11d2, 0x9a93, 0x00805f85d7c6);
WEAK_GUID(KernelRundownGuid, 0x3b9c9951, 0x3480, 0x4220, 0x9377, 0x9c8e5184f5cd);
WEAK_GUID(ProcessGuid, 0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c);
WEAK_GUID(ThreadGuid, 0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c);
WEAK_GUID(PageFaultGuid, 0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c);
WEAK_GUID(DiskIoGuid, 0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c);
WEAK_GUID(FileIoGuid, 0x90cbdc39, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3);
WEAK_GUID(ImageLoadGuid, 0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518);
WEAK_GUID(PerfInfoGuid, 0xce1dbfb4, 0x137e, 0x4da6, 0x87b0, 0x3f59aa102cbc);
WEAK_GUID(RegistryGuid, 0xae53722e, 0xc863, 0x11d2, 0x8659, 0x00c04fa321a1);
WEAK_GUID(SplitIoGuid, 0xd837ca92, 0x12b9, 0x44a5, 0xad6a, 0x3a65b3578aa8);
WEAK_GUID(TcpIpGuid, 0x9a280ac0, 0xc8e0, 0x11d1, 0x84e2, 0x00c04fb998a2);
WEAK_GUID(UdpIpGuid, 0xbf3a50c5, 0xa9c9, 0x4988, 0xa005, 0x2df0b7c80f80);
WEAK_GUID(ALPCGuid, 0x45d8cccd, 0x539f, 0x4b72, 0xa8b7, 0x5c683142609a);
WEAK_GUID(StackWalkGuid, 0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94, 0xf57fe20d0ce3);
WEAK_GUID(HeapGuid, 0x222962ab, 0x6180, 0x4b88, 0xa825, 0x346b75f2a24a);
WEAK_GUID(CritSecGuid, 0x3ac66736, 0xcc59, 0x4cff, 0x8115, 0x8df50e39816b);
WEAK_GUID(PoolGuid, 0x0268a8b6, 0x74fd, 0x4302, 0x9dd0, 0x6e8f1795c0cf);
WEAK_GUID(SystemAlpcProviderGuid, 0xfcb9baaf, 0xe529, 0x4980, 0x92e9, 0xced1a6aadfdf);
WEAK_GUID(SystemConfigProviderGuid, 0xfef3a8b6, 0x318d, 0x4b67, 0xa96a, 0x3b0f6b8f18fe);
WEAK_GUID(SystemCpuProviderGuid, 0xc6c5265f, 0xeae8, 0x4650, 0xaae4, 0x9d48603d8510);
WEAK_GUID(SystemHypervisorProviderGuid, 0xbafa072a, 0x918a, 0x4bed, 0xb622, 0xbc152097098f);
WEAK_GUID(SystemInterruptProviderGuid, 0xd4bbee17, 0xb545, 0x4888, 0x858b, 0x744169015b25);
WEAK_GUID(SystemIoProviderGuid, 0x3d5c43e3, 0x0f1c, 0x4202, 0xb817, 0x174c0070dc79);
WEAK_GUID(SystemIoFilterProviderGuid, 0xfbd09363, 0x9e22, 0x4661, 0xb8bf, 0xe7a34b535b8c);
WEAK_GUID(SystemLockProviderGuid, 0x721ddfd3, 0xdacc, 0x4e1e, 0xb26a, 0xa2cb31d4705a);
WEAK_GUID(SystemMemoryProviderGuid, 0x82958ca9, 0xb6cd, 0x47f8, 0xa3a8, 0x03ae85a4bc24);
WEAK_GUID(SystemObjectProviderGuid, 0xfebd7460, 0x3d1d, 0x47eb, 0xaf49, 0xc9eeb1e146f2);
WEAK_GUID(SystemPowerProviderGuid, 0xc134884a, 0x32d5, 0x4488, 0x80e5, 0x14ed7abb8269);
WEAK_GUID(SystemProcessProviderGuid, 0x151f55dc, 0x467d, 0x471f, 0x83b5, 0x5f889d46ff66);
WEAK_GUID(SystemProfileProviderGuid, 0xbfeb0324, 0x1cee, 0x496f, 0xa409, 0x2ac2b48a6322);
WEAK_GUID(SystemRegistryProviderGuid, 0x16156bd9, 0xfab4, 0x4cfa, 0xa232, 0x89d1099058e3);
WEAK_GUID(SystemSchedulerProviderGuid, 0x599a2a76, 0x4d91, 0x4910, 0x9ac7, 0x7d33f2e97a6c);
WEAK_GUID(SystemSyscallProviderGuid, 0x434286f7, 0x6f1b, 0x45bb, 0xb37e, 0x95f623046c7c);
WEAK_GUID(SystemTimerProviderGuid, 0x4f061568, 0xe215, 0x499f, 0xab2e, 0xeda0ae890a5b);
