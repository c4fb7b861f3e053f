/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/session_clock.h"

#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 10
};

etwas_trace_handle expect_session_has_clock(uint32_t clock, uint32_t effective,
                                            etwas_session_counts *counts)
{
    const char *path = folder_path("trace.etl");
    const etwas_session_options options = {.clock = clock};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session, .events = EVENTS});
    struct readback result;

    for (int event = 0; event < EVENTS; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    assert_int_equal(query_session(session).Wnode.ClientContext, effective);
    stop_session(session, counts);
    read_back(session, path, &result);
    assert_int_equal(result.clock, effective);
    assert_int_equal(result.events, EVENTS);
    assert_int_equal(result.wrong, 0);
    return session;
}
