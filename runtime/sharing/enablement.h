/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An EnableTraceEx2 as it was asked (registry/session_entry.h): so it is published and sent to other processes, and asked
 * again where it arrives, with the same filters.
 */
#ifndef ETWAS_SHARING_ENABLEMENT_H
#define ETWAS_SHARING_ENABLEMENT_H

#include <etwas/evntrace.h>
#include <stdint.h>

#include "provider/enabling.h"
#include "registry/session_entry.h"

/* What was asked. `parameters`: of version 2; its filters were read before, and their data stay the caller's. */
void etwas_enablement_record(struct etwas_registry_enablement *enablement,
                             const etwas_guid *provider, uint8_t level, uint64_t match_any,
                             uint64_t match_all, const ENABLE_TRACE_PARAMETERS *parameters);

/* Its filters. Errors of etwas_enable_filters_read. */
uint32_t etwas_enablement_filters(const struct etwas_registry_enablement *enablement,
                                  bool *excluded, struct etwas_event_filter *filter);

/*
 * The request for a session that this process has, or is a guest of. Reads files, and takes the loader's lock, where it
 * asks for items, stacks or counters: before any lock of ours is taken but the guests'.
 */
void etwas_enablement_request(const struct etwas_registry_enablement *enablement, uint64_t session,
                              uint32_t control_code, struct etwas_enable_request *request);

/* EnableTraceEx2 with it, for a session of this process. */
uint32_t etwas_enablement_replay(const struct etwas_registry_enablement *enablement,
                                 uint64_t session, uint32_t control_code, uint32_t timeout_ms);

#endif
