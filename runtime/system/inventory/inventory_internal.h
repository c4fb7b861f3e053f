/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the parts of the inventory. Each part emits the events of one kind of thing; the table
 * of them is in inventory.c.
 */
#ifndef ETWAS_SYSTEM_INVENTORY_INVENTORY_INTERNAL_H
#define ETWAS_SYSTEM_INVENTORY_INVENTORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/inventory/inventory.h"
#include "system/stream/kernel_record.h"

enum {
    ETWAS_INVENTORY_STEPS = 65536,    /* the most files and folder entries that are read */
    ETWAS_INVENTORY_LINE_BYTES = 256, /* room for a line of a file */
    ETWAS_INVENTORY_PATH_BYTES = 1024,
};

struct etwas_inventory {
    const char *root;
    struct etwas_record_builder *record;
    struct etwas_emitter *emitter;
    struct etwas_quiesce *quiesce; /* called after each thing */
    uint32_t types;                /* the types that are emitted, one bit each */
    uint32_t steps_left;
    uint8_t type; /* of the record that is being built */
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

/* Makes the record of one thing; its type has the name of its layout. */
#define ETWAS_INVENTORY_MAKE(inventory, LAYOUT, ...)                                               \
    do {                                                                                           \
        (inventory)->type = ETWAS_INVENTORY_##LAYOUT;                                              \
        ETWAS_RECORD_MAKE((inventory)->record, LAYOUT, ETWAS_INVENTORY_##LAYOUT, __VA_ARGS__);     \
    } while (0)

/*
 * Sets fields to the lengths, in characters, of as many texts, which follow the fields. The first
 * field is at `lengths_at` of the record.
 */
void etwas_inventory_count_texts(struct etwas_inventory *inventory, size_t lengths_at,
                                 uint32_t count);

/* Emits the record, if its type is wanted, and quiesces. */
void etwas_inventory_end(struct etwas_inventory *inventory);

/* ---- files: paths are printf formats, relative to the root ----------------------------------- */

/*
 * Reads the beginning of a file, and ends it with a 0. Returns false if it is not a regular file,
 * or is empty.
 */
bool etwas_inventory_text(struct etwas_inventory *inventory, char *text, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/*
 * Reads the first line of a file, without blanks at its ends. Returns false if there is none;
 * `line` is empty then.
 */
bool etwas_inventory_line(struct etwas_inventory *inventory, char *line, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/* Reads the number at the start of a file, hexadecimal after 0x. 0: there is none. */
uint64_t etwas_inventory_number(struct etwas_inventory *inventory, const char *path, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Reads the last name of the target of a symbolic link. Returns false if there is no link;
 * `name` is empty then.
 */
bool etwas_inventory_link(struct etwas_inventory *inventory, char *name, size_t size,
                          const char *path, ...) __attribute__((format(printf, 4, 5)));

/* Calls `each` for the names in a folder that do not begin with a dot, in no special order. */
typedef void (*etwas_inventory_each_name)(struct etwas_inventory *inventory, const char *name,
                                          void *context);
void etwas_inventory_each(struct etwas_inventory *inventory, etwas_inventory_each_name each,
                          void *context, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- texts ----------------------------------------------------------------------------------- */

/*
 * Appends an item to a list, after a separator unless it is the first. Appends all of it or
 * nothing.
 */
void etwas_inventory_list_add(char *list, size_t size, const char *separator, const char *item);

/* Returns the value after `name` in the first line that begins with it; NULL: no line does. */
const char *etwas_inventory_value(const char *text, const char *name);

#endif
