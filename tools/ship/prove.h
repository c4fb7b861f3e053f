/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_PROVE_H
#define ETWAS_TOOLS_SHIP_PROVE_H

/*
 * `etwas ship --prove`: asks the servers of each host and session whether all of its events are there.
 */

#include <stdbool.h>
#include <stdint.h>

struct etwas_ship_target;

enum {
    ETWAS_SHIP_PROVE_DAYS = 2
}; /* unless --days says otherwise */

struct etwas_ship_prove {
    const char *database; /* identifiers */
    const char *table;
    uint32_t days; /* today (UTC) and those before it */
    bool is_json;
};

/*
 * Asks every shard, and writes a row a host and session to standard output. Returns ETWAS_EXIT_FINE,
 * ETWAS_EXIT_UNPROVED (one is not complete, or there is none), ETWAS_EXIT_OPEN (a server did not answer; said on
 * standard error) or ETWAS_EXIT_OUTPUT.
 */
int etwas_ship_prove(struct etwas_ship_target *target, const struct etwas_ship_prove *prove);

#endif
