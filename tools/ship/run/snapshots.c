/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/snapshots.h"

#include "ship/message.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    /*
     * Events that two snapshots share are also in those between them, so one would be enough. But
     * that one may cover a short time only.
     */
    COMPARED = 2
};

#define ADVICE "queries count for each; docs/howto/fleet.md says how to send it once"

static void pass_over(EVENT_RECORD *record)
{
    (void)record;
}

static etwas_trace_handle open_trace(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = pass_over,
    };

    return OpenTraceA(&logfile);
}

/*
 * Counts the events of the last file that the others have, too. Returns false if one cannot be read
 * any more.
 */
static bool count_repeated(const char *const *paths, uint32_t count, uint64_t *repeated)
{
    etwas_trace_handle traces[COMPARED + 1];
    etwas_trace_information information = {0};
    uint32_t opened = 0;
    uint32_t code = ERROR_FILE_NOT_FOUND;

    while (opened < count &&
           (traces[opened] = open_trace(paths[opened])) != INVALID_PROCESSTRACE_HANDLE) {
        opened++;
    }
    if (opened == count) {
        code = etwas_process_traces(traces, count, NULL, NULL);
        (void)etwas_trace_query(traces[count - 1], &information);
    }
    for (uint32_t i = 0; i < opened; i++) {
        CloseTrace(traces[i]);
    }
    *repeated = information.repeated_events;
    return code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT;
}

/*
 * Returns the newest of the earlier snapshots of a session, or NULL. `behind` counts down from
 * `met`.
 */
static const struct etwas_ship_snapshot *find_earlier(const struct etwas_ship_snapshots *snapshots,
                                                      uint64_t of, uint64_t *behind)
{
    uint64_t oldest =
        snapshots->met > ETWAS_SHIP_SNAPSHOTS ? snapshots->met - ETWAS_SHIP_SNAPSHOTS : 0;

    while (*behind > oldest) {
        const struct etwas_ship_snapshot *found =
            &snapshots->list[--*behind % ETWAS_SHIP_SNAPSHOTS];

        if (found->of == of) {
            return found;
        }
    }
    return NULL;
}

static void report_missing(struct etwas_ship_snapshots *snapshots, const char *path, uint64_t of)
{
    const char *paths[COMPARED + 1];
    const struct etwas_ship_snapshot *found;
    uint64_t behind = snapshots->met;
    uint64_t repeated;
    uint32_t count = 0;

    while (count < COMPARED && (found = find_earlier(snapshots, of, &behind)) != NULL) {
        paths[count++] = found->path;
    }
    paths[count] = path;
    if (count == 0 && !snapshots->has_told) {
        etwas_ship_message(path,
                           "note: it is a snapshot: what others of its session have too " ADVICE);
    } else if (count > 0 && !count_repeated(paths, count + 1, &repeated)) {
        etwas_ship_message(path,
                           "note: an earlier snapshot of its session is gone, or cannot be read: "
                           "what both have " ADVICE);
    } else if (count > 0 && repeated > 0) {
        etwas_ship_message(path,
                           "note: %" PRIu64
                           " of its events %s in an earlier snapshot of its session "
                           "too: what both have " ADVICE,
                           repeated, repeated == 1 ? "is" : "are");
    }
    snapshots->has_told = true;
}

void etwas_ship_snapshots_meet(struct etwas_ship_snapshots *snapshots, const char *path,
                               const struct etwas_ship_facts *facts, bool is_to_go)
{
    struct etwas_ship_snapshot *place = &snapshots->list[snapshots->met % ETWAS_SHIP_SNAPSHOTS];
    const struct etwas_ship_snapshot *found;
    uint64_t behind = snapshots->met;
    char *copy;

    if (facts->snapshot_of == 0) {
        return;
    }
    while ((found = find_earlier(snapshots, facts->snapshot_of, &behind)) != NULL) {
        if (found->ended_ns == facts->ended_ns && strcmp(found->path, path) == 0) {
            return; /* its source was closed meanwhile */
        }
    }
    if (is_to_go) {
        report_missing(snapshots, path, facts->snapshot_of);
    }
    copy = strdup(path);
    if (copy != NULL) {
        free(place->path);
        *place = (struct etwas_ship_snapshot){copy, facts->snapshot_of, facts->ended_ns};
        snapshots->met++;
    }
}

void etwas_ship_snapshots_free(struct etwas_ship_snapshots *snapshots)
{
    for (uint32_t i = 0; i < ETWAS_SHIP_SNAPSHOTS; i++) {
        free(snapshots->list[i].path);
    }
}
