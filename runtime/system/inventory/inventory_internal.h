/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the parts of the inventory share. Each part tells of one kind of thing.
 */
#ifndef ETWAS_SYSTEM_INVENTORY_INVENTORY_INTERNAL_H
#define ETWAS_SYSTEM_INVENTORY_INVENTORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/inventory/inventory.h"

enum {
    ETWAS_INVENTORY_STEPS = 65536,    /* files and entries of folders that are looked at */
    ETWAS_INVENTORY_LINE_BYTES = 256, /* of what one file says of one thing */
    ETWAS_INVENTORY_PATH_BYTES = 1024,
};

/* The event's type. */
enum etwas_inventory_type {
    ETWAS_INVENTORY_CPU = 10,
    ETWAS_INVENTORY_PHYSICAL_DISK = 11,
    ETWAS_INVENTORY_LOGICAL_DISK = 12,
    ETWAS_INVENTORY_NIC = 13,
    ETWAS_INVENTORY_VIDEO = 14,
    ETWAS_INVENTORY_SERVICE = 15,
    ETWAS_INVENTORY_POWER = 16,
    ETWAS_INVENTORY_NETWORK = 17,
    ETWAS_INVENTORY_OPTICAL = 18,
    ETWAS_INVENTORY_IRQ = 21,
    ETWAS_INVENTORY_PNP = 22,
    ETWAS_INVENTORY_IDE_CHANNEL = 23,
    ETWAS_INVENTORY_PLATFORM = 25,
};

struct etwas_inventory {
    const char *root;
    struct etwas_record_builder *record;
    struct etwas_emitter *emitter;
    struct etwas_quiesce *quiesce; /* behind each thing */
    uint32_t types;                /* that are told, bit by bit */
    uint32_t steps_left;
    enum etwas_inventory_type type; /* of the record that is put together */
};

/* ---- parts ----------------------------------------------------------------------------------- */

void etwas_inventory_processors(struct etwas_inventory *inventory);
void etwas_inventory_platform(struct etwas_inventory *inventory);
void etwas_inventory_power(struct etwas_inventory *inventory);
void etwas_inventory_disks(struct etwas_inventory *inventory);
void etwas_inventory_adapters(struct etwas_inventory *inventory);
void etwas_inventory_network(struct etwas_inventory *inventory);
void etwas_inventory_video(struct etwas_inventory *inventory);
void etwas_inventory_services(struct etwas_inventory *inventory);
void etwas_inventory_interrupts(struct etwas_inventory *inventory);
void etwas_inventory_devices(struct etwas_inventory *inventory);
void etwas_inventory_channels(struct etwas_inventory *inventory);

/* ---- records --------------------------------------------------------------------------------- */

void etwas_inventory_begin(struct etwas_inventory *inventory, enum etwas_inventory_type type);
void etwas_inventory_end(struct etwas_inventory *inventory);

/* A text whose length in characters is a field at `length_at` of the record. */
void etwas_inventory_put_counted(struct etwas_inventory *inventory, uint32_t length_at,
                                 const char *text);

/* ---- files: paths are printf's, and begin beneath the root ----------------------------------- */

/* The beginning of a file, with a 0 behind it. False: no regular file, or nothing in it. */
bool etwas_inventory_text(struct etwas_inventory *inventory, char *text, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/* Its first line, without blanks at both ends. False, and an empty text: there is nothing. */
bool etwas_inventory_line(struct etwas_inventory *inventory, char *line, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/* What its first line begins with: a number, hexadecimal behind 0x. 0: there is none. */
uint64_t etwas_inventory_number(struct etwas_inventory *inventory, const char *path, ...)
    __attribute__((format(printf, 2, 3)));

/* The last name of where a symbolic link leads. False, and an empty text: it is none. */
bool etwas_inventory_link(struct etwas_inventory *inventory, char *name, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/* Calls `each` with the names in a folder, in no order, but for those that begin with a point. */
typedef void (*etwas_inventory_each_name)(struct etwas_inventory *inventory, const char *name,
                                          void *context);
void etwas_inventory_each(struct etwas_inventory *inventory, etwas_inventory_each_name each,
                          void *context, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- texts ----------------------------------------------------------------------------------- */

/* Adds an item to a list, behind the separator unless it is the first. All of it, or nothing. */
void etwas_inventory_list_add(char *list, size_t size, const char *separator, const char *item);

/* The value behind the first line's beginning that is `name`; NULL: no line begins so. */
const char *etwas_inventory_value(const char *text, const char *name);

#endif
