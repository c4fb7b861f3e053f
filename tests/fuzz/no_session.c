/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A reader that knows of no session, so that it can be linked without what makes them. */
#include <etwas/winerror.h>

#include "realtime/session_realtime.h"

uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    (void)name;
    (void)consumer;
    return ERROR_WMI_INSTANCE_NOT_FOUND;
}
