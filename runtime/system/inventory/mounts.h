/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is mounted where, as the process sees it.
 */
#ifndef ETWAS_SYSTEM_INVENTORY_MOUNTS_H
#define ETWAS_SYSTEM_INVENTORY_MOUNTS_H

#include <stdint.h>
#include <sys/statvfs.h>

#include "system/inventory/inventory_internal.h"

enum {
    ETWAS_DEVICE_MAJOR_SHIFT = 20, /* as the kernel's own events number devices */
};

struct etwas_mount {
    uint32_t device;
    const char *point;
    const char *type;
    const char *source;
};

struct etwas_mounts {
    char *text;
    struct etwas_mount *mounts;
    uint32_t count;
};

/* Without memory there are none. */
void etwas_mounts_read(struct etwas_inventory *inventory, struct etwas_mounts *mounts);
void etwas_mounts_free(struct etwas_mounts *mounts);

/* A device's file system: by its number, or as /dev/`name`. NULL: it has none that is mounted. */
const struct etwas_mount *etwas_mounts_find(const struct etwas_mounts *mounts, uint32_t device,
                                            const char *name);

/*
 * How full it is. False, and all of it 0: the system does not say, or asking might wait, for another
 * machine or for a program, at the file system or on the way to it.
 */
bool etwas_mounts_space(const struct etwas_inventory *inventory, const struct etwas_mounts *mounts,
                        const struct etwas_mount *mount, struct statvfs *space);

/* "254:0". */
uint32_t etwas_device_number(const char *text);

#endif
