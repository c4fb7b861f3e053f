/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Parses names of EnableFlags, and of events that can have a stack, for `etwas record`. They are
 * ETW's, with or without their common prefix, in any case.
 */

#include "record/record.h"

#include "cli/suggest.h"
#include "cli/value.h"
#include "kernel/flags.h"

#include <etwas/evntrace.h>
#include <stdio.h>
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

/* A name, which may also be that of a flag, stands for all its entries. */
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

/*
 * Calls `add` with each name of a list, without the common prefix; no name is longer than the
 * buffer.
 */
static bool read_list(const struct etwas_option_use *use,
                      bool (*add)(const struct etwas_option_use *use, const char *name))
{
    const char *list = use->text;
    char item[64];

    while (etwas_value_item(&list, item, sizeof item)) {
        bool has_prefix = strncasecmp(item, prefix, strlen(prefix)) == 0;

        if (!add(use, has_prefix ? item + strlen(prefix) : item)) {
            return false;
        }
    }
    return (list == NULL && *use->text != '\0') ||
           etwas_option_refuse(use, "a list of names with commas");
}

/* Reports that there is no such name, and suggests a similar one. */
static bool refuse_name(const struct etwas_option_use *use, const char *name,
                        const struct etwas_suggestion *near)
{
    fprintf(stderr, "etwas %s: --%s: there is no '%s'", use->command, use->option->name, name);
    if (near->name != NULL) {
        fprintf(stderr, ". Did you mean %s?", near->name);
    }
    fputc('\n', stderr);
    return false;
}

/* ---- flags ----------------------------------------------------------------------------------- */

static bool add_flag(const struct etwas_option_use *use, const char *name)
{
    struct etwas_record_request *request = use->request;
    uint32_t flag = etwas_flags_find(name, strlen(name));
    struct etwas_suggestion near = {0};
    uint32_t all = UINT32_MAX;
    const char *other;

    request->flags |= flag;
    if (flag != 0) {
        return true;
    }
    while ((other = etwas_flags_next(&all)) != NULL) {
        etwas_suggest(&near, name, other);
    }
    return refuse_name(use, name, &near);
}

bool etwas_record_read_flags(const struct etwas_option_use *use)
{
    struct etwas_record_request *request = use->request;

    request->has_kernel = true;
    request->flags = 0;
    return read_list(use, add_flag);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool add_stacks(const struct etwas_option_use *use, const char *name)
{
    struct etwas_record_request *request = use->request;
    struct etwas_suggestion near = {0};
    bool has_some = false;

    for (size_t i = 0; i < sizeof stack_names / sizeof *stack_names; i++) {
        etwas_suggest(&near, name, stack_names[i].name);
        if (strcasecmp(stack_names[i].name, name) != 0) {
            continue;
        }
        if (request->stack_count == ETWAS_RECORD_STACKS) {
            return etwas_option_refuse(use, "a list of fewer names");
        }
        has_some = true;
        request->stacks[request->stack_count++] = (STACK_TRACING_EVENT_ID){
            .EventGuid = *stack_names[i].guid, .Type = stack_names[i].type};
    }
    request->stack_flags |= etwas_flags_find(name, strlen(name));
    return has_some || refuse_name(use, name, &near);
}

bool etwas_record_read_stacks(const struct etwas_option_use *use)
{
    struct etwas_record_request *request = use->request;

    request->has_kernel = true;
    request->stack_count = 0;
    request->stack_flags = 0;
    return read_list(use, add_stacks);
}
