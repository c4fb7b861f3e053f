/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/sharing.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "control/prepare.h"
#include "platform/thread.h"
#include "registry/joined_process.h"
#include "registry/sessions.h"
#include "shared/folder.h"
#include "sharing/reconcile.h"
#include "sharing/remote.h"
#include "sharing/service.h"

static uint32_t is_declined; /* the program has declined */
static uint32_t refusal;     /* why the last attempt failed; ERROR_SUCCESS: it did not */

bool etwas_sharing_is_wanted(void)
{
    const char *value = getenv("ETWAS_SHARED");

    return ck_pr_load_32(&is_declined) == 0 && getauxval(AT_SECURE) == 0 &&
           (value == NULL || strcmp(value, "0") != 0);
}

void etwas_sharing_store_refusal(uint32_t code)
{
    ck_pr_store_32(&refusal, code);
}

void etwas_sharing_store_restored(uint32_t *stored, uint32_t code)
{
    if (code != ERROR_SUCCESS) {
        etwas_sharing_store_refusal(code);
    } else if (*stored != ERROR_SUCCESS) {
        (void)ck_pr_cas_32(&refusal, *stored, ERROR_SUCCESS);
    }
    *stored = code;
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

/* Returns why a session could not be shared. */
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
    configuration->reach = ETWAS_REACH_SHARED;
    code = etwas_configuration_complete(configuration);
    if (code == ERROR_NOT_SUPPORTED) {
        *configuration = *alone;
        code = etwas_configuration_complete(configuration);
        if (!sharing_is_private(configuration)) {
            configuration->reach = ETWAS_REACH_DISCOVERABLE;
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

/* ---- finding folders of sessions and processes ----------------------------------------------- */

struct sharing_wanted {
    uint32_t process_id;
    uint32_t code;
    char path[ETWAS_FOLDER_BYTES];
};

/* Stores the folder of a process. Processes of different PID namespaces may have the same id. */
static bool sharing_read_folder(const struct etwas_registry_guid_list *list, void *context)
{
    struct sharing_wanted *wanted = context;
    char path[ETWAS_FOLDER_BYTES];

    if (list->process_id != wanted->process_id) {
        return true;
    }
    etwas_registry_path(list->folder, path);
    if (wanted->code == ERROR_SUCCESS && strcmp(path, wanted->path) != 0) {
        wanted->code = ERROR_MORE_DATA;
        return false;
    }
    memcpy(wanted->path, path, sizeof path);
    wanted->code = ERROR_SUCCESS;
    return true;
}

uint32_t etwas_sharing_folder(const etwas_guid *session, uint32_t process_id, char *text,
                              size_t room)
{
    struct sharing_wanted wanted = {.process_id = process_id, .code = ERROR_NOT_FOUND};
    uint32_t code;

    if (text == NULL || room == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    text[0] = '\0';
    if (!etwas_remote_is_available()) {
        return ERROR_NOT_FOUND;
    }
    if (session != NULL) {
        code = etwas_registry_folder_of(session, wanted.path);
    } else {
        wanted.process_id = process_id != 0 ? process_id : etwas_process_id_peek();
        code = etwas_registry_each_process(sharing_read_folder, &wanted);
        /* If another process's list cannot be read, that does not concern this process. */
        code = code == ERROR_SUCCESS || wanted.code != ERROR_NOT_FOUND ? wanted.code : code;
    }
    if (code == ERROR_SUCCESS) {
        (void)snprintf(text, room, "%s", wanted.path);
    }
    return code;
}
