/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session of the etwas peers, with as much buffer memory as the LTTng sessions of peers.py. The
 * words of `what`:
 *
 *     buffering | file    a flight recorder, or a log file with a flusher thread
 *     tsc | qpc           the clock
 *     1mb                 buffers of 1 MB, 16 a processor, instead of 64 KB, 64 a processor
 *     shared              the shared protocol, even if rseq is available
 */
#include "etwas_session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

static etwas_trace_handle session;

bool peer_start(const char *what, const char *folder)
{
    bool large = strstr(what, "1mb") != NULL;
    uint32_t processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    etwas_session_options options = {
        .clock = strstr(what, "qpc") != NULL ? ETWAS_CLOCK_QPC : ETWAS_CLOCK_TSC,
        .buffer_size_kb = large ? 1024 : 64,
        .minimum_buffers = (large ? 16 : 64) * processors,
    };
    char log_file[512];
    uint32_t code;

    options.maximum_buffers = options.minimum_buffers;
    if (strstr(what, "shared") != NULL) {
        options.protocol = ETWAS_PROTOCOL_SHARED;
    }
    if (strstr(what, "buffering") != NULL) {
        options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
    }
    (void)snprintf(log_file, sizeof log_file, "%s/etwas.etl", folder);
    code = etwas_start("etwas_peers", options.log_file_mode == 0 ? log_file : NULL, &options,
                       &session);
    if (code == ERROR_SUCCESS) {
        code = etwas_peer_begin(session);
    }
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "the session cannot be started: error %u\n", code);
        return false;
    }
    return true;
}

bool peer_stop(uint64_t attempted, struct peer_counts *counts)
{
    etwas_session_counts events;
    uint32_t code = etwas_stop(session, &events);

    etwas_peer_end();
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "the session cannot be stopped: error %u\n", code);
        return false;
    }
    *counts = (struct peer_counts){.lost = events.lost, .known = true};
    if (events.committed_rseq != 0) {
        (void)snprintf(counts->note, sizeof counts->note, "%.3f %% by rseq, %llu restarts",
                       100.0 * (double)events.committed_rseq /
                           (double)(events.committed_rseq + events.committed_shared),
                       (unsigned long long)events.restarts);
    }
    if (events.recorded + events.overwritten + events.lost != attempted) {
        (void)fprintf(stderr, "events are missing\n");
        return false;
    }
    return true;
}
