/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/remote_consume.h"

#include <etwas/winerror.h>
#include <stdlib.h>

#include "platform/wait.h"
#include "realtime/remote_consumer.h"
#include "registry/connection.h"
#include "sharing/remote.h"

#define NS_A_MILLISECOND UINT64_C(1000000)

uint32_t etwas_remote_consume(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    const uint64_t deadline_ns =
        etwas_monotonic_ns() + ETWAS_REMOTE_QUERY_TIMEOUT_MS * NS_A_MILLISECOND;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connection;
    uint32_t code = etwas_remote_find_name(name, &entry);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = etwas_registry_connect(entry, deadline_ns, &connection, &peer);
    if (code == ERROR_SUCCESS) {
        code = etwas_remote_consumer_connect(connection, deadline_ns, consumer);
        code = code == ERROR_WMI_INSTANCE_NOT_FOUND ? etwas_remote_refusal_of(entry) : code;
    }
    free(entry);
    return code == ERROR_NOT_FOUND ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
}
