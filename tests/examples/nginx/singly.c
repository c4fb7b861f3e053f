/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Preloaded: etwas_write_many writes each event of the module by its own call. */
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdint.h>

static void *plain(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

__attribute__((visibility("default"))) uint32_t etwas_write_many(const etwas_batch_event *events,
                                                                 uint32_t count, uint32_t *refused,
                                                                 uint32_t *bytes)
{
    uint32_t code = ERROR_SUCCESS;

    (void)refused, (void)bytes;
    for (const etwas_batch_event *event = events; event < events + count; event++) {
        code |= TraceEventInstance(event->handle, plain(event->event), plain(event->first),
                                   plain(event->second));
    }
    return code;
}
