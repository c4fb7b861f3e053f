/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Devices on PCI and USB.
 */
#include <stdio.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    LENGTHS = 3,
};

struct device {
    char id[2 * ETWAS_INVENTORY_LINE_BYTES];
    char description[ETWAS_INVENTORY_LINE_BYTES];
    char friendly_name[2 * ETWAS_INVENTORY_LINE_BYTES];
};

static void emit_device(struct etwas_inventory *inventory, const struct device *device)
{
    const char *const texts[LENGTHS] = {device->id, device->description, device->friendly_name};
    uint32_t length_at;

    etwas_inventory_begin(inventory, ETWAS_INVENTORY_PNP);
    length_at = inventory->record->bytes;
    etwas_record_builder_put_zeros(inventory->record, LENGTHS * sizeof(uint32_t));
    for (uint32_t index = 0; index < LENGTHS; index++) {
        etwas_inventory_put_counted(inventory, length_at + index * (uint32_t)sizeof(uint32_t),
                                    texts[index]);
    }
    etwas_inventory_end(inventory);
}

static unsigned pci_number(struct etwas_inventory *inventory, const char *slot, const char *name)
{
    return (unsigned)etwas_inventory_number(inventory, "sys/bus/pci/devices/%s/%s", slot, name);
}

/* Its id and slot in the form of Windows; its driver; its slot. */
static void emit_pci(struct etwas_inventory *inventory, const char *slot, void *context)
{
    struct device device;
    unsigned vendor = pci_number(inventory, slot, "vendor");

    (void)context;
    if (vendor == 0) {
        return;
    }
    (void)snprintf(
        device.id, sizeof device.id, "PCI\\VEN_%04X&DEV_%04X&SUBSYS_%04X%04X&REV_%02X\\%s", vendor,
        pci_number(inventory, slot, "device"), pci_number(inventory, slot, "subsystem_device"),
        pci_number(inventory, slot, "subsystem_vendor"), pci_number(inventory, slot, "revision"),
        slot);
    (void)etwas_inventory_link(inventory, device.description, sizeof device.description,
                               "sys/bus/pci/devices/%s/driver", slot);
    (void)snprintf(device.friendly_name, sizeof device.friendly_name, "%s", slot);
    emit_device(inventory, &device);
}

/* Its id and port in the form of Windows; its product and manufacturer. */
static void emit_usb(struct etwas_inventory *inventory, const char *place, void *context)
{
    struct device device;
    char vendor[ETWAS_INVENTORY_LINE_BYTES];
    char product[ETWAS_INVENTORY_LINE_BYTES];

    (void)context;
    /* An entry without a product is an interface of a device. */
    if (!etwas_inventory_line(inventory, product, sizeof product,
                              "sys/bus/usb/devices/%s/idProduct", place) ||
        !etwas_inventory_line(inventory, vendor, sizeof vendor, "sys/bus/usb/devices/%s/idVendor",
                              place)) {
        return;
    }
    (void)snprintf(device.id, sizeof device.id, "USB\\VID_%.8s&PID_%.8s\\%s", vendor, product,
                   place);
    (void)etwas_inventory_line(inventory, device.description, sizeof device.description,
                               "sys/bus/usb/devices/%s/product", place);
    (void)etwas_inventory_line(inventory, device.friendly_name, sizeof device.friendly_name,
                               "sys/bus/usb/devices/%s/manufacturer", place);
    if (device.description[0] != 0) {
        etwas_inventory_list_add(device.friendly_name, sizeof device.friendly_name, " ",
                                 device.description);
    }
    emit_device(inventory, &device);
}

void etwas_inventory_devices(struct etwas_inventory *inventory)
{
    etwas_inventory_each(inventory, emit_pci, NULL, "sys/bus/pci/devices");
    etwas_inventory_each(inventory, emit_usb, NULL, "sys/bus/usb/devices");
}
