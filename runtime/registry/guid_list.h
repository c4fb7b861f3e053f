/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The providers of a process, encoded for other processes. The decoder checks everything. */
#ifndef ETWAS_REGISTRY_GUID_LIST_H
#define ETWAS_REGISTRY_GUID_LIST_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_REGISTRY_PROVIDER_NAME_BYTES = 256, /* without the 0 */
    ETWAS_REGISTRY_GUID_LIST_BYTES = 1 << 20,
    ETWAS_REGISTRY_UNATTACHED = 1024, /* sessions in a list, at most */
};

struct etwas_registry_guid {
    etwas_guid guid;
    bool is_group;
    bool is_classic;
    /* the position in the list, from 1, of the group that it belongs to; 0: none */
    uint32_t group;
    const char *name; /* UTF-8; empty (when encoding, or NULL): not known */
};

struct etwas_registry_guid_list {
    uint32_t process_id;    /* as in its records */
    uint64_t process_start; /* in ticks since the boot, as /proc/PID/stat has it */
    uint32_t layout;        /* major version of the pools that it can log to (shared/layout.h) */
    int folder;             /* during a visit (joined_process.h): the folder that it was found in */
    uint32_t count;
    struct etwas_registry_guid *guids;
    uint32_t unattached_count;
    etwas_guid *unattached; /* sessions that enable its providers and that it cannot log to */
};

/*
 * Encodes a list. The caller frees *bytes. ERROR_INVALID_PARAMETER: a name is too long, or
 * not UTF-8, or there are too many sessions; ERROR_BUFFER_OVERFLOW: it would be larger than
 * ETWAS_REGISTRY_GUID_LIST_BYTES; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_encode_guids(const struct etwas_registry_guid_list *list, void **bytes,
                                     size_t *size);

/*
 * Decodes a list, which the caller frees by one free(). The list does not refer to `bytes`.
 * ERROR_INVALID_DATA; ERROR_NOT_SUPPORTED: it is of another version; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_decode_guids(const void *bytes, size_t size,
                                     struct etwas_registry_guid_list **list);

#endif
