/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "failures/seam.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "failures/account.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    PARTS = 8,
    PATH_BYTES = 512,
    NAME_BYTES = 2048,
    EVENTS = 20000,
    EVENTS_A_FLUSH = 50,
};

static char texts[PARTS + 1][PATH_BYTES];
static const char *paths[PARTS];

uint32_t increment_file(etwas_trace_handle session)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char names[2 * NAME_BYTES];
    } block;

    memset(&block, 0, sizeof block);
    block.properties.Wnode.BufferSize = sizeof block;
    block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block.properties.LoggerNameOffset = sizeof block.properties;
    block.properties.LogFileNameOffset = sizeof block.properties + NAME_BYTES;
    return ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_INCREMENT_FILE);
}

static uint32_t log_and_flush(struct writer *writer)
{
    for (uint32_t index = 0; index < EVENTS_A_FLUSH; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    return etwas_flush(writer->options.session);
}

static void log_until_lost(struct writer *writer)
{
    while (counts_of(writer->options.session).lost_write_error == 0) {
        assert_true(writer->attempted < EVENTS / 2);
        (void)log_and_flush(writer);
    }
}

void expect_seam_survives(const char *folder, const struct breakage *breakage)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .maximum_file_size = 64,
        .buffer_size_kb = 4,
        .flusher = {.no_thread = true},
    };
    struct account account = {
        .paths = paths, .path_count = PARTS, .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};
    etwas_session_counts counts;
    struct writer *writer;

    (void)snprintf(texts[PARTS], PATH_BYTES, "%s/part-%%d.etl", folder);
    for (uint32_t part = 0; part < PARTS; part++) {
        (void)snprintf(texts[part], PATH_BYTES, "%s/part-%u.etl", folder, part + 1);
        paths[part] = texts[part];
    }
    account.session = start_session(texts[PARTS], &options);
    writer = writer_new(&(struct writer_options){.session = account.session,
                                                 .class_handle = writer_class(),
                                                 .events = EVENTS,
                                                 .largest_payload = 200});
    assert_int_equal(log_and_flush(writer), ERROR_SUCCESS);
    breakage->make();
    assert_int_equal(increment_file(account.session), breakage->code);
    assert_int_equal(log_and_flush(writer), breakage->of_all ? breakage->code : ERROR_SUCCESS);
    log_until_lost(writer);
    counts = counts_of(account.session);
    assert_int_equal(query_session(account.session).EventsLost, counts.lost);
    assert_int_equal(query_session(account.session).LogBuffersLost, counts.buffers_lost);
    breakage->mend();
    if (breakage->of_all) {
        assert_int_equal(increment_file(account.session), ERROR_SUCCESS);
    }
    assert_int_equal(log_and_flush(writer), ERROR_SUCCESS);
    assert_int_equal(counts_of(account.session).recorded, counts.recorded + EVENTS_A_FLUSH);
    stop_session(account.session, &counts);
    assert_int_equal(expect_accounted_files(&account, &counts), 2);
    assert_int_equal(access(paths[1], F_OK), 0);
}
