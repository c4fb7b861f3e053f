/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Formatting and parsing the names of the registry's files (registry.h). */
#ifndef ETWAS_REGISTRY_NAMES_H
#define ETWAS_REGISTRY_NAMES_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/registry.h"

enum etwas_registry_file_kind {
    ETWAS_REGISTRY_FILE_OTHER, /* not a file of the registry; it is ignored */
    ETWAS_REGISTRY_FILE_NAME,
    ETWAS_REGISTRY_FILE_SESSION,
    ETWAS_REGISTRY_FILE_SESSION_SOCKET,
    ETWAS_REGISTRY_FILE_PROCESS, /* its list of providers */
    ETWAS_REGISTRY_FILE_PROCESS_SOCKET,
    ETWAS_REGISTRY_FILE_TEMPORARY,
};

/* The parts of a name. Fields that its kind does not have are 0. */
struct etwas_file_name {
    enum etwas_registry_file_kind kind;
    etwas_guid session;
    uint32_t process_id;
    uint64_t process_start;
    uint64_t nonce;
};

void etwas_file_name_format(const struct etwas_file_name *name,
                            char text[ETWAS_REGISTRY_FILE_BYTES]);

/* Ignores the place of held files (held_file.h) and the hash of a session name. */
struct etwas_file_name etwas_file_name_parse(const char *text);

#endif
