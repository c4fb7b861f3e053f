/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Names of EnableFlags, and of events that can have a stack, as they are given to `etwas record`:
 * those of ETW, with what they all begin with or without it, in any case.
 */

#include "record/record.h"

#include "kernel/flags.h"

#include <etwas/evntrace.h>
#include <string.h>
#include <strings.h>

static const char prefix[] = "EVENT_TRACE_FLAG_";

struct stack_name {
    const char *name;
    const GUID *guid;
    uint8_t type;
};

static const GUID debug_print_guid = {
    0x13976d09, 0xa327, 0x438c, {0x95, 0x0b, 0x7f, 0x03, 0x19, 0x28, 0x15, 0xc7}};
static const GUID job_guid = {
    0x3282fc76, 0xfeed, 0x498e, {0x8a, 0xa7, 0xe7, 0x0f, 0x45, 0x9d, 0x43, 0x0e}};

/* A name, which is also that of a flag, stands for all entries with it. */
static const struct stack_name stack_names[] = {
    {"cswitch", &ThreadGuid, 36},
    {"dispatcher", &ThreadGuid, 50},
    {"profile", &PerfInfoGuid, 46},
    {"systemcall", &PerfInfoGuid, 51},
    {"memory_page_faults", &PageFaultGuid, 10},
    {"memory_page_faults", &PageFaultGuid, 11},
    {"memory_page_faults", &PageFaultGuid, 12},
    {"memory_page_faults", &PageFaultGuid, 15},
    {"virtual_alloc", &PageFaultGuid, 98},
    {"virtual_alloc", &PageFaultGuid, 99},
    {"memory_hard_faults", &PageFaultGuid, 32},
    {"file_io", &FileIoGuid, 76},
    {"file_io_init", &FileIoGuid, 64},
    {"file_io_init", &FileIoGuid, 66},
    {"file_io_init", &FileIoGuid, 67},
    {"file_io_init", &FileIoGuid, 68},
    {"file_io_init", &FileIoGuid, 69},
    {"file_io_init", &FileIoGuid, 70},
    {"file_io_init", &FileIoGuid, 71},
    {"file_io_init", &FileIoGuid, 72},
    {"file_io_init", &FileIoGuid, 73},
    {"file_io_init", &FileIoGuid, 74},
    {"file_io_init", &FileIoGuid, 75},
    {"disk_io_init", &DiskIoGuid, 12},
    {"disk_io_init", &DiskIoGuid, 13},
    {"disk_io_init", &DiskIoGuid, 15},
    {"split_io", &SplitIoGuid, 32},
    {"network_tcpip", &TcpIpGuid, 10},
    {"network_tcpip", &TcpIpGuid, 11},
    {"network_tcpip", &TcpIpGuid, 26},
    {"network_tcpip", &TcpIpGuid, 27},
    {"network_tcpip", &UdpIpGuid, 10},
    {"network_tcpip", &UdpIpGuid, 11},
    {"network_tcpip", &UdpIpGuid, 26},
    {"network_tcpip", &UdpIpGuid, 27},
    {"dbgprint", &debug_print_guid, 32},
    {"job", &job_guid, 32},
    {"job", &job_guid, 33},
    {"job", &job_guid, 35},
};

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncasecmp(name, text, length) == 0;
}

/*
 * The next name of the list, without what all begin with, and its length; the list is over with
 * NULL.
 */
static const char *next_name(const char **text, size_t *length)
{
    const char *name = *text;

    if (name == NULL) {
        return NULL;
    }
    if (strncasecmp(name, prefix, strlen(prefix)) == 0) {
        name += strlen(prefix);
    }
    *length = strcspn(name, ",");
    *text = name[*length] == ',' ? name + *length + 1 : NULL;
    return name;
}

bool etwas_record_parse_flags(const char *text, uint32_t *flags, const char **bad)
{
    size_t length;

    *flags = 0;
    while ((*bad = next_name(&text, &length)) != NULL) {
        uint32_t flag = etwas_flags_find(*bad, length);

        if (flag == 0) {
            return false;
        }
        *flags |= flag;
    }
    return true;
}

/* False: there is none of this name, or there are too many. */
static bool add_stacks(struct etwas_record_request *request, const char *name, size_t length)
{
    bool has_some = false;

    for (size_t i = 0; i < sizeof stack_names / sizeof *stack_names; i++) {
        if (!is_name(stack_names[i].name, name, length)) {
            continue;
        }
        if (request->stack_count == ETWAS_RECORD_STACKS) {
            return false;
        }
        has_some = true;
        request->stacks[request->stack_count++] = (STACK_TRACING_EVENT_ID){
            .EventGuid = *stack_names[i].guid, .Type = stack_names[i].type};
    }
    request->stack_flags |= etwas_flags_find(name, length);
    return has_some;
}

bool etwas_record_parse_stacks(const char *text, struct etwas_record_request *request,
                               const char **bad)
{
    size_t length;

    request->stack_count = 0;
    request->stack_flags = 0;
    while ((*bad = next_name(&text, &length)) != NULL) {
        if (!add_stacks(request, *bad, length)) {
            return false;
        }
    }
    return true;
}
