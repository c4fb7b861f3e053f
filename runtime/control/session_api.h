/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What etwas_start is asked for, for who says only whether it could be. */
#ifndef ETWAS_CONTROL_SESSION_API_H
#define ETWAS_CONTROL_SESSION_API_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "session/configuration.h"

/*
 * Of these arguments of etwas_start the configuration, which is all zeroes before. ERROR_SUCCESS,
 * or what etwas_start returns without a look at the machine. Free configuration->flusher, which
 * etwas_lifecycle_start takes over.
 */
uint32_t etwas_session_options_read(const char *session_name, const char *log_file,
                                    const etwas_session_options *options,
                                    struct etwas_configuration *configuration);

#endif
