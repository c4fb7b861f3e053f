/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace: of files, of sessions of this process, and of other processes' sessions. */
#include "reader/open_trace.h"

#include "sharing/remote_consume.h"

etwas_trace_handle OpenTraceA(EVENT_TRACE_LOGFILEA *Logfile)
{
    return etwas_open_trace(Logfile, false, etwas_remote_consume);
}

etwas_trace_handle OpenTraceW(EVENT_TRACE_LOGFILEW *Logfile)
{
    return etwas_open_trace(Logfile, true, etwas_remote_consume);
}
