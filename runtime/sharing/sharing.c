/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/sharing.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "control/prepare.h"
#include "shared/sequences.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"

static uint32_t is_declined; /* the program has declined */
static uint32_t refusal;     /* of the last attempt; ERROR_SUCCESS: none */

bool etwas_sharing_is_built(void)
{
#ifdef ETWAS_WITH_SHARING
    return true;
#else
    return false;
#endif
}

bool etwas_sharing_is_wanted(void)
{
    const char *value = getenv("ETWAS_SHARED");

    return etwas_sharing_is_built() && ck_pr_load_32(&is_declined) == 0 &&
           getauxval(AT_SECURE) == 0 && (value == NULL || strcmp(value, "0") != 0);
}

void etwas_sharing_store_refusal(uint32_t code)
{
    ck_pr_store_32(&refusal, code);
}

bool etwas_sharing_takes_part(void)
{
    return etwas_sharing_is_wanted() || etwas_service_runs();
}

static bool sharing_is_private(const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode &
            (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)) != 0;
}

/* Why a session could not be shared. */
static uint32_t sharing_unshared_reason(const struct etwas_configuration *configuration)
{
    const uint32_t own_modes = EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE |
                               EVENT_TRACE_FILE_MODE_APPEND;

    return (configuration->log_file_mode & own_modes) != 0 ||
                   etwas_configuration_has_one_slot(configuration)
               ? ETWAS_UNSHARED_MODE
               : ETWAS_UNSHARED_SEQUENCES;
}

uint32_t etwas_sharing_complete(struct etwas_configuration *configuration)
{
    struct etwas_configuration *alone;
    uint32_t code;

    if (!etwas_sharing_takes_part() || configuration->system_logger ||
        configuration->filtered_out) {
        return etwas_configuration_complete(configuration);
    }
    alone = malloc(sizeof *alone);
    if (alone == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *alone = *configuration;
    etwas_rseq_set_trial_storage(&etwas_sequences_keeper);
    configuration->is_shared = true;
    code = etwas_configuration_complete(configuration);
    if (code == ERROR_NOT_SUPPORTED) {
        *configuration = *alone;
        code = etwas_configuration_complete(configuration);
        if (!sharing_is_private(configuration)) {
            configuration->is_discoverable = true;
            configuration->unshared = sharing_unshared_reason(configuration);
        }
    }
    free(alone);
    return code;
}

uint32_t etwas_share_nothing(void)
{
    ck_pr_store_32(&is_declined, 1);
    return etwas_service_runs() ? ERROR_ALREADY_INITIALIZED : ERROR_SUCCESS;
}

uint32_t etwas_sharing_state(void)
{
    uint32_t code = ck_pr_load_32(&refusal);

    if (!etwas_sharing_takes_part()) {
        return ERROR_CANCELLED;
    }
    return code == ERROR_SUCCESS && !etwas_service_runs() ? ERROR_NOT_FOUND : code;
}

uint32_t etwas_share(void)
{
    uint32_t code = etwas_prepare_to_serve();

    code = code == ERROR_SUCCESS ? etwas_reconcile_begin() : code;
    if (code == ERROR_SUCCESS) {
        etwas_reconcile_now();
    }
    return code;
}
