/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_ADDRESS_H
#define ETWAS_TOOLS_SHIP_WIRE_ADDRESS_H

/*
 * Addresses of replicas: http://HOST:PORT or https://HOST:PORT, and nothing else. A user or a
 * password in one is refused: other users can see addresses, and servers and proxies log them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_SHARDS = 256,
    ETWAS_SHIP_REPLICAS = 8, /* of a shard */
    ETWAS_SHIP_HOST_BYTES = 254,
    ETWAS_SHIP_URL_BYTES = ETWAS_SHIP_HOST_BYTES + 16,
};

struct etwas_ship_address {
    bool is_tls;
    uint16_t port;
    char host[ETWAS_SHIP_HOST_BYTES]; /* without the brackets of an IPv6 address */
    char url[ETWAS_SHIP_URL_BYTES];   /* scheme, host and port: https://db1:8443 */
};

/* The replicas of one shard, separated by commas in --server. */
struct etwas_ship_shard_addresses {
    uint32_t count;
    struct etwas_ship_address replicas[ETWAS_SHIP_REPLICAS];
};

/*
 * Parses an address of `bytes` characters. Returns NULL, or else the error as a part of a sentence
 * about `--server`.
 */
const char *etwas_ship_address_parse(const char *text, size_t bytes,
                                     struct etwas_ship_address *address);

/* Parses the value of a --server option; likewise. */
const char *etwas_ship_address_shard(const char *text, struct etwas_ship_shard_addresses *shard);

#endif
