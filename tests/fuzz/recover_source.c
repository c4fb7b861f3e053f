/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover_source.h"

#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read_trace.h"
#include "walk.h"

/* Returns a path in memory where that is possible. */
const char *recover_path(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/etwas-fuzz-%s-%d",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name, (int)getpid());
    return path;
}

bool recover_source(const uint8_t *data, size_t size, uint32_t index)
{
    struct read_trace result = {0};
    int file = memfd_create("source", MFD_CLOEXEC);
    etwas_recovered looked;
    etwas_recovered recovered;
    char output[128];
    char path[64];
    uint32_t code;

    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    (void)snprintf(output, sizeof output, "%s", recover_path("recover"));
    (void)etwas_recover(path, index, NULL, &looked);
    code = etwas_recover(path, index, output, &recovered);
    MUST(memchr(recovered.session_name, 0, sizeof recovered.session_name) != NULL);
    if (code == ERROR_SUCCESS) {
        read_trace_file(output, PROCESS_TRACE_MODE_EVENT_RECORD, &result);
        MUST(result.code == ERROR_SUCCESS || result.code == ERROR_FILE_CORRUPT);
        MUST(looked.events == recovered.events && looked.buffers == recovered.buffers);
        MUST(looked.schemas == recovered.schemas && looked.in_log_file == recovered.in_log_file);
        /* The result has one event more: the log file header's. */
        MUST(result.events == recovered.events + recovered.schemas + 1);
    }
    (void)unlink(output);
    (void)close(file);
    return code == ERROR_SUCCESS;
}
