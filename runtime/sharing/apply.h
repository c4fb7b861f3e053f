/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Enablements between processes. The arguments of an EnableTraceEx2 are recorded, published and
 * sent as registry/session_entry.h defines them. Other processes apply them with the same filters.
 * To apply an entry of the registry, this process enables its providers for one session as the
 * entry says, as far as the entry has changed since it was last applied.
 */
#ifndef ETWAS_SHARING_APPLY_H
#define ETWAS_SHARING_APPLY_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/enabling.h"
#include "registry/session_entry.h"

/*
 * Records the arguments of the request. The filters of `parameters`, which is of version 2, have
 * been checked; their data stay the caller's.
 */
void etwas_enablement_record(struct etwas_registry_enablement *enablement,
                             const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters);

/* Reads the enablement's filters. Errors of etwas_enable_filters_read. */
uint32_t etwas_enablement_filters(const struct etwas_registry_enablement *enablement,
                                  bool *excluded, struct etwas_event_filter *filter);

/* Returns the pattern of provider names that the enablement also applies to; NULL: none. */
const char *etwas_enablement_name(const struct etwas_registry_enablement *enablement);

/*
 * Makes the request for a session that this process hosts or is a guest of, and prepares it
 * (etwas_enable_request_prepare).
 */
void etwas_enablement_request(const struct etwas_registry_enablement *enablement, uint64_t session,
                              uint32_t control_code, struct etwas_enable_request *request);

/* Calls EnableTraceEx2 with these arguments for a session of this process. */
uint32_t etwas_enablement_replay(const struct etwas_registry_enablement *enablement,
                                 uint64_t session, uint32_t control_code, uint32_t timeout_ms);

/* An enablement that has been applied. */
struct etwas_applied_enablement {
    etwas_guid provider;
    bool is_group;
    uint64_t number;
};

struct etwas_applied {
    uint64_t session;    /* the handle that events are logged with */
    bool is_independent; /* its events are lost alone when its disk is full */
    uint64_t number;     /* number of the entry applied last; 0: none was */
    struct etwas_applied_enablement *enablements;
    uint32_t enablement_count;
};

/*
 * Applies the entry. The caller lets only one thread at a time do so, and calls the callbacks that
 * become due (provider/callback.h). `registers`: the first provider that the entry enables is just
 * being registered, so earlier requests to capture state do not concern this process.
 */
void etwas_apply_entry(struct etwas_applied *applied, const struct etwas_registry_entry *entry,
                       bool registers);

/* Frees the list of applied enablements. It disables nothing. */
void etwas_apply_forget(struct etwas_applied *applied);

#endif
