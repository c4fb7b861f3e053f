/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which sessions are system loggers, and which requests they may make. */
#ifndef ETWAS_CONTROL_SYSTEM_REQUEST_H
#define ETWAS_CONTROL_SYSTEM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/source.h"
#include "session/configuration.h"

/*
 * Stores in the configuration whether it is a system logger's, by its name, GUID and mode (R42).
 * Also stores whether it only runs down (R188) or records the own process (etwas_kernel_scope), and
 * gives the kernel logger its GUID (R43). ERROR_INVALID_PARAMETER for a name and a GUID that do not
 * belong together (R43), modes that a system logger cannot have (R51) and bits that are no flags;
 * ERROR_NOT_SUPPORTED for flags and modes that are not implemented.
 */
uint32_t etwas_system_request_check(struct etwas_configuration *configuration);

/* EnableFlags, of a start or an update: ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED as above. */
uint32_t etwas_system_request_check_flags(uint32_t flags);

/* Whether each bit is a flag of ETW. */
static inline bool etwas_system_flags_are_known(uint32_t flags)
{
    const uint32_t all = 0x77FFFFFF; /* without EXTENSION, which marks a value without bits */

    return (flags & ~all) == 0;
}

/*
 * What a system logger may record, for each thread: the scope of loggers that the calling thread
 * starts, and why the kernel refused its last start or update, for etwas_kernel_refusal.
 */

/* ETWAS_KERNEL_SCOPE_* */
uint32_t etwas_kernel_scope_of_thread(void);

/* Stores the result of a start or update of a system logger, including a successful one. */
void etwas_kernel_refusal_store(const struct etwas_unavailability *fault);

#endif
