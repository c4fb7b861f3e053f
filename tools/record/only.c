/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableFlags have no filter, but system providers do. So the events of some processes are recorded
 * by the keywords of these providers.
 */

#include "record/record.h"

#include <etwas/evntrace.h>

#include <string.h>

/* Entries of one provider are adjacent. */
static const struct keyword {
    const GUID *provider;
    ULONGLONG keyword;
    uint32_t flag;
} keywords[] = {
    {&SystemInterruptProviderGuid, SYSTEM_INTERRUPT_KW_GENERAL, EVENT_TRACE_FLAG_INTERRUPT},
    {&SystemInterruptProviderGuid, SYSTEM_INTERRUPT_KW_DPC, EVENT_TRACE_FLAG_DPC},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_DISK, EVENT_TRACE_FLAG_DISK_IO},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_DISK_INIT, EVENT_TRACE_FLAG_DISK_IO_INIT},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_FILENAME, EVENT_TRACE_FLAG_DISK_FILE_IO},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_SPLIT, EVENT_TRACE_FLAG_SPLIT_IO},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_FILE, EVENT_TRACE_FLAG_FILE_IO},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_FILE_INIT, EVENT_TRACE_FLAG_FILE_IO_INIT},
    {&SystemIoProviderGuid, SYSTEM_IO_KW_NETWORK, EVENT_TRACE_FLAG_NETWORK_TCPIP},
    {&SystemMemoryProviderGuid, SYSTEM_MEMORY_KW_ALL_FAULTS, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS},
    {&SystemMemoryProviderGuid, SYSTEM_MEMORY_KW_HARD_FAULTS, EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS},
    {&SystemMemoryProviderGuid, SYSTEM_MEMORY_KW_VIRTUAL_ALLOC, EVENT_TRACE_FLAG_VIRTUAL_ALLOC},
    {&SystemMemoryProviderGuid, SYSTEM_MEMORY_KW_VAMAP, EVENT_TRACE_FLAG_VAMAP},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_GENERAL, EVENT_TRACE_FLAG_PROCESS},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD, EVENT_TRACE_FLAG_THREAD},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_LOADER, EVENT_TRACE_FLAG_IMAGE_LOAD},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_PERF_COUNTER, EVENT_TRACE_FLAG_PROCESS_COUNTERS},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_DBGPRINT, EVENT_TRACE_FLAG_DBGPRINT},
    {&SystemProcessProviderGuid, SYSTEM_PROCESS_KW_JOB, EVENT_TRACE_FLAG_JOB},
    {&SystemProfileProviderGuid, SYSTEM_PROFILE_KW_GENERAL, EVENT_TRACE_FLAG_PROFILE},
    {&SystemSchedulerProviderGuid, SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH, EVENT_TRACE_FLAG_CSWITCH},
    {&SystemSchedulerProviderGuid, SYSTEM_SCHEDULER_KW_DISPATCHER, EVENT_TRACE_FLAG_DISPATCHER},
    {&SystemSyscallProviderGuid, SYSTEM_SYSCALL_KW_GENERAL, EVENT_TRACE_FLAG_SYSTEMCALL},
};

enum {
    KEYWORDS = sizeof keywords / sizeof *keywords
};

uint32_t etwas_record_others(uint32_t flags)
{
    for (uint32_t i = 0; i < KEYWORDS; i++) {
        flags &= ~keywords[i].flag;
    }
    return flags;
}

/* Returns the keywords of the provider that begins at `first` for the flags. */
static ULONGLONG keywords_of(uint32_t first, uint32_t flags)
{
    ULONGLONG wanted = 0;

    for (uint32_t i = first; i < KEYWORDS && keywords[i].provider == keywords[first].provider;
         i++) {
        wanted |= (flags & keywords[i].flag) != 0 ? keywords[i].keyword : 0;
    }
    return wanted;
}

ULONG etwas_record_only(TRACEHANDLE session, uint32_t flags,
                        const struct etwas_steer_filters *filters)
{
    EVENT_FILTER_DESCRIPTOR filter = {.Ptr = (ULONGLONG)(ULONG_PTR)filters->processes,
                                      .Size = filters->process_count *
                                              (uint32_t)sizeof *filters->processes,
                                      .Type = EVENT_FILTER_TYPE_PID};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = &filter,
                                          .FilterDescCount = 1};
    ULONG code = ERROR_SUCCESS;

    for (uint32_t i = 0; code == ERROR_SUCCESS && i < KEYWORDS; i++) {
        bool begins = i == 0 || keywords[i].provider != keywords[i - 1].provider;
        ULONGLONG wanted = begins ? keywords_of(i, flags) : 0;

        if (wanted != 0) {
            code = EnableTraceEx2(session, keywords[i].provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                  0, wanted, 0, 0, &parameters);
        }
    }
    return code;
}
