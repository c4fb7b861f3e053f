/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The table of EnableFlags. */

#include "kernel/flags.h"

#include <etwas/evntrace.h>
#include <string.h>
#include <strings.h>

struct flag_name {
    const char *name;
    uint32_t flag;
};

static const struct flag_name flag_names[] = {
    {"process", EVENT_TRACE_FLAG_PROCESS},
    {"process_counters", EVENT_TRACE_FLAG_PROCESS_COUNTERS},
    {"thread", EVENT_TRACE_FLAG_THREAD},
    {"image_load", EVENT_TRACE_FLAG_IMAGE_LOAD},
    {"cswitch", EVENT_TRACE_FLAG_CSWITCH},
    {"dispatcher", EVENT_TRACE_FLAG_DISPATCHER},
    {"dpc", EVENT_TRACE_FLAG_DPC},
    {"interrupt", EVENT_TRACE_FLAG_INTERRUPT},
    {"systemcall", EVENT_TRACE_FLAG_SYSTEMCALL},
    {"disk_io", EVENT_TRACE_FLAG_DISK_IO},
    {"disk_io_init", EVENT_TRACE_FLAG_DISK_IO_INIT},
    {"split_io", EVENT_TRACE_FLAG_SPLIT_IO},
    {"vamap", EVENT_TRACE_FLAG_VAMAP},
    {"disk_file_io", EVENT_TRACE_FLAG_DISK_FILE_IO},
    {"memory_hard_faults", EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS},
    {"file_io", EVENT_TRACE_FLAG_FILE_IO},
    {"file_io_init", EVENT_TRACE_FLAG_FILE_IO_INIT},
    {"memory_page_faults", EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS},
    {"job", EVENT_TRACE_FLAG_JOB},
    {"dbgprint", EVENT_TRACE_FLAG_DBGPRINT},
    {"virtual_alloc", EVENT_TRACE_FLAG_VIRTUAL_ALLOC},
    {"network_tcpip", EVENT_TRACE_FLAG_NETWORK_TCPIP},
    {"profile", EVENT_TRACE_FLAG_PROFILE},
    {"alpc", EVENT_TRACE_FLAG_ALPC},
    {"registry", EVENT_TRACE_FLAG_REGISTRY},
    {"driver", EVENT_TRACE_FLAG_DRIVER},
    {"no_sysconfig", EVENT_TRACE_FLAG_NO_SYSCONFIG},
};

uint32_t etwas_flags_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++) {
        if (strlen(flag_names[i].name) == length &&
            strncasecmp(flag_names[i].name, name, length) == 0) {
            return flag_names[i].flag;
        }
    }
    return 0;
}

const char *etwas_flags_next(uint32_t *flags)
{
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++) {
        if ((*flags & flag_names[i].flag) != 0) {
            *flags &= ~flag_names[i].flag;
            return flag_names[i].name;
        }
    }
    return NULL;
}
