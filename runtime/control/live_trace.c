/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace for files, for sessions of this process, and for other processes' sessions. */
#include "reader/trace.h"

#include <etwas/winerror.h>

#include "realtime/realtime.h"
#include "session/sharing.h"

static uint32_t connect_session(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    uint32_t code = etwas_session_realtime_connect(name, consumer);

    return code == ERROR_WMI_INSTANCE_NOT_FOUND ? etwas_sharing.consume(name, consumer) : code;
}

etwas_trace_handle OpenTraceA(EVENT_TRACE_LOGFILEA *Logfile)
{
    return etwas_open_trace(Logfile, false, connect_session);
}

etwas_trace_handle OpenTraceW(EVENT_TRACE_LOGFILEW *Logfile)
{
    return etwas_open_trace(Logfile, true, connect_session);
}
