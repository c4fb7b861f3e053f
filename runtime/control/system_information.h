/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The settings of system loggers that EVENT_TRACE_PROPERTIES does not have, as TraceSetInformation,
 * TraceQueryInformation and EnableTraceEx2 pass them; `session` is their handle.
 *
 * ERROR_NOT_SUPPORTED: a session of another kind. ERROR_INVALID_PARAMETER: no such session runs.
 */
#ifndef ETWAS_CONTROL_SYSTEM_INFORMATION_H
#define ETWAS_CONTROL_SYSTEM_INFORMATION_H

#include <etwas/evntrace.h>
#include <stdint.h>

#include "provider/system_providers.h"
#include "session/configuration.h"

/* Returns the settings with which a system logger of this configuration begins. */
void etwas_system_information_first(const struct etwas_configuration *configuration,
                                    struct etwas_system_settings *settings);

/*
 * Handle 0: sets the interval of sessions that start from now on. ERROR_INVALID_PARAMETER for
 * another source than the timer, and for an interval that is too short or too long; the codes of
 * the logger's change.
 */
uint32_t etwas_system_information_set_interval(etwas_trace_handle session,
                                               const TRACE_PROFILE_INTERVAL *interval);

/* Returns the interval of the source that *interval names. */
uint32_t etwas_system_information_interval(etwas_trace_handle session,
                                           TRACE_PROFILE_INTERVAL *interval);

/*
 * Sets which records have stacks from now on; unknown ones are left out (R184).
 * ERROR_INVALID_PARAMETER for too many (R189); the codes of the logger's change.
 */
uint32_t etwas_system_information_set_stacks(etwas_trace_handle session,
                                             const CLASSIC_EVENT_ID *ids, uint32_t count);

/*
 * Sets ETWAS_GROUP_MASKS masks, as UPDATE does: ERROR_INVALID_PARAMETER and ERROR_NOT_SUPPORTED for
 * its flags, and for a session that only runs down; the codes of the logger's change.
 */
uint32_t etwas_system_information_set_flags(etwas_trace_handle session, const uint32_t *masks);
uint32_t etwas_system_information_flags(etwas_trace_handle session, uint32_t *masks);

/*
 * Whether the profile's sources may be queried: for loggers that start next (0), or for a running
 * one. The timer is the only source.
 */
uint32_t etwas_system_information_check_sources(etwas_trace_handle session);

/*
 * EnableTraceEx2 for a system provider (system_providers.h), whose control code is one of the
 * three. ERROR_INVALID_PARAMETER for a session of another kind or one that only runs down; the
 * codes of the logger's change.
 */
uint32_t etwas_system_information_enable(etwas_trace_handle session, uint32_t provider,
                                         uint32_t control_code,
                                         const struct etwas_system_enablement *enablement);

/* `ids` has room for ETWAS_STACK_HOOKS. */
uint32_t etwas_system_information_stacks(etwas_trace_handle session, CLASSIC_EVENT_ID *ids,
                                         uint32_t *count);

#endif
