/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A backlog whose file somebody has written to: sound buffers are kept while no consumer is there,
 * those of the input take their places in the file, and then a consumer reads them. Each is
 * delivered or told as lost. A buffer of the input ends with its records, as the session's do,
 * unless the lowest bit of its first reserved word is set; the input's last byte may cut the file.
 * The mutator is etl_mutate.c.
 */
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <string.h>
#include <unistd.h>

#include "etl_parts.h"
#include "read_trace.h"
#include "reader/builder.h"
#include "realtime/realtime.h"
#include "realtime/realtime_internal.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
uint32_t __wrap_etwas_session_realtime_connect(const etwas_wchar *name,
                                               struct etwas_consumer **consumer);

enum {
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    BACKLOG_BYTES = 1 << 20,
    MOST_BUFFERS = 16,
    CUT_IF = 0x5A,
};

static struct etwas_realtime *session;

/* What the reader asks for a session's consumer: here is the only one. */
uint32_t __wrap_etwas_session_realtime_connect(const etwas_wchar *name,
                                               struct etwas_consumer **consumer)
{
    (void)name;
    return etwas_realtime_connect(session, consumer);
}

static void open_session(void)
{
    static struct builder head;
    struct etwas_realtime_options options = {.queue_bytes = BACKLOG_BYTES,
                                             .backlog_bytes = BACKLOG_BYTES,
                                             .backlog_folder =
                                                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NULL};

    if (head.bytes == NULL) {
        struct builder_options shape = builder_defaults();

        builder_begin(&head, &shape);
        builder_end(&head);
    }
    options.head = head.bytes;
    options.head_bytes = (uint32_t)head.size;
    MUST(etwas_realtime_open(&options, &session) == ERROR_SUCCESS);
}

/* Has a sound buffer kept, and puts the input's in its place. */
static void keep(const uint8_t *buffer, uint32_t bytes)
{
    struct etwas_etl_buffer_header header = {.state = ETWAS_ETL_BUFFER_STATE_FLUSH};
    uint8_t *content = calloc(1, bytes);

    MUST(content != NULL);
    etwas_realtime_set_end(&header, bytes);
    MUST(etwas_realtime_deliver(session, &header, content + HEADER_BYTES, 1));
    memcpy(content, buffer, bytes);
    memcpy(&header, content, sizeof header);
    if (header.reserved[0] % 2 == 0) {
        etwas_realtime_set_end(&header, bytes);
        memcpy(content, &header, sizeof header);
    }
    MUST(pwrite(session->backlog.descriptor, content, bytes,
                (off_t)session->backlog.entries.last->position) == (ssize_t)bytes);
    free(content);
}

/* Once a consumer is connected: it reads what there is. */
static void end_session(void)
{
    etwas_realtime_end(session);
}

static uint32_t keep_all(const uint8_t *data, size_t size)
{
    static struct etl_parts parts;
    uint32_t kept = 0;

    etl_find_parts(data, size, &parts);
    for (; kept < parts.buffer_count && kept < MOST_BUFFERS; kept++) {
        const struct etl_part *part = &parts.buffers[kept];
        uint32_t bytes = (uint32_t)etl_data_end(data, part);

        if (etwas_realtime_free_buffers(session, 1, bytes) == 0) {
            break;
        }
        keep(data + part->at, bytes);
    }
    if (size > 2 && data[size - 1] == CUT_IF) {
        MUST(ftruncate(session->backlog.descriptor, (off_t)etl_number(data + size - 3, 2)) == 0);
    }
    return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct read_trace result = {0};
    uint64_t lost;
    uint32_t kept;

    open_session();
    kept = keep_all(data, size);
    read_trace_live("a session", PROCESS_TRACE_MODE_EVENT_RECORD, end_session, &result);
    MUST(result.code == ERROR_SUCCESS);
    (void)etwas_realtime_collect_lost(session, &lost);
    /* One whose records could not be followed to their end is both. */
    MUST(result.information.buffers <= kept && result.information.buffers + lost >= kept);
    etwas_realtime_unreference(session);
    return 0;
}
