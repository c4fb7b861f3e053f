/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/joined_process.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/identity.h"
#include "platform/own_descriptor.h"
#include "platform/thread.h"
#include "registry/names.h"
#include "registry/removal.h"
#include "shared/layout.h"

static uint32_t process_encode_own(const struct etwas_registry_guid_list *list, void **bytes,
                                   size_t *size)
{
    struct etwas_registry_guid_list own = *list;

    own.process_id = etwas_process_id_peek();
    own.process_start = etwas_identity_start_ticks();
    own.layout = ETWAS_SHARED_MAJOR;
    return etwas_registry_encode_guids(&own, bytes, size);
}

static uint32_t process_open_socket(const char *name, int *opened)
{
    const int yes = 1;
    uint32_t code = etwas_registry_socket(SOCK_DGRAM, name, opened);

    if (code == ERROR_SUCCESS &&
        setsockopt(*opened, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        (void)close(*opened);
        *opened = -1;
        code = ERROR_NOT_SUPPORTED;
    }
    return code;
}

/* Acquires the list that belongs to the socket of that name. It is empty. */
static uint32_t process_acquire_list(const char *socket, struct etwas_held_file *list)
{
    static const struct etwas_registry_guid_list nothing;
    struct etwas_file_name name = etwas_file_name_parse(socket);
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct etwas_held_request request = {.stem = stem};
    void *bytes;
    uint32_t code = process_encode_own(&nothing, &bytes, &request.size);

    if (code == ERROR_SUCCESS) {
        name.kind = ETWAS_REGISTRY_FILE_PROCESS;
        etwas_file_name_format(&name, stem);
        request.bytes = bytes;
        code = etwas_held_acquire(list, &request);
        free(bytes);
    }
    return code;
}

uint32_t etwas_registry_join(struct etwas_registry_process *process)
{
    struct etwas_registry_process made = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_PROCESS_SOCKET,
                                   .process_id = (uint32_t)getpid(),
                                   .process_start = etwas_identity_start_ticks(),
                                   .nonce = etwas_registry_nonce()};
    uint32_t code;

    etwas_file_name_format(&name, made.name);
    code = process_acquire_list(made.name, &made.guids);
    if (code == ERROR_SUCCESS) {
        /* The socket is made after the list, which shows that the process is living. */
        code = process_open_socket(made.name, &made.socket);
        made.socket = etwas_descriptor_protect(made.socket);
    }
    if (code != ERROR_SUCCESS) {
        etwas_registry_leave(&made);
        return code;
    }
    *process = made;
    etwas_removal_watch(process->name);
    return ERROR_SUCCESS;
}

static uint32_t process_restore_list(struct etwas_registry_process *process)
{
    struct etwas_held_file anew = {.lock = -1};
    uint32_t code = process_acquire_list(process->name, &anew);

    if (code == ERROR_SUCCESS) {
        etwas_held_forget(&process->guids);
        process->guids = anew;
    }
    return code;
}

static uint32_t process_restore_socket(const struct etwas_registry_process *process)
{
    int anew;
    uint32_t code = process_open_socket(process->name, &anew);

    if (code == ERROR_SUCCESS && !etwas_descriptor_replace(process->socket, anew)) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    etwas_removal_watch(process->name);
    return code;
}

/* If the program has closed the socket, the process cannot receive, so nothing is restored. */
uint32_t etwas_registry_rejoin(struct etwas_registry_process *process, bool *is_anew)
{
    uint32_t code = ERROR_SUCCESS;

    *is_anew = false;
    if (process->socket < 0 || !etwas_descriptor_is_own(process->socket)) {
        return code;
    }
    if (!etwas_held_is_there(&process->guids)) {
        code = process_restore_list(process);
        *is_anew = code == ERROR_SUCCESS;
    }
    if (code == ERROR_SUCCESS && etwas_registry_is_missing(process->name)) {
        code = process_restore_socket(process);
        *is_anew = *is_anew || code == ERROR_SUCCESS;
    }
    return code;
}

uint32_t etwas_registry_publish_guids(struct etwas_registry_process *process,
                                      const struct etwas_registry_guid_list *list)
{
    void *bytes;
    size_t size;
    uint32_t code = process_encode_own(list, &bytes, &size);

    if (code == ERROR_SUCCESS) {
        code = etwas_held_replace(&process->guids, bytes, size);
        free(bytes);
    }
    return code;
}

void etwas_registry_leave(struct etwas_registry_process *process)
{
    int folder;

    if (process->socket >= 0) {
        if (etwas_registry_open_existing(&folder)) {
            (void)unlinkat(folder, process->name, 0);
        }
        etwas_descriptor_close(process->socket);
        process->socket = -1;
    }
    etwas_held_release(&process->guids);
}

void etwas_registry_process_forget(struct etwas_registry_process *process)
{
    if (process->socket >= 0) {
        etwas_descriptor_close(process->socket);
        process->socket = -1;
    }
    etwas_held_forget(&process->guids);
}

/* ---- of all processes ------------------------------------------------------------------------ */

struct showing {
    bool (*visit)(const struct etwas_registry_guid_list *list, void *context);
    void *context;
    uint32_t code;
};

static bool process_visit_list(int folder, const char *text, void *context)
{
    struct showing *showing = context;
    struct etwas_held_request request = {.stem = text};
    struct etwas_registry_guid_list *list;
    bool goes_on = true;
    void *bytes;
    size_t size;
    uint32_t code;

    if (etwas_file_name_parse(text).kind != ETWAS_REGISTRY_FILE_PROCESS) {
        return true;
    }
    code = etwas_held_read_in(folder, &request, &bytes, &size);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_decode_guids(bytes, size, &list);
        free(bytes);
    }
    if (code == ERROR_SUCCESS) {
        list->folder = folder;
        goes_on = showing->visit(list, showing->context);
        free(list);
    } else if (code != ERROR_NOT_FOUND) { /* ERROR_NOT_FOUND: the process has ended meanwhile */
        showing->code = code;
        goes_on = code != ERROR_NOT_ENOUGH_MEMORY;
    }
    return goes_on;
}

uint32_t etwas_registry_each_process(bool (*each)(const struct etwas_registry_guid_list *list,
                                                  void *context),
                                     void *context)
{
    struct showing showing = {.visit = each, .context = context, .code = ERROR_SUCCESS};
    uint32_t code = etwas_registry_each(process_visit_list, &showing);

    return code == ERROR_SUCCESS ? showing.code : code;
}
