/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The file systems that are mounted, as the process sees them.
 */
#ifndef ETWAS_SYSTEM_INVENTORY_MOUNTS_H
#define ETWAS_SYSTEM_INVENTORY_MOUNTS_H

#include <stdint.h>
#include <sys/statvfs.h>

#include "system/inventory/inventory_internal.h"

enum {
    ETWAS_DEVICE_MAJOR_SHIFT = 20, /* devices are numbered as in the kernel's events */
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

/* Reads the mounts. Without memory there are none. */
void etwas_mounts_read(struct etwas_inventory *inventory, struct etwas_mounts *mounts);
void etwas_mounts_free(struct etwas_mounts *mounts);

/*
 * Finds the file system of a device, by its number or as /dev/`name`. NULL: it has none that is
 * mounted.
 */
const struct etwas_mount *etwas_mounts_find(const struct etwas_mounts *mounts, uint32_t device,
                                            const char *name);

/*
 * Reads how full a file system is. False, and all of it 0: the system does not say, or asking may
 * wait for another machine or a program, at the file system or on the path to it.
 */
bool etwas_mounts_space(const struct etwas_inventory *inventory, const struct etwas_mounts *mounts,
                        const struct etwas_mount *mount, struct statvfs *space);

/* Parses a device number such as "254:0". */
uint32_t etwas_device_number(const char *text);

#endif
