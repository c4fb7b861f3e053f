/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The numbers of devices' interrupts, and the processors that handle them.
 */
#include <stdlib.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    DECIMAL = 10,
    HEXADECIMAL = 16,
    GROUP_BITS = 32,
};

/* "00000001,00000003", the highest processors first: returns the lowest 64. */
static uint64_t read_mask(const char *text)
{
    uint64_t mask = 0;
    char *end;

    for (;;) {
        unsigned long group = strtoul(text, &end, HEXADECIMAL);

        if (end == text) {
            return mask;
        }
        mask = mask << GROUP_BITS | (uint32_t)group;
        if (*end != ',') {
            return mask;
        }
        text = end + 1;
    }
}

static void emit_interrupt(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct etwas_record_builder *record = inventory->record;
    char actions[ETWAS_INVENTORY_LINE_BYTES];
    char mask[4 * ETWAS_INVENTORY_LINE_BYTES];
    uint32_t length_at;

    (void)context;
    if (!etwas_inventory_line(inventory, actions, sizeof actions, "sys/kernel/irq/%s/actions",
                              name) ||
        strcmp(actions, "(null)") == 0) {
        return; /* it has no handler, or none with a name */
    }
    (void)etwas_inventory_line(inventory, mask, sizeof mask, "proc/irq/%s/smp_affinity", name);
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_IRQ);
    etwas_record_builder_put_u64(record, read_mask(mask));
    etwas_record_builder_put_u32(record, (uint32_t)strtoul(name, NULL, DECIMAL));
    length_at = record->bytes;
    etwas_record_builder_put_u32(record, 0);
    etwas_inventory_put_counted(inventory, length_at, actions);
    etwas_inventory_end(inventory);
}

void etwas_inventory_interrupts(struct etwas_inventory *inventory)
{
    etwas_inventory_each(inventory, emit_interrupt, NULL, "sys/kernel/irq");
}
