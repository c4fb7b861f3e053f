/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processors, memory, and the names of the machine.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/inventory/inventory_internal.h"

enum {
    TEXT_BYTES = 4096, /* of cpuinfo and meminfo: the first processor, the first lines */
    NAME_CHARACTERS = 256,
    DOMAIN_CHARACTERS = 134, /* as consumers read it; ETW's documentation says 132 */
    FLAG_BITS = 64,
    KHZ_A_MHZ = 1000,
    KB_A_MB = 1024,
    MOST_PROCESSORS = 65536,
    DECIMAL = 10,
};

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

/* Its highest speed; if that is not known, its speed now. */
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

/* The domain of NIS, or else of DNS. */
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

/* A bit for each processor that shares its core with another one. */
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
    struct etwas_record_builder *record = inventory->record;
    const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    char line[ETWAS_INVENTORY_LINE_BYTES];

    etwas_inventory_begin(inventory, ETWAS_INVENTORY_CPU);
    etwas_record_builder_put_u32(record, speed_mhz(inventory));
    (void)etwas_inventory_line(inventory, line, sizeof line, "sys/devices/system/cpu/online");
    etwas_record_builder_put_u32(record, count_of(line));
    etwas_record_builder_put_u32(record, memory_mb(inventory));
    etwas_record_builder_put_u32(record, page_bytes);
    etwas_record_builder_put_u32(record, page_bytes); /* the unit in which memory is mapped */
    (void)etwas_inventory_line(inventory, line, sizeof line, "proc/sys/kernel/hostname");
    etwas_record_builder_put_utf16_field(record, line, NAME_CHARACTERS);
    read_domain(inventory, line, sizeof line);
    etwas_record_builder_put_utf16_field(record, line, DOMAIN_CHARACTERS);
    etwas_record_builder_put_u64(record, hyper_threading(inventory));
    etwas_inventory_end(inventory);
}
