/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "update.h"

#include <unistd.h>

uint32_t update(etwas_trace_handle session, struct block *block)
{
    return UpdateTraceA(session, NULL, &block->properties);
}

void expect_unchanged(etwas_trace_handle session, const EVENT_TRACE_PROPERTIES *before)
{
    EVENT_TRACE_PROPERTIES now = query_session(session);

    assert_int_equal(now.FlushTimer, before->FlushTimer);
    assert_int_equal(now.MaximumBuffers, before->MaximumBuffers);
    assert_int_equal(now.LogFileMode, before->LogFileMode);
    assert_int_equal(now.EnableFlags, before->EnableFlags);
    assert_int_equal(now.BuffersWritten, before->BuffersWritten);
    assert_int_equal(now.MaximumFileSize, before->MaximumFileSize);
}

void expect_name(etwas_trace_handle session, const char *path)
{
    struct block block;

    prepare_block(&block, "");
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_string_equal(block.file_name, path);
}

bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}
