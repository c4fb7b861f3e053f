/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace and CloseTrace on running sessions. */
#include "reader/live.h"

#include <stdlib.h>

#include "flush/session_realtime.h"

uint32_t etwas_live_connect(struct etwas_trace *trace)
{
    struct etwas_consumer *consumer;
    uint32_t code = etwas_session_realtime_connect(trace->session_name, &consumer);
    uint32_t bytes;

    if (code != ERROR_SUCCESS)
        return code;
    free(trace->log.names);
    trace->log = (struct etwas_file_header){0};
    trace->head = etwas_consumer_head(consumer, &bytes);
    trace->file_bytes = bytes;
    code = etwas_file_header_read(trace);
    trace->head = NULL;
    if (code != ERROR_SUCCESS) {
        etwas_consumer_disconnect(consumer);
        return code;
    }
    etwas_trace_table_set_consumer(trace, consumer);
    return ERROR_SUCCESS;
}

void etwas_live_disconnect(struct etwas_trace *trace)
{
    struct etwas_consumer *consumer = trace->consumer;

    etwas_trace_table_set_consumer(trace, NULL);
    if (consumer != NULL)
        etwas_consumer_disconnect(consumer);
}
