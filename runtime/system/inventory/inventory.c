/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/inventory/inventory.h"

#include <string.h>
#include <unistd.h>

#include "system/inventory/inventory_internal.h"

#define TYPE(NAME) (1U << ETWAS_INVENTORY_##NAME)

/* In the order in which they are emitted. */
static const struct inventory_part {
    uint32_t types; /* of the events that it emits, one bit each */
    void (*emit)(struct etwas_inventory *inventory);
} parts[] = {
    {TYPE(CPU), etwas_inventory_processors},
    {TYPE(PLATFORM), etwas_inventory_platform},
    {TYPE(POWER), etwas_inventory_power},
    {TYPE(PHYSICAL_DISK) | TYPE(LOGICAL_DISK) | TYPE(OPTICAL), etwas_inventory_disks},
    {TYPE(NIC), etwas_inventory_adapters},
    {TYPE(NETWORK), etwas_inventory_network},
    {TYPE(VIDEO), etwas_inventory_video},
    {TYPE(SERVICE), etwas_inventory_services},
    {TYPE(IRQ), etwas_inventory_interrupts},
    {TYPE(PNP), etwas_inventory_devices},
    {TYPE(IDE_CHANNEL), etwas_inventory_channels},
};

void etwas_inventory_count_texts(struct etwas_inventory *inventory, size_t lengths_at,
                                 uint32_t count)
{
    struct etwas_record_builder *record = inventory->record;
    size_t text_at = lengths_at + count * sizeof(uint32_t);

    for (; count > 0; count--, lengths_at += sizeof(uint32_t)) {
        uint32_t characters = 0;
        uint16_t unit = 1;

        while (unit != 0 && text_at + sizeof unit <= record->bytes) {
            memcpy(&unit, record->data + text_at, sizeof unit);
            text_at += sizeof unit;
            characters += unit != 0;
        }
        if (lengths_at + sizeof characters <= record->bytes) {
            memcpy(record->data + lengths_at, &characters, sizeof characters);
        }
    }
}

void etwas_inventory_end(struct etwas_inventory *inventory)
{
    if ((inventory->types & 1U << inventory->type) != 0) {
        etwas_record_builder_set_thread(inventory->record, (uint32_t)getpid(), (uint32_t)gettid());
        etwas_emit_now(inventory->emitter, etwas_record_builder_end(inventory->record));
    }
    etwas_quiesce(inventory->quiesce);
}

void etwas_inventory_emit(const char *root, uint32_t types, struct etwas_record_builder *record,
                          struct etwas_emitter *emitter, struct etwas_quiesce *quiesce)
{
    struct etwas_inventory inventory = {.root = root,
                                        .record = record,
                                        .emitter = emitter,
                                        .quiesce = quiesce,
                                        .types = types,
                                        .steps_left = ETWAS_INVENTORY_STEPS};

    for (size_t index = 0; index < sizeof parts / sizeof parts[0]; index++) {
        if ((parts[index].types & types) != 0) {
            parts[index].emit(&inventory);
        }
    }
}
