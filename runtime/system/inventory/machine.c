/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The machine itself: processors, memory and its names; its maker; its states of sleep.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/inventory/inventory_internal.h"

enum {
    TEXT_BYTES = 4096, /* of cpuinfo and meminfo: the first processor, the first lines */
    FLAG_BITS = 64,
    KHZ_A_MHZ = 1000,
    KB_A_MB = 1024,
    MOST_PROCESSORS = 65536,
    DECIMAL = 10,
};

/* ---- processors and memory ------------------------------------------------------------------- */

/* Returns how many numbers are in a list such as 0-3,8. */
static uint32_t count_of(const char *list)
{
    uint32_t count = 0;

    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, DECIMAL);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, DECIMAL) : first;

        if (last < first || last >= MOST_PROCESSORS) {
            break;
        }
        count += (uint32_t)(last - first + 1);
        list = *end == ',' ? end + 1 : "";
    }
    return count;
}

/* Returns the highest speed of a processor; if that is not known, its current speed. */
static uint32_t speed_mhz(struct etwas_inventory *inventory)
{
    uint64_t khz =
        etwas_inventory_number(inventory, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    char text[TEXT_BYTES];
    const char *value;
    unsigned long whole;
    char *end;

    if (khz != 0) {
        return (uint32_t)(khz / KHZ_A_MHZ);
    }
    if (!etwas_inventory_text(inventory, text, sizeof text, "proc/cpuinfo") ||
        (value = etwas_inventory_value(text, "cpu MHz")) == NULL) {
        return 0;
    }
    whole = strtoul(value + strspn(value, " \t:"), &end, DECIMAL);
    return (uint32_t)whole + (end[0] == '.' && end[1] >= '5');
}

static uint32_t memory_mb(struct etwas_inventory *inventory)
{
    char text[TEXT_BYTES];
    const char *value;

    if (!etwas_inventory_text(inventory, text, sizeof text, "proc/meminfo") ||
        (value = etwas_inventory_value(text, "MemTotal:")) == NULL) {
        return 0;
    }
    return (uint32_t)(strtoull(value, NULL, DECIMAL) / KB_A_MB);
}

/* Reads the NIS domain, or else the DNS domain. */
static void read_domain(struct etwas_inventory *inventory, char *domain, size_t size)
{
    char text[TEXT_BYTES];
    const char *value;

    if (etwas_inventory_line(inventory, domain, size, "proc/sys/kernel/domainname") &&
        strcmp(domain, "(none)") != 0) {
        return;
    }
    domain[0] = 0;
    if (etwas_inventory_text(inventory, text, sizeof text, "etc/resolv.conf") &&
        ((value = etwas_inventory_value(text, "domain ")) != NULL ||
         (value = etwas_inventory_value(text, "search ")) != NULL)) {
        size_t length;

        value += strspn(value, " \t");
        length = strcspn(value, " \t\r\n");
        if (length < size) {
            memcpy(domain, value, length);
            domain[length] = 0;
        }
    }
}

/* Returns one bit for each processor that shares its core with another one. */
static uint64_t hyper_threading(struct etwas_inventory *inventory)
{
    char line[ETWAS_INVENTORY_LINE_BYTES];
    uint64_t flags = 0;

    for (uint32_t processor = 0; processor < FLAG_BITS; processor++) {
        if (etwas_inventory_line(inventory, line, sizeof line,
                                 "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
                                 processor) &&
            count_of(line) > 1) {
            flags |= UINT64_C(1) << processor;
        }
    }
    return flags;
}

void etwas_inventory_processors(struct etwas_inventory *inventory)
{
    const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    char online[ETWAS_INVENTORY_LINE_BYTES];
    char name[ETWAS_INVENTORY_LINE_BYTES];
    char domain[ETWAS_INVENTORY_LINE_BYTES];

    (void)etwas_inventory_line(inventory, online, sizeof online, "sys/devices/system/cpu/online");
    (void)etwas_inventory_line(inventory, name, sizeof name, "proc/sys/kernel/hostname");
    read_domain(inventory, domain, sizeof domain);
    ETWAS_INVENTORY_MAKE(inventory, CPU, .MHz = speed_mhz(inventory),
                         .NumberOfProcessors = count_of(online), .MemSize = memory_mb(inventory),
                         .PageSize = page_bytes,
                         .AllocationGranularity = page_bytes, /* the unit of mappings */
                         .ComputerName = name, .DomainName = domain,
                         .HyperThreadingFlag = hyper_threading(inventory));
    etwas_inventory_end(inventory);
}

/* ---- the maker, and sleep -------------------------------------------------------------------- */

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
    ETWAS_INVENTORY_MAKE(inventory, PLATFORM, .SystemManufacturer = lines[0],
                         .SystemProductName = lines[1], .BiosDate = lines[2],
                         .BiosVersion = lines[3]);
    etwas_inventory_end(inventory);
}

/*
 * The states of sleep: the first is the kernel's standby, Linux has no second one, the third is mem
 * if that is more than idling, and the fourth is disk. The kernel does not report the fifth, that
 * the machine can switch itself off; any machine with ACPI can.
 */
void etwas_inventory_power(struct etwas_inventory *inventory)
{
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
    ETWAS_INVENTORY_MAKE(
        inventory, POWER, .s1 = strstr(states, "standby") != NULL, .s3 = has_sleep,
        .s4 = strstr(states, "disk") != NULL,
        .s5 = etwas_inventory_line(inventory, name, sizeof name, "sys/firmware/acpi/pm_profile"));
    etwas_inventory_end(inventory);
}
