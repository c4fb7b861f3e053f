/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The arguments of an EnableTraceEx2 (registry/session_entry.h), so that they can be published and
 * sent to other processes, and applied there with the same filters.
 */
#ifndef ETWAS_SHARING_ENABLEMENT_H
#define ETWAS_SHARING_ENABLEMENT_H

#include <etwas/evntrace.h>
#include <stdint.h>

#include "provider/enabling.h"
#include "registry/session_entry.h"

/*
 * Records the arguments that the request was made of. The filters of `parameters`, which is of
 * version 2, have been checked, and their data stay the caller's.
 */
void etwas_enablement_record(struct etwas_registry_enablement *enablement,
                             const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters);

/* Reads its filters. Errors of etwas_enable_filters_read. */
uint32_t etwas_enablement_filters(const struct etwas_registry_enablement *enablement,
                                  bool *excluded, struct etwas_event_filter *filter);

/*
 * Makes the request for a session that this process hosts or is a guest of, and prepares it
 * (etwas_enable_request_prepare).
 */
void etwas_enablement_request(const struct etwas_registry_enablement *enablement, uint64_t session,
                              uint32_t control_code, struct etwas_enable_request *request);

/* Calls EnableTraceEx2 with these arguments for a session of this process. */
uint32_t etwas_enablement_replay(const struct etwas_registry_enablement *enablement,
                                 uint64_t session, uint32_t control_code, uint32_t timeout_ms);

#endif
