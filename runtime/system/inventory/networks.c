/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Network adapters with their addresses, and TCP's settings.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    TYPE_LOOPBACK = 772,
    ADDRESS_BYTES = 8, /* of the field */
    TEXT_BYTES = 4096,
    HEXADECIMAL = 16,
    DECIMAL = 10,
    TIME_WAIT_S = 60, /* constant in Linux */
};

struct addresses {
    struct ifaddrs *all; /* NULL: none */
    char dns[TEXT_BYTES];
};

/* "02:00:00:aa:bb:cc": returns its bytes in order, the first one lowest. */
static uint64_t read_hardware_address(const char *line, uint32_t *bytes)
{
    uint64_t address = 0;
    char *end;

    for (*bytes = 0; *bytes < ADDRESS_BYTES; line = end + 1) {
        address |= (uint64_t)(strtoul(line, &end, HEXADECIMAL) & UINT8_MAX) << *bytes * 8;
        if (end == line) {
            break;
        }
        (*bytes)++;
        if (*end != ':') {
            break;
        }
    }
    return address;
}

static void list_addresses(const struct ifaddrs *all, const char *name, char *list, size_t size)
{
    char text[INET6_ADDRSTRLEN];
    const void *address;

    list[0] = 0;
    for (; all != NULL; all = all->ifa_next) {
        if (all->ifa_addr == NULL || strcmp(all->ifa_name, name) != 0) {
            continue;
        }
        if (all->ifa_addr->sa_family == AF_INET) {
            address = &((const struct sockaddr_in *)(const void *)all->ifa_addr)->sin_addr;
        } else if (all->ifa_addr->sa_family == AF_INET6) {
            address = &((const struct sockaddr_in6 *)(const void *)all->ifa_addr)->sin6_addr;
        } else {
            continue;
        }
        if (inet_ntop(all->ifa_addr->sa_family, address, text, sizeof text) != NULL) {
            etwas_inventory_list_add(list, size, ",", text);
        }
    }
}

static void network_emit_adapter(struct etwas_inventory *inventory, const char *name, void *context)
{
    const struct addresses *addresses = context;
    uint64_t type = etwas_inventory_number(inventory, "sys/class/net/%s/type", name);
    char list[TEXT_BYTES];
    uint64_t hardware;
    uint32_t index;
    uint32_t bytes;

    index = (uint32_t)etwas_inventory_number(inventory, "sys/class/net/%s/ifindex", name);
    if (type == TYPE_LOOPBACK || index == 0) { /* bonding_masters is no adapter */
        return;
    }
    (void)etwas_inventory_line(inventory, list, sizeof list, "sys/class/net/%s/address", name);
    hardware = read_hardware_address(list, &bytes);
    list_addresses(addresses->all, name, list, sizeof list);
    ETWAS_INVENTORY_MAKE(inventory, NIC, .PhysicalAddr = hardware, .PhysicalAddrLen = bytes,
                         .Ipv4Index = index, .Ipv6Index = index, .NICDescription = name,
                         .IpAddresses = list, .DnsServerAddresses = addresses->dns);
    etwas_inventory_end(inventory);
}

static void list_name_servers(struct etwas_inventory *inventory, char *list, size_t size)
{
    static const char keyword[] = "nameserver ";
    char text[TEXT_BYTES];
    const char *value;
    const char *rest = text;

    list[0] = 0;
    (void)etwas_inventory_text(inventory, text, sizeof text, "etc/resolv.conf");
    while ((value = etwas_inventory_value(rest, keyword)) != NULL) {
        char server[ETWAS_INVENTORY_LINE_BYTES];
        int length;

        value += strspn(value, " \t");
        length = (int)strcspn(value, " \t\r\n");
        (void)snprintf(server, sizeof server, "%.*s", length, value);
        etwas_inventory_list_add(list, size, ",", server);
        rest = value + length;
    }
}

void etwas_inventory_adapters(struct etwas_inventory *inventory)
{
    struct addresses addresses;

    if (getifaddrs(&addresses.all) != 0) {
        addresses.all = NULL;
    }
    list_name_servers(inventory, addresses.dns, sizeof addresses.dns);
    etwas_inventory_each(inventory, network_emit_adapter, &addresses, "sys/class/net");
    if (addresses.all != NULL) {
        freeifaddrs(addresses.all);
    }
}

void etwas_inventory_network(struct etwas_inventory *inventory)
{
    char ports[ETWAS_INVENTORY_LINE_BYTES];
    char *last_port;
    uint64_t buckets;

    if (!etwas_inventory_line(inventory, ports, sizeof ports,
                              "proc/sys/net/ipv4/ip_local_port_range")) {
        return;
    }
    (void)strtoul(ports, &last_port, DECIMAL);
    buckets = etwas_inventory_number(inventory, "proc/sys/net/ipv4/tcp_ehash_entries");
    ETWAS_INVENTORY_MAKE(inventory, NETWORK,
                         .TcbTablePartitions = 1, /* Linux's table has no partitions */
                         .MaxHashTableSize = (uint32_t)buckets,
                         .MaxUserPort = (uint32_t)strtoul(last_port, NULL, DECIMAL),
                         .TcpTimedWaitDelay = TIME_WAIT_S);
    etwas_inventory_end(inventory);
}
