/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/sharing.h"

#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "control/look.h"
#include "control/prepare.h"
#include "control/service.h"

bool etwas_sharing_is_wanted(void)
{
    const char *value = secure_getenv("ETWAS_SHARED");

    return value != NULL && strcmp(value, "1") == 0;
}

bool etwas_sharing_takes_part(void)
{
    return etwas_sharing_is_wanted() || etwas_service_runs();
}

uint32_t etwas_sharing_complete(struct etwas_configuration *configuration)
{
    struct etwas_configuration *alone;
    uint32_t code;

    if (!etwas_sharing_is_wanted() || configuration->system_logger || configuration->filtered_out) {
        return etwas_configuration_complete(configuration);
    }
    alone = malloc(sizeof *alone);
    if (alone == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *alone = *configuration;
    configuration->is_shared = true;
    code = etwas_configuration_complete(configuration);
    if (code == ERROR_NOT_SUPPORTED) {
        *configuration = *alone;
        code = etwas_configuration_complete(configuration);
    }
    free(alone);
    return code;
}

uint32_t etwas_share(void)
{
    uint32_t code = etwas_prepare_to_serve();

    code = code == ERROR_SUCCESS ? etwas_look_begin() : code;
    if (code == ERROR_SUCCESS) {
        etwas_look_now();
    }
    return code;
}
