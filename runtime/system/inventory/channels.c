/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Devices on ATA channels.
 */
#include <stdio.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    TYPE_ATA = 1,
    TYPE_ATAPI = 2,
};

/* Returns the bit of a mode such as XFER_UDMA_5: the modes of a kind follow each other. */
static uint32_t mode_bit(const char *mode)
{
    static const struct {
        const char *format;
        unsigned first_bit;
        unsigned count;
    } kinds[] = {
        {"XFER_PIO_%u", 0, 5},
        {"XFER_SW_DMA_%u", 5, 3},
        {"XFER_MW_DMA_%u", 8, 3},
        {"XFER_UDMA_%u", 11, 8},
    };

    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        unsigned number;

        if (sscanf(mode, kinds[kind].format, &number) == 1 && number < kinds[kind].count) {
            return UINT32_C(1) << (kinds[kind].first_bit + number);
        }
    }
    return 0;
}

/* dev1.0 is device 0 of ata1; dev1.2.0 is behind a port multiplier. */
static void emit_channel(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct etwas_record_builder *record = inventory->record;
    char class[ETWAS_INVENTORY_LINE_BYTES];
    char mode[ETWAS_INVENTORY_LINE_BYTES];
    char location[ETWAS_INVENTORY_LINE_BYTES];
    const char *target = strrchr(name, '.');
    unsigned port;
    unsigned number;
    uint32_t length_at;

    (void)context;
    if (sscanf(name, "dev%u.", &port) != 1 || target == NULL ||
        sscanf(target, ".%u", &number) != 1 ||
        !etwas_inventory_line(inventory, class, sizeof class, "sys/class/ata_device/%s/class",
                              name) ||
        strncmp(class, "ata", 3) != 0) {
        return; /* nothing is connected, or a device that is neither disk nor drive */
    }
    (void)etwas_inventory_line(inventory, mode, sizeof mode, "sys/class/ata_device/%s/xfer_mode",
                               name);
    (void)snprintf(location, sizeof location, "ata%u", port);
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_IDE_CHANNEL);
    etwas_record_builder_put_u32(record, number);
    etwas_record_builder_put_u32(record, strcmp(class, "atapi") == 0 ? TYPE_ATAPI : TYPE_ATA);
    etwas_record_builder_put_u32(record, mode_bit(mode));
    length_at = record->bytes;
    etwas_record_builder_put_u32(record, 0);
    etwas_inventory_put_counted(inventory, length_at, location);
    etwas_inventory_end(inventory);
}

void etwas_inventory_channels(struct etwas_inventory *inventory)
{
    etwas_inventory_each(inventory, emit_channel, NULL, "sys/class/ata_device");
}
