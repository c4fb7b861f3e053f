/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The inventory: the machine's hardware and configuration, as events of SystemConfig, one for each
 * thing.
 *
 * Everything is read from files beneath one folder: the machine's own root, or one that a test
 * made. Nothing there is trusted. Only the first bytes of regular files are read, and a bounded
 * number of files and folder entries. The free space of file systems that may wait for another
 * machine, or for a program, is not queried.
 *
 *     CPU, Platform, Power      /sys/devices/system/cpu, /proc/cpuinfo, /proc/meminfo,
 *                               /sys/class/dmi, /sys/power
 *     PhyDisk, LogDisk, Optical /sys/block, /proc/self/mountinfo
 *     NIC, Network              /sys/class/net, the interfaces' addresses, /etc/resolv.conf,
 *                               /proc/sys/net
 *     Video                     /sys/class/drm, else /sys/class/graphics
 *     Services                  systemd's control groups and unit files
 *     IRQ, PnP, IDEChannel      /sys/kernel/irq, /sys/bus/pci, /sys/bus/usb, /sys/class/ata_device
 *
 * A thing that does not exist has no event; a fact that is not known is 0 or empty.
 */
#ifndef ETWAS_SYSTEM_INVENTORY_INVENTORY_H
#define ETWAS_SYSTEM_INVENTORY_INVENTORY_H

#include "system/stream/emit.h"
#include "system/stream/quiesce.h"
#include "system/stream/record_builder.h"

#define ETWAS_INVENTORY_HERE "" /* this machine */

#define ETWAS_INVENTORY_ALL UINT32_MAX

/*
 * Emits the events of these types, one bit each. `record` has its room set; its content is
 * overwritten.
 */
void etwas_inventory_emit(const char *root, uint32_t types, struct etwas_record_builder *record,
                          struct etwas_emitter *emitter, struct etwas_quiesce *quiesce);

#endif
