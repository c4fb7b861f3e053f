/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/inventory/inventory.h"

#include <string.h>
#include <unistd.h>

#include "etl/layout.h"
#include "system/inventory/inventory_internal.h"

enum {
    GROUP_CONFIGURATION = 0x0B,
    CLASS_VERSION = 2,
};

void etwas_inventory_begin(struct etwas_inventory *inventory, enum etwas_inventory_type type)
{
    inventory->type = type;
    etwas_record_builder_begin(inventory->record, ETWAS_ETL_SYSTEM64, GROUP_CONFIGURATION,
                               (uint8_t)type, CLASS_VERSION);
    etwas_record_builder_set_thread(inventory->record, (uint32_t)getpid(), (uint32_t)gettid());
}

void etwas_inventory_end(struct etwas_inventory *inventory)
{
    if ((inventory->types & 1U << inventory->type) != 0) {
        etwas_emit_now(inventory->emitter, etwas_record_builder_end(inventory->record));
    }
    etwas_quiesce(inventory->quiesce);
}

void etwas_inventory_put_counted(struct etwas_inventory *inventory, uint32_t length_at,
                                 const char *text)
{
    struct etwas_record_builder *record = inventory->record;
    const uint32_t begin = record->bytes;
    uint32_t characters;

    etwas_record_builder_put_utf16(record, text);
    characters = (record->bytes - begin) / (uint32_t)sizeof(uint16_t);
    characters -= characters > 0; /* without the 0 */
    if (length_at + sizeof characters <= begin) {
        memcpy(record->data + length_at, &characters, sizeof characters);
    }
}

void etwas_inventory_emit(const char *root, uint32_t types, struct etwas_record_builder *record,
                          struct etwas_emitter *emitter, struct etwas_quiesce *quiesce)
{
    static void (*const parts[])(struct etwas_inventory * inventory) = {
        etwas_inventory_processors, etwas_inventory_platform, etwas_inventory_power,
        etwas_inventory_disks,      etwas_inventory_adapters, etwas_inventory_network,
        etwas_inventory_video,      etwas_inventory_services, etwas_inventory_interrupts,
        etwas_inventory_devices,    etwas_inventory_channels,
    };
    struct etwas_inventory inventory = {.root = root,
                                        .record = record,
                                        .emitter = emitter,
                                        .quiesce = quiesce,
                                        .types = types,
                                        .steps_left = ETWAS_INVENTORY_STEPS};

    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        parts[part](&inventory);
    }
}
