/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/removal.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "registry/held_file.h"
#include "registry/names.h"
#include "registry/registry.h"
#include "registry/session_entry.h"
#include "shared/folder.h"

/* ---- this process's files -------------------------------------------------------------------- */

static uint32_t opened; /* the descriptor + 1; 0: not open */

int etwas_removal_begin(void)
{
    int descriptor = etwas_descriptor_protect(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));

    ck_pr_store_32(&opened, (uint32_t)(descriptor + 1));
    return descriptor;
}

/*
 * The kernel keeps the inode of a bound socket while the socket is open, but reports when its name
 * is removed.
 */
void etwas_removal_watch(const char *name)
{
    const uint32_t descriptor = ck_pr_load_32(&opened);
    struct sockaddr_un address;
    int folder;

    if (descriptor != 0 && etwas_descriptor_is_own((int)descriptor - 1) &&
        etwas_registry_open(&folder) == ERROR_SUCCESS &&
        etwas_registry_address(folder, name, &address) == ERROR_SUCCESS) {
        (void)inotify_add_watch((int)descriptor - 1, address.sun_path,
                                IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF);
    }
}

void etwas_removal_receive(int descriptor)
{
    uint8_t events[4096];

    while (read(descriptor, events, sizeof events) > 0) {
    }
}

void etwas_removal_end(void)
{
    const uint32_t descriptor = ck_pr_load_32(&opened);

    if (descriptor != 0) {
        ck_pr_store_32(&opened, 0);
        etwas_descriptor_close((int)descriptor - 1);
    }
}

/* ---- files of dead processes ----------------------------------------------------------------- */

/* An entry that this build cannot decode counts as the socket's. */
static bool stale_has_socket(const void *bytes, size_t size, void *what)
{
    const uint64_t *nonce = what;
    struct etwas_registry_entry *entry;
    bool it_has = true;

    if (etwas_registry_decode_entry(bytes, size, &entry) == ERROR_SUCCESS) {
        it_has = entry->socket == *nonce;
        free(entry);
    }
    return it_has;
}

/*
 * Whether the file that a socket belongs to is dead. The file exists before the socket does, and
 * the socket's name is never used again, so the result stays true.
 */
static bool stale_is_dead(int folder, struct etwas_file_name name)
{
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct etwas_held_request request = {.stem = stem};
    void *bytes;
    size_t size;
    uint32_t code;

    if (name.kind == ETWAS_REGISTRY_FILE_SESSION_SOCKET) {
        name.kind = ETWAS_REGISTRY_FILE_SESSION;
        request.matches = stale_has_socket;
        request.what = &name.nonce;
    } else {
        name.kind = ETWAS_REGISTRY_FILE_PROCESS;
    }
    etwas_file_name_format(&name, stem);
    code = etwas_held_read_in(folder, &request, &bytes, &size);
    free(bytes);
    return code == ERROR_NOT_FOUND;
}

bool etwas_registry_clear_socket(int folder, const char *text)
{
    struct etwas_file_name name = etwas_file_name_parse(text);

    return (name.kind == ETWAS_REGISTRY_FILE_SESSION_SOCKET ||
            name.kind == ETWAS_REGISTRY_FILE_PROCESS_SOCKET) &&
           stale_is_dead(folder, name) && unlinkat(folder, text, 0) == 0;
}

static bool stale_visit(int folder, const char *text, void *context)
{
    uint32_t *removed = context;

    switch (etwas_file_name_parse(text).kind) {
    case ETWAS_REGISTRY_FILE_NAME:
    case ETWAS_REGISTRY_FILE_SESSION:
    case ETWAS_REGISTRY_FILE_PROCESS:
    case ETWAS_REGISTRY_FILE_TEMPORARY:
        *removed += etwas_held_clear(folder, text);
        break;
    case ETWAS_REGISTRY_FILE_SESSION_SOCKET:
    case ETWAS_REGISTRY_FILE_PROCESS_SOCKET:
        *removed += etwas_registry_clear_socket(folder, text);
        break;
    case ETWAS_REGISTRY_FILE_OTHER:
        break;
    }
    return true;
}

uint32_t etwas_registry_clear_stale(void)
{
    uint32_t removed = etwas_listed_folders_clear();

    (void)etwas_registry_each(stale_visit, &removed);
    return removed;
}
