/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_HTTP_H
#define ETWAS_TOOLS_SHIP_WIRE_HTTP_H

/*
 * A request to a server and its reply, by libcurl. It follows no redirects, uses no proxy and reads
 * no password file, whatever the environment says. Certificates are always checked.
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
    ETWAS_SHIP_STOP_LIMIT_S = 5, /* for a running request after a stop */
    ETWAS_SHIP_TROUBLE_BYTES = 256,
    ETWAS_SHIP_HEAD_BYTES = 64 * 1024, /* of a reply's header; longer is an error */
};

/* A server, with a connection that is kept between requests. It is used by one thread at a time. */
struct etwas_ship_http;

/* Options of all requests. They stay valid as long as the server is open. */
struct etwas_ship_http_options {
    const struct etwas_ship_address *address;
    const struct etwas_ship_secret *secret;
    const char *ca;
    int stop;
};

struct etwas_ship_request {
    /* The query of the URL, from the ? on. */
    const char *query;
    /* The body in pieces, and its total size. */
    const struct iovec *pieces;
    uint32_t piece_count;
    uint64_t bytes;
    bool is_gzip;
    uint32_t limit_s;
    int64_t deadline_ms; /* by etwas_ship_now_ms, in addition to limit_s; 0: none */
    size_t most_reply_bytes;
};

enum etwas_ship_came {
    ETWAS_SHIP_CAME_REPLY,     /* the complete reply */
    ETWAS_SHIP_CAME_NOTHING,   /* no complete reply: the request's outcome is unknown */
    ETWAS_SHIP_CAME_UNTRUSTED, /* not sent: the server's certificate is not trusted */
    ETWAS_SHIP_CAME_BAD_CA,    /* not sent: the file of certificates cannot be read */
    ETWAS_SHIP_CAME_TOO_LONG,  /* the reply is longer than allowed */
    ETWAS_SHIP_CAME_STOP,      /* the process is to end */
};

struct etwas_ship_reply {
    enum etwas_ship_came came;
    uint32_t status;
    uint32_t exception; /* from its header; 0: none */
    bool is_clickhouse; /* by its header */
    /* The body, with a terminating 0. Valid until the next request. */
    char *text;
    size_t bytes;
    /* Why there is no reply, for messages. */
    char trouble[ETWAS_SHIP_TROUBLE_BYTES];
};

/*
 * Loads libcurl; returns false if it is missing. Call it once, before all else. From then on the
 * process ignores SIGPIPE.
 */
bool etwas_ship_http_begin(void);

/* Returns NULL if there is not enough memory. */
struct etwas_ship_http *etwas_ship_http_open(const struct etwas_ship_http_options *options);
void etwas_ship_http_close(struct etwas_ship_http *http); /* may be NULL */

void etwas_ship_http_run(struct etwas_ship_http *http, const struct etwas_ship_request *request,
                         struct etwas_ship_reply *reply);

/*
 * Appends `text` to `query`, which has room for `bytes`, with URL escapes. Returns false if it does
 * not fit.
 */
bool etwas_ship_http_escape(char *query, size_t bytes, const char *text);

#endif
