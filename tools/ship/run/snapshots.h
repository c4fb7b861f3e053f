/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SNAPSHOTS_H
#define ETWAS_TOOLS_SHIP_RUN_SNAPSHOTS_H

/*
 * Snapshots of a session may have the same events, and each is sent as a session of its own. So it
 * is said how many events of one are in those before it.
 */

#include "ship/read/file.h"

enum {
    ETWAS_SHIP_SNAPSHOTS = 256, /* that are remembered: the newest */
};

/* Zeroed: none was met. */
struct etwas_ship_snapshots {
    struct etwas_ship_snapshot {
        char *path;
        uint64_t of; /* its session */
        int64_t ended_ns;
    } list[ETWAS_SHIP_SNAPSHOTS];
    uint64_t met; /* the last is at met - 1, modulo their number */
    bool has_told;
};

/*
 * Remembers the file if it is a snapshot. `is_to_go`: it is sent now, not before; what it repeats
 * is said, once.
 */
void etwas_ship_snapshots_meet(struct etwas_ship_snapshots *snapshots, const char *path,
                               const struct etwas_ship_facts *facts, bool is_to_go);

void etwas_ship_snapshots_free(struct etwas_ship_snapshots *snapshots);

#endif
