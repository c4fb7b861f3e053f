/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes FILE.index: what the buffer walk reads is written to it as well. */
#include "reader/trace.h"

#include "platform/cancel.h"
#include "reader/damage.h"
#include "reader/index.h"
#include "reader/index_file.h"
#include "reader/trace_file.h"
#include "reader/trace_table.h"

static uint32_t index_write(struct etwas_trace *trace, int descriptor)
{
    struct etwas_index_file file;
    struct etwas_index index;
    uint32_t code;

    if (trace->session_name != NULL || trace->log.fields.start.end_filetime == 0) {
        return ERROR_NOT_SUPPORTED;
    }
    etwas_trace_file_measure(trace);
    if (!etwas_index_file_begin(&file, trace, descriptor)) {
        return ERROR_FILE_CORRUPT;
    }
    trace->quiet = true; /* damage is reported when the events are read */
    etwas_trace_begin_information(trace);
    code = etwas_index_build(trace, &index, &file);
    trace->quiet = false;
    if (code == ERROR_SUCCESS) {
        code = etwas_index_can_seek(trace, &index) && !trace->information.unfinished
                   ? etwas_index_file_end(&file)
                   : ERROR_NOT_SUPPORTED;
    }
    etwas_index_free(&index);
    return code;
}

uint32_t etwas_trace_write_index(etwas_trace_handle trace, int descriptor)
{
    int cancelling = etwas_cancel_forbid();
    struct etwas_trace *opened;
    uint32_t code = etwas_trace_table_acquire(&trace, 1, &opened);

    if (code == ERROR_SUCCESS) {
        code = index_write(opened, descriptor);
        etwas_trace_table_release(&trace, 1);
    }
    etwas_cancel_allow(cancelling);
    return code;
}
