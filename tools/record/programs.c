/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session of this process for the program's own providers and those of its children. It enables
 * them before the program runs, so they log into it from their first event on.
 */

#include "record/record.h"

#include "cli/no_room.h"
#include "steer/session.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool etwas_record_share(void)
{
    /* Sharing that the user disabled stays so, and that is reported. */
    return etwas_steer_take_part("etwas record") && setenv("ETWAS_SHARED", "1", 1) == 0;
}

const char *etwas_record_programs_path(const struct etwas_record_request *request)
{
    static const char suffix[] = ".etl";
    static char path[ETWAS_STEER_NAME_BYTES];
    size_t length = strlen(request->path);

    if (!request->has_kernel) {
        return request->path;
    }
    if (length >= strlen(suffix) && strcmp(request->path + length - strlen(suffix), suffix) == 0) {
        length -= strlen(suffix);
    }
    (void)snprintf(path, sizeof path, "%.*s.programs%s", (int)length, request->path, suffix);
    return path;
}

static bool enable(TRACEHANDLE session, const struct etwas_record_request *request)
{
    for (uint32_t i = 0; i < request->provider_count; i++) {
        if (!etwas_steer_enable("etwas record", session, &request->providers[i], &request->filters,
                                etwas_record_runs(request))) {
            return false;
        }
    }
    return true;
}

bool etwas_record_programs(const struct etwas_record_request *request, TRACEHANDLE *session)
{
    const char *path = etwas_record_programs_path(request);
    const etwas_session_options options = {.clock = etwas_record_clock(request),
                                           .sharing = ETWAS_SHARING_USER};
    char name[64];
    uint32_t code;

    (void)snprintf(name, sizeof name, "etwas record %ld", (long)getpid());
    code = etwas_start(name, path, &options, session);
    if (code != ERROR_SUCCESS) {
        fprintf(stderr, "etwas record: %s: cannot record programs to it: %s\n", path,
                code == ERROR_NOT_SUPPORTED ? "this system has no restartable sequences"
                                            : etwas_no_room_error_text(code));
        return false;
    }
    if (!enable(*session, request)) {
        (void)etwas_stop(*session, NULL);
        return false;
    }
    return true;
}
