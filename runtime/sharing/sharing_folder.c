/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Where sessions and processes are found. */
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <string.h>

#include "platform/thread.h"
#include "registry/process.h"
#include "registry/sessions.h"
#include "sharing/remote.h"

struct wanted {
    uint32_t process_id;
    uint32_t code;
    char path[ETWAS_FOLDER_BYTES];
};

/* Stores the folder of a process. Processes of different PID namespaces may have one id. */
static bool folder_of_process(const struct etwas_registry_guid_list *list, void *context)
{
    struct wanted *wanted = context;
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
    struct wanted wanted = {.process_id = process_id, .code = ERROR_NOT_FOUND};
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
        code = etwas_registry_each_process(folder_of_process, &wanted);
        /* Another process's list that cannot be read is not about this one. */
        code = code == ERROR_SUCCESS || wanted.code != ERROR_NOT_FOUND ? wanted.code : code;
    }
    if (code == ERROR_SUCCESS) {
        (void)snprintf(text, room, "%s", wanted.path);
    }
    return code;
}
