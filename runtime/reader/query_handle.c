/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* QueryTraceProcessingHandle: information about an open trace. */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "reader/trace.h"
#include "reader/trace_table.h"

/* Returns the information. The table's lock is held. NULL: an unknown class. */
static const void *query_handle_answer(const struct etwas_trace *trace, uint32_t information_class,
                                       uint32_t *bytes)
{
    /* There is only the host's partition, which is all zeroes. */
    static const ETW_TRACE_PARTITION_INFORMATION host;
    static const ETW_TRACE_PARTITION_INFORMATION_V2 host_v2;

    switch (information_class) {
    case EtwQueryPartitionInformation:
        *bytes = sizeof host;
        return &host;
    case EtwQueryPartitionInformationV2:
        *bytes = sizeof host_v2;
        return &host_v2;
    case EtwQueryLogFileHeader:
        *bytes = sizeof trace->logfile.w.LogfileHeader;
        return &trace->logfile.w.LogfileHeader;
    default:
        return NULL;
    }
}

uint32_t QueryTraceProcessingHandle(etwas_trace_handle handle,
                                    ETW_PROCESS_HANDLE_INFO_TYPE information_class, void *in,
                                    uint32_t in_bytes, void *out, uint32_t out_bytes,
                                    uint32_t *return_length)
{
    const struct etwas_trace *trace;
    const void *answer;
    uint32_t bytes;
    uint32_t code = ERROR_SUCCESS;

    (void)in;
    (void)in_bytes;
    if (return_length == NULL || (out == NULL && out_bytes != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    trace = etwas_trace_table_find(handle);
    answer = trace != NULL ? query_handle_answer(trace, (uint32_t)information_class, &bytes) : NULL;
    if (trace == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (answer == NULL) {
        code = ERROR_NOT_SUPPORTED;
    } else {
        *return_length = bytes;
        if (bytes > out_bytes) {
            code = ERROR_INSUFFICIENT_BUFFER;
        } else {
            memcpy(out, answer, bytes);
        }
    }
    etwas_trace_table_unlock();
    return code;
}
