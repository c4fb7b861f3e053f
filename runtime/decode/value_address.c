/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Network addresses as text. */
#include <arpa/inet.h>
#include <string.h>

#include "decode/value.h"

/* A socket address on Windows: a family, a port in network byte order, and the address. */
enum {
    FAMILY_IPV4 = 2,
    FAMILY_IPV6 = 23,
    PORT_AT = 2,
    IPV4_AT = 4,
    IPV4_END = 8,
    IPV6_AT = 8,
    SCOPE_AT = 24,
    IPV6_END = 28,
};

void etwas_value_write_ipv4(struct etwas_text_writer *text, const uint8_t *address)
{
    char out[INET_ADDRSTRLEN];

    etwas_text_put_ascii(text, inet_ntop(AF_INET, address, out, sizeof out));
}

static void value_write_ipv6_address(struct etwas_text_writer *text, const uint8_t *address)
{
    char out[INET6_ADDRSTRLEN];

    etwas_text_put_ascii(text, inet_ntop(AF_INET6, address, out, sizeof out));
}

void etwas_value_write_ipv6(struct etwas_text_writer *text, const uint8_t *address, uint32_t bytes)
{
    if (bytes == sizeof(struct in6_addr)) {
        value_write_ipv6_address(text, address);
    } else {
        etwas_text_put_bytes(text, address, bytes);
    }
}

/* Writes the port, or nothing if it is 0. */
static void value_write_port(struct etwas_text_writer *text, const uint8_t *address)
{
    unsigned port = (unsigned)address[PORT_AT] << 8 | address[PORT_AT + 1];

    if (port != 0) {
        etwas_text_put(text, ":", 1);
        etwas_text_put_unsigned(text, port);
    }
}

void etwas_value_write_socket_address(struct etwas_text_writer *text, const uint8_t *address,
                                      uint32_t bytes)
{
    unsigned family = bytes < 2 ? 0 : address[0] | (unsigned)address[1] << 8;
    uint32_t scope = 0;

    if (family == FAMILY_IPV4 && bytes >= IPV4_END) {
        etwas_value_write_ipv4(text, address + IPV4_AT);
        value_write_port(text, address);
    } else if (family == FAMILY_IPV6 && bytes >= SCOPE_AT) {
        memcpy(&scope, address + SCOPE_AT, bytes >= IPV6_END ? sizeof scope : 0);
        etwas_text_put(text, "[", 1);
        value_write_ipv6_address(text, address + IPV6_AT);
        if (scope != 0) {
            etwas_text_put(text, "%", 1);
            etwas_text_put_unsigned(text, scope);
        }
        etwas_text_put(text, "]", 1);
        value_write_port(text, address);
    } else {
        etwas_text_put_bytes(text, address, bytes);
    }
}
