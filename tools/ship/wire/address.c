/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Parses the addresses of replicas, from a command line or a file. */

#include "ship/wire/address.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    PORT_OF_HTTP = 8123,
    PORT_OF_HTTPS = 8443,
};

struct rest {
    const char *at;
    size_t bytes;
};

static bool skip(struct rest *rest, const char *word)
{
    size_t bytes = strlen(word);

    if (rest->bytes < bytes || memcmp(rest->at, word, bytes) != 0) {
        return false;
    }
    rest->at += bytes;
    rest->bytes -= bytes;
    return true;
}

/* Returns whether the character may be in a name or an IPv4 address. */
static bool is_of_name(char character)
{
    return isalnum((unsigned char)character) || strchr("-._", character) != NULL;
}

static bool is_of_ipv6(char character)
{
    return isxdigit((unsigned char)character) || character == ':' || character == '.';
}

static bool take_host(struct rest *rest, struct etwas_ship_address *address)
{
    bool in_brackets = skip(rest, "[");
    size_t bytes = 0;

    while (bytes < rest->bytes && rest->at[bytes] != '\0' &&
           (in_brackets ? is_of_ipv6(rest->at[bytes]) : is_of_name(rest->at[bytes]))) {
        bytes++;
    }
    if (bytes == 0 || bytes >= sizeof address->host) {
        return false;
    }
    memcpy(address->host, rest->at, bytes);
    address->host[bytes] = '\0';
    rest->at += bytes;
    rest->bytes -= bytes;
    return !in_brackets || skip(rest, "]");
}

/* Takes ":8443", or nothing. */
static bool take_port(struct rest *rest, struct etwas_ship_address *address)
{
    uint32_t port = 0;
    size_t digits = 0;

    address->port = address->is_tls ? PORT_OF_HTTPS : PORT_OF_HTTP;
    if (!skip(rest, ":")) {
        return true;
    }
    while (digits < rest->bytes && digits < 6 && isdigit((unsigned char)rest->at[digits])) {
        port = port * 10 + (uint32_t)(rest->at[digits] - '0');
        digits++;
    }
    rest->at += digits;
    rest->bytes -= digits;
    address->port = (uint16_t)port;
    return port > 0 && port <= UINT16_MAX;
}

const char *etwas_ship_address_parse(const char *text, size_t bytes,
                                     struct etwas_ship_address *address)
{
    struct rest rest = {text, bytes};
    bool is_ipv6;

    memset(address, 0, sizeof *address);
    address->is_tls = skip(&rest, "https://");
    if (!address->is_tls && !skip(&rest, "http://")) {
        return "takes addresses that begin with http:// or https://";
    }
    if (memchr(rest.at, '@', rest.bytes) != NULL) {
        return "takes no user and no password, since addresses are seen and logged: "
               "--credentials names a file of them";
    }
    if (!take_host(&rest, address)) {
        return "takes addresses of a host: https://HOST:PORT";
    }
    if (!take_port(&rest, address)) {
        return "takes addresses whose port is a number from 1 to 65535";
    }
    (void)skip(&rest, "/");
    if (rest.bytes != 0) {
        return "takes addresses of a host and a port, and nothing behind them: https://HOST:PORT";
    }
    is_ipv6 = strchr(address->host, ':') != NULL;
    (void)snprintf(address->url, sizeof address->url, "%s://%s%s%s:%u",
                   address->is_tls ? "https" : "http", is_ipv6 ? "[" : "", address->host,
                   is_ipv6 ? "]" : "", address->port);
    return NULL;
}

const char *etwas_ship_address_shard(const char *text, struct etwas_ship_shard_addresses *shard)
{
    const char *wrong = NULL;
    const char *at = text;
    size_t bytes;

    shard->count = 0;
    do {
        bytes = strcspn(at, ",");
        if (shard->count == ETWAS_SHIP_REPLICAS) {
            return "takes 8 replicas of a shard at most";
        }
        wrong = etwas_ship_address_parse(at, bytes, &shard->replicas[shard->count++]);
        at += bytes + 1;
    } while (wrong == NULL && at[-1] == ',');
    return wrong;
}
