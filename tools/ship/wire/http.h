/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_HTTP_H
#define ETWAS_TOOLS_SHIP_WIRE_HTTP_H

/*
 * One request to one server, and its whole reply, by libcurl. No redirect is followed, no proxy
 * asked, no file of passwords read, whatever the environment says; a certificate is always checked.
 */

#include "ship/wire/address.h"
#include "ship/wire/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    ETWAS_SHIP_REQUEST_LIMIT_S = 60,
    ETWAS_SHIP_CONNECT_LIMIT_S = 10,
    ETWAS_SHIP_STOP_LIMIT_S = 5, /* that a request on its way has when all shall end */
    ETWAS_SHIP_TROUBLE_BYTES = 256,
    ETWAS_SHIP_HEAD_BYTES = 64 * 1024, /* of a reply; a longer one is none */
};

/*
 * A server, with a connection that is kept from one request to the next. Used by one thread at a
 * time.
 */
struct etwas_ship_http;

/* What all requests have; all of it stays as long as the server. */
struct etwas_ship_http_options {
    const struct etwas_ship_address *address;
    const struct etwas_ship_secret *secret;
    const char *ca;
    int stop;
};

struct etwas_ship_request {
    /* The query of the address, from the ? on. */
    const char *query;
    /* The body, in pieces, and how long they are together. */
    const struct iovec *pieces;
    uint32_t piece_count;
    uint64_t bytes;
    bool is_gzip;
    uint32_t limit_s;
    int64_t
        deadline_ms; /* etwas_ship_now_ms, when it is given up whatever its limit is; 0: never */
    size_t most_reply_bytes;
};

enum etwas_ship_came {
    ETWAS_SHIP_CAME_REPLY,     /* whole */
    ETWAS_SHIP_CAME_NOTHING,   /* or not whole: what became of the request is unknown */
    ETWAS_SHIP_CAME_UNTRUSTED, /* no request went: the server's certificate is not trusted */
    ETWAS_SHIP_CAME_BAD_CA,    /* nor did it: the file of certificates cannot be read */
    ETWAS_SHIP_CAME_TOO_LONG,  /* more than wanted */
    ETWAS_SHIP_CAME_STOP,      /* all shall end */
};

struct etwas_ship_reply {
    enum etwas_ship_came came;
    uint32_t status;
    uint32_t exception; /* that its head says; 0: none */
    bool is_clickhouse; /* its head says so */
    /* The body, with a 0 behind it; until the next request. */
    char *text;
    size_t bytes;
    /* Why it did not come, for people. */
    char trouble[ETWAS_SHIP_TROUBLE_BYTES];
};

/* Is libcurl there? Asked once, before all else. From then on the process ignores SIGPIPE. */
bool etwas_ship_http_begin(void);

/* NULL: no memory. */
struct etwas_ship_http *etwas_ship_http_open(const struct etwas_ship_http_options *options);
void etwas_ship_http_close(struct etwas_ship_http *http); /* NULL: nothing */

void etwas_ship_http_run(struct etwas_ship_http *http, const struct etwas_ship_request *request,
                         struct etwas_ship_reply *reply);

/*
 * Appends `text` to `query`, which has room for `bytes`, as addresses have it. False: it does not
 * fit.
 */
bool etwas_ship_http_escape(char *query, size_t bytes, const char *text);

#endif
