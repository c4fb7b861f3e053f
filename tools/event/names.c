/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Names of well-known numbers.
 */

#include "event/names.h"

#include "print/human.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <inttypes.h>
#include <string.h>

const etwas_guid etwas_names_header_class = {
    0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};
const etwas_guid etwas_names_metadata_class = {
    0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};
const etwas_guid etwas_names_image_class = {
    0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
const etwas_guid etwas_names_build_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};
const etwas_guid etwas_names_own_class = {
    0x7be5a508, 0xdb35, 0x4ec9, {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69}};
const etwas_guid etwas_names_performance_class = {
    0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
const etwas_guid etwas_names_stack_class = {
    0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};

struct class_name {
    etwas_guid guid;
    const char *name;
};

static const struct class_name classes[] = {
    {{0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}}, "EventTrace"},
    {{0x3d6fa8d4, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}}, "DiskIo"},
    {{0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}}, "PageFault"},
    {{0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}}, "Process"},
    {{0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}}, "FileIo"},
    {{0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}}, "Thread"},
    {{0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0x00, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}}, "TcpIp"},
    {{0x3282fc76, 0xfeed, 0x498e, {0x8a, 0xa7, 0xe7, 0x0f, 0x45, 0x9d, 0x43, 0x0e}}, "Job"},
    {{0xbf3a50c5, 0xa9c9, 0x4988, {0xa0, 0x05, 0x2d, 0xf0, 0xb7, 0xc8, 0x0f, 0x80}}, "UdpIp"},
    {{0xae53722e, 0xc863, 0x11d2, {0x86, 0x59, 0x00, 0xc0, 0x4f, 0xa3, 0x21, 0xa1}}, "Registry"},
    {{0x13976d09, 0xa327, 0x438c, {0x95, 0x0b, 0x7f, 0x03, 0x19, 0x28, 0x15, 0xc7}}, "DbgPrint"},
    {{0x01853a65, 0x418f, 0x4f36, {0xae, 0xfc, 0xdc, 0x0f, 0x1d, 0x2f, 0xd2, 0x35}},
     "SystemConfig"},
    {{0x0268a8b6, 0x74fd, 0x4302, {0x9d, 0xd0, 0x6e, 0x8f, 0x17, 0x95, 0xc0, 0xcf}}, "Pool"},
    {{0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}}, "PerfInfo"},
    {{0x222962ab, 0x6180, 0x4b88, {0xa8, 0x25, 0x34, 0x6b, 0x75, 0xf2, 0xa2, 0x4a}}, "Heap"},
    {{0x89497f50, 0xeffe, 0x4440, {0x8c, 0xf2, 0xce, 0x6b, 0x1c, 0xdc, 0xac, 0xa7}}, "Object"},
    {{0xe43445e0, 0x0903, 0x48c3, {0xb8, 0x78, 0xff, 0x0f, 0xcc, 0xeb, 0xdd, 0x04}}, "Power"},
    {{0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}}, "Image"},
    {{0x3ac66736, 0xcc59, 0x4cff, {0x81, 0x15, 0x8d, 0xf5, 0x0e, 0x39, 0x81, 0x6b}}, "CritSec"},
    {{0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}}, "StackWalk"},
    {{0x45d8cccd, 0x539f, 0x4b72, {0xa8, 0xb7, 0x5c, 0x68, 0x31, 0x42, 0x60, 0x9a}}, "ALPC"},
    {{0xd837ca92, 0x12b9, 0x44a5, {0xad, 0x6a, 0x3a, 0x65, 0xb3, 0x57, 0x8a, 0xa8}}, "SplitIo"},
    {{0xc861d0e2, 0xa2c1, 0x4d36, {0x9f, 0x9c, 0x97, 0x0b, 0xab, 0x94, 0x3a, 0x12}}, "ThreadPool"},
    {{0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}}, "SystemTrace"},
};

const char *etwas_names_class(const etwas_guid *guid)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (classes[i].guid.Data1 == guid->Data1 &&
            memcmp(&classes[i].guid, guid, sizeof *guid) == 0) {
            return classes[i].name;
        }
    }
    return NULL;
}

const char *etwas_names_header_type(uint8_t type)
{
    switch (type) {
    case 0x00:
        return "Header";
    case 0x05:
        return "Extension";
    case 0x08:
        return "RundownComplete";
    case 0x20:
        return "EndExtension";
    case 0x30:
        return "RundownBegin";
    case 0x31:
        return "RundownEnd";
    case 0x40:
        return "DbgIdRSDS";
    case 0x41:
        return "DbgIdNB10";
    case 0x42:
        return "BuildLab";
    case 0x43:
        return "BinaryPath";
    case 0x50:
        return "Partition";
    default:
        return NULL;
    }
}

static const struct {
    uint32_t bit;
    const char *name;
} modes[] = {
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, "sequential"},
    {EVENT_TRACE_FILE_MODE_CIRCULAR, "circular"},
    {EVENT_TRACE_FILE_MODE_APPEND, "append"},
    {EVENT_TRACE_FILE_MODE_NEWFILE, "new file"},
    {EVENT_TRACE_USE_MS_FLUSH_TIMER, "flush timer in ms"},
    {EVENT_TRACE_FILE_MODE_PREALLOCATE, "preallocate"},
    {EVENT_TRACE_NONSTOPPABLE_MODE, "non-stoppable"},
    {EVENT_TRACE_SECURE_MODE, "secure"},
    {EVENT_TRACE_REAL_TIME_MODE, "real time"},
    {EVENT_TRACE_DELAY_OPEN_FILE_MODE, "delayed open"},
    {EVENT_TRACE_BUFFERING_MODE, "buffering"},
    {EVENT_TRACE_PRIVATE_LOGGER_MODE, "private"},
    {EVENT_TRACE_ADD_HEADER_MODE, "add header"},
    {EVENT_TRACE_USE_KBYTES_FOR_SIZE, "size in KiB"},
    {EVENT_TRACE_USE_GLOBAL_SEQUENCE, "global sequence"},
    {EVENT_TRACE_USE_LOCAL_SEQUENCE, "local sequence"},
    {EVENT_TRACE_RELOG_MODE, "relogged"},
    {EVENT_TRACE_PRIVATE_IN_PROC, "private in process"},
    {EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN, "stop on hybrid shutdown"},
    {EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN, "persist on hybrid shutdown"},
    {EVENT_TRACE_USE_PAGED_MEMORY, "paged memory"},
    {EVENT_TRACE_SYSTEM_LOGGER_MODE, "system logger"},
    {EVENT_TRACE_COMPRESSED_MODE, "compressed"},
    {EVENT_TRACE_INDEPENDENT_SESSION_MODE, "independent session"},
    {EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, "no per-processor buffers"},
    {EVENT_TRACE_ADDTO_TRIAGE_DUMP, "add to triage dump"},
};

void etwas_names_mode(struct etwas_output *output, uint32_t log_file_mode, const char *separator)
{
    const char *before = "";

    if (log_file_mode == 0) {
        etwas_output_text(output, "sequential");
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if ((log_file_mode & modes[i].bit) != 0) {
            etwas_output_format(output, "%s%s", before, modes[i].name);
            before = separator;
            log_file_mode &= ~modes[i].bit;
        }
    }
    if (log_file_mode != 0) {
        etwas_output_format(output, "%s0x%x", before, log_file_mode);
    }
}

const char *etwas_names_clock(uint32_t clock)
{
    switch (clock) {
    case ETWAS_CLOCK_QPC:
        return "performance counter";
    case ETWAS_CLOCK_SYSTEM_TIME:
        return "system time";
    case ETWAS_CLOCK_TSC:
        return "processor cycle counter";
    default:
        return "unknown clock";
    }
}

const char *etwas_names_verdict(uint32_t verdict)
{
    switch (verdict) {
    case ETWAS_CLOCK_VERDICT_UNUSABLE:
        return "unusable";
    case ETWAS_CLOCK_VERDICT_DOUBTFUL:
        return "doubtful";
    case ETWAS_CLOCK_VERDICT_TRUSTED:
        return "trusted";
    default:
        return "unknown";
    }
}

const char *etwas_names_stated_by(uint32_t stated_by)
{
    switch (stated_by) {
    case ETWAS_CLOCK_STATED_NOWHERE:
        return "nobody";
    case ETWAS_CLOCK_STATED_CPUID_15H:
        return "CPUID 15h";
    case ETWAS_CLOCK_STATED_CPUID_16H:
        return "CPUID 16h";
    case ETWAS_CLOCK_STATED_HYPERVISOR:
        return "the hypervisor";
    case ETWAS_CLOCK_STATED_CNTFRQ:
        return "CNTFRQ";
    default:
        return "unknown";
    }
}

const char *etwas_names_error(uint32_t code)
{
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
        return "no such file";
    case ERROR_PATH_NOT_FOUND:
        return "no such folder";
    case ERROR_ACCESS_DENIED:
        return "permission denied";
    case ERROR_NOT_ENOUGH_MEMORY:
        return "not enough memory";
    case ERROR_BAD_PATHNAME:
        return "not the name of a readable file";
    case ERROR_FILE_CORRUPT:
        return "not an event trace";
    case ERROR_NOT_SUPPORTED:
        return "not supported";
    case ERROR_NO_SYSTEM_RESOURCES:
        return "there are no more threads, or files that it or its host may open (ulimit -n)";
    case ERROR_WMI_INSTANCE_NOT_FOUND:
        return "the process that hosts it is gone";
    default:
        return NULL;
    }
}

const char *etwas_names_unattached(uint32_t code)
{
    switch (code) {
    case ERROR_NO_SYSTEM_RESOURCES:
        return "the session's process, or this one, may open too few files (ulimit -n), or 256 "
               "processes "
               "log into it";
    case ERROR_NOT_SUPPORTED:
        return "its release of the library, or the processors that it sees, differ too much";
    case ERROR_ACCESS_DENIED:
        return "it may not write to the session's buffers";
    case ERROR_INVALID_DATA:
        return "the session's buffers are not what they say they are";
    case ERROR_INVALID_FUNCTION:
        return "its clock differs from the session's (a time namespace)";
    default:
        return etwas_error_text(code);
    }
}

void etwas_names_put_unattached(struct etwas_output *output, uint32_t processes, const char *verb,
                                uint32_t code)
{
    if (processes == 0) {
        etwas_output_text(output, "some");
    } else {
        etwas_output_format(output, "%" PRIu32, processes);
    }
    etwas_output_format(output,
                        " process%s %s; their events are missing (lost counts what they could "
                        "report); the last: %s\n",
                        processes == 1 ? "" : "es", verb, etwas_names_unattached(code));
}

const char etwas_names_lost_no_room[] =
    "since the kernel's rings were full: ask for fewer flags or stacks";
const char etwas_names_lost_not_handed_over[] =
    "that the kernel counted and did not hand over, most where processors idle: keep these busy";

void etwas_names_put_lost_switches(struct etwas_output *output, uint64_t switches)
{
    char count[ETWAS_HUMAN_CHARACTERS];

    if (switches == 0) {
        etwas_output_text(output,
                          "none of them was counted as a context switch: 'etwas stat --cpu-time' "
                          "says where one is missing\n");
    } else {
        etwas_output_format(output, "%s of them %s: what ran then is not known\n",
                            etwas_human_count(count, switches),
                            switches == 1 ? "a context switch" : "context switches");
    }
}
