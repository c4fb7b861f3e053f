/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The maker of the machine, and its states of sleep.
 */
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    PAD_BYTES = 3,
};

void etwas_inventory_platform(struct etwas_inventory *inventory)
{
    static const char *const names[] = {"sys_vendor", "product_name", "bios_date", "bios_version"};
    char lines[sizeof names / sizeof names[0]][ETWAS_INVENTORY_LINE_BYTES];
    bool is_known = false;

    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        is_known |= etwas_inventory_line(inventory, lines[index], sizeof lines[index],
                                         "sys/class/dmi/id/%s", names[index]);
    }
    if (!is_known) { /* a machine without a BIOS */
        is_known = etwas_inventory_line(inventory, lines[1], sizeof lines[1],
                                        "sys/firmware/devicetree/base/model");
    }
    if (!is_known) {
        return;
    }
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_PLATFORM);
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        etwas_record_builder_put_utf16(inventory->record, lines[index]);
    }
    etwas_inventory_end(inventory);
}

/*
 * The first state is the kernel's standby; the third is mem, if that is more than idling; the
 * fourth is disk; Linux has no second one. The fifth, that the machine can switch itself off, is
 * not reported: one with ACPI can.
 */
void etwas_inventory_power(struct etwas_inventory *inventory)
{
    struct etwas_record_builder *record = inventory->record;
    char states[ETWAS_INVENTORY_LINE_BYTES];
    char sleep[ETWAS_INVENTORY_LINE_BYTES];
    char name[ETWAS_INVENTORY_LINE_BYTES];
    bool has_sleep;

    if (!etwas_inventory_text(inventory, states, sizeof states, "sys/power/state")) {
        return;
    }
    has_sleep = strstr(states, "mem") != NULL &&
                (!etwas_inventory_line(inventory, sleep, sizeof sleep, "sys/power/mem_sleep") ||
                 strstr(sleep, "deep") != NULL);
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_POWER);
    etwas_record_builder_put_u8(record, strstr(states, "standby") != NULL);
    etwas_record_builder_put_u8(record, false);
    etwas_record_builder_put_u8(record, has_sleep);
    etwas_record_builder_put_u8(record, strstr(states, "disk") != NULL);
    etwas_record_builder_put_u8(
        record, etwas_inventory_line(inventory, name, sizeof name, "sys/firmware/acpi/pm_profile"));
    etwas_record_builder_put_zeros(record, PAD_BYTES);
    etwas_inventory_end(inventory);
}
