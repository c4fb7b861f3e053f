/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Devices on PCI and USB, the numbers of their interrupts, and devices on ATA channels.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

/* ---- PCI and USB ----------------------------------------------------------------------------- */

struct device {
    char id[2 * ETWAS_INVENTORY_LINE_BYTES];
    char description[ETWAS_INVENTORY_LINE_BYTES];
    char friendly_name[2 * ETWAS_INVENTORY_LINE_BYTES];
};

ETWAS_KERNEL_RECORD(pnp_record, etwas_etl_system_header, PNP);

static void emit_device(struct etwas_inventory *inventory, const struct device *device)
{
    ETWAS_INVENTORY_MAKE(inventory, PNP, .DeviceID = device->id,
                         .DeviceDescription = device->description,
                         .FriendlyName = device->friendly_name);
    etwas_inventory_count_texts(inventory, offsetof(struct pnp_record, IDLength), 3);
    etwas_inventory_end(inventory);
}

static unsigned pci_number(struct etwas_inventory *inventory, const char *slot, const char *name)
{
    return (unsigned)etwas_inventory_number(inventory, "sys/bus/pci/devices/%s/%s", slot, name);
}

/* Emits a PCI device: its id and slot in the form of Windows, its driver, and its slot. */
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

/* Emits a USB device: its id and port in the form of Windows, its product and manufacturer. */
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

/* ---- interrupts ------------------------------------------------------------------------------ */

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

ETWAS_KERNEL_RECORD(irq_record, etwas_etl_system_header, IRQ);

static void emit_interrupt(struct etwas_inventory *inventory, const char *name, void *context)
{
    char actions[ETWAS_INVENTORY_LINE_BYTES];
    char mask[4 * ETWAS_INVENTORY_LINE_BYTES];

    (void)context;
    if (!etwas_inventory_line(inventory, actions, sizeof actions, "sys/kernel/irq/%s/actions",
                              name) ||
        strcmp(actions, "(null)") == 0) {
        return; /* it has no handler, or none with a name */
    }
    (void)etwas_inventory_line(inventory, mask, sizeof mask, "proc/irq/%s/smp_affinity", name);
    ETWAS_INVENTORY_MAKE(inventory, IRQ, .IRQAffinity = read_mask(mask),
                         .IRQNum = (uint32_t)strtoul(name, NULL, DECIMAL),
                         .DeviceDescription = actions);
    etwas_inventory_count_texts(inventory, offsetof(struct irq_record, DeviceDescriptionLen), 1);
    etwas_inventory_end(inventory);
}

void etwas_inventory_interrupts(struct etwas_inventory *inventory)
{
    etwas_inventory_each(inventory, emit_interrupt, NULL, "sys/kernel/irq");
}

/* ---- ATA channels ---------------------------------------------------------------------------- */

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

ETWAS_KERNEL_RECORD(channel_record, etwas_etl_system_header, IDE_CHANNEL);

/* dev1.0 is device 0 of ata1; dev1.2.0 is behind a port multiplier. */
static void emit_channel(struct etwas_inventory *inventory, const char *name, void *context)
{
    char class[ETWAS_INVENTORY_LINE_BYTES];
    char mode[ETWAS_INVENTORY_LINE_BYTES];
    char location[ETWAS_INVENTORY_LINE_BYTES];
    const char *target = strrchr(name, '.');
    unsigned port;
    unsigned number;

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
    ETWAS_INVENTORY_MAKE(inventory, IDE_CHANNEL, .TargetId = number,
                         .DeviceType = strcmp(class, "atapi") == 0 ? TYPE_ATAPI : TYPE_ATA,
                         .DeviceTimingMode = mode_bit(mode), .LocationInformation = location);
    etwas_inventory_count_texts(inventory, offsetof(struct channel_record, LocationInformationLen),
                                1);
    etwas_inventory_end(inventory);
}

void etwas_inventory_channels(struct etwas_inventory *inventory)
{
    etwas_inventory_each(inventory, emit_channel, NULL, "sys/class/ata_device");
}
