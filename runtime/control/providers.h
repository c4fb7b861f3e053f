/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registers providers that sessions of other processes may have enabled already, and makes them
 * visible to other processes.
 */
#ifndef ETWAS_CONTROL_PROVIDERS_H
#define ETWAS_CONTROL_PROVIDERS_H

#include "provider/registration.h"

/*
 * Registers a provider when this process is attached to every session that enables it. A host that
 * does not answer costs 50 ms at most.
 */
uint32_t etwas_register_shared(const struct etwas_registration_request *request, uint64_t *handle);

/* Calls etwas_provider_unregister. */
uint32_t etwas_unregister_shared(uint64_t handle, bool is_modern);

#endif
