/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Checking the arguments of etwas_start, for callers that do not start the session. */
#ifndef ETWAS_CONTROL_SESSION_API_H
#define ETWAS_CONTROL_SESSION_API_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "session/configuration.h"

/*
 * Fills the configuration, all zeroes before, from the arguments of etwas_start. ERROR_SUCCESS, or
 * what etwas_start returns without examining the machine. The caller frees configuration->flusher,
 * unless etwas_lifecycle_start takes it over.
 */
uint32_t etwas_session_options_read(const char *session_name, const char *log_file,
                                    const etwas_session_options *options,
                                    struct etwas_configuration *configuration);

#endif
