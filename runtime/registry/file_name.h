/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The names of the registry's files (registry.h), made and taken apart. */
#ifndef ETWAS_REGISTRY_FILE_NAME_H
#define ETWAS_REGISTRY_FILE_NAME_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"

enum etwas_registry_file_kind {
    ETWAS_REGISTRY_FILE_OTHER, /* none of the registry's: it is left alone */
    ETWAS_REGISTRY_FILE_NAME,
    ETWAS_REGISTRY_FILE_SESSION,
    ETWAS_REGISTRY_FILE_SESSION_SOCKET,
    ETWAS_REGISTRY_FILE_PROCESS, /* its list of providers */
    ETWAS_REGISTRY_FILE_PROCESS_SOCKET,
    ETWAS_REGISTRY_FILE_TEMPORARY,
};

/* What a name says. Fields that its kind does not have are 0. */
struct etwas_file_name {
    enum etwas_registry_file_kind kind;
    etwas_guid session;
    uint32_t process_id;
    uint64_t process_start;
    uint64_t nonce;
};

void etwas_file_name_format(const struct etwas_file_name *name,
                            char text[ETWAS_REGISTRY_FILE_BYTES]);

/* The place of held files (held_file.h) is no part of what is said, nor is a session name's hash. */
struct etwas_file_name etwas_file_name_parse(const char *text);

#endif
