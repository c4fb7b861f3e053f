/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Instead of inside.c, for programs that run with the shipped library: asked of its interface. */
#include "support/start.h"

bool can_have_sequences(void)
{
    const etwas_session_options options = {.protocol = ETWAS_PROTOCOL_RSEQ,
                                           .log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle session;

    if (etwas_start("are there restartable sequences", NULL, &options, &session) != ERROR_SUCCESS) {
        return false;
    }
    stop_session(session, NULL);
    return true;
}
