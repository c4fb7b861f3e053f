/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A trace file: read to its end, and every event decoded, in the form that the file's last byte
 * chooses. The mutator is etl_mutate.c.
 */
#include <etwas/evntcons.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read_trace.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t modes[] = {
        PROCESS_TRACE_MODE_EVENT_RECORD,
        PROCESS_TRACE_MODE_EVENT_RECORD,
        PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        0,
    };
    struct read_trace result = {0};
    int file = memfd_create("trace", MFD_CLOEXEC);
    char path[64];

    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_trace_file(path, modes[size > 0 ? data[size - 1] % 4 : 0], &result);
    (void)close(file);
    return 0;
}
