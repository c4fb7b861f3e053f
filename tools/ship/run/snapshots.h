/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SNAPSHOTS_H
#define ETWAS_TOOLS_SHIP_RUN_SNAPSHOTS_H

/*
 * Snapshots of a session may have events in common, and each is sent as a session of its own. So a
 * message says how many events of a snapshot are in earlier ones.
 */

#include "ship/read/file.h"

enum {
    ETWAS_SHIP_SNAPSHOTS = 256, /* that are remembered: the newest */
};

/* Zeroed: no snapshots. */
struct etwas_ship_snapshots {
    struct etwas_ship_snapshot {
        char *path;
        uint64_t of; /* its session */
        int64_t ended_ns;
    } list[ETWAS_SHIP_SNAPSHOTS];
    uint64_t met; /* so far; the last is at met - 1, modulo ETWAS_SHIP_SNAPSHOTS */
    bool has_told;
};

/*
 * Remembers the file if it is a snapshot. `is_to_go`: it is about to be sent, and a message
 * reports, once, what it repeats.
 */
void etwas_ship_snapshots_meet(struct etwas_ship_snapshots *snapshots, const char *path,
                               const struct etwas_ship_facts *facts, bool is_to_go);

void etwas_ship_snapshots_free(struct etwas_ship_snapshots *snapshots);

#endif
