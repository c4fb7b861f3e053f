/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A reader that knows of no other process, so that it can be linked without what finds sessions there. */
#include <etwas/winerror.h>

#include "sharing/remote_consume.h"

uint32_t etwas_remote_consume(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    (void)name;
    (void)consumer;
    return ERROR_WMI_INSTANCE_NOT_FOUND;
}
