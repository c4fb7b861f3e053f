/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program of one release of the library, of which the test builds several.
 *
 * usage: release host FILE | release provider COUNT
 *
 * Says what it has done, a line each, and goes on when it is told a line.
 */
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NOT_HERE = 77, /* no session can be shared */
    FAILED = 1,
    TIMEOUT_MS = 30000,
    PAUSE_US = 500,
};

static const etwas_guid provider_guid = {0x6f2d9b10, 0x4c5e, 0x4e0a, {2, 4, 6, 8, 1, 3, 5, 7}};

static void await_line(void)
{
    char line[16];

    (void)fflush(stdout);
    (void)fgets(line, sizeof line, stdin);
}

static int host(const char *file)
{
    const etwas_session_options options = {.sharing = ETWAS_SHARING_USER};
    etwas_session_counts counts;
    etwas_trace_handle session;
    uint32_t code = etwas_start("releases", file, &options, &session);

    if (code != ERROR_SUCCESS) {
        return code == ERROR_NOT_SUPPORTED ? NOT_HERE : FAILED;
    }
    code = EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0,
                          TIMEOUT_MS, NULL);
    (void)printf("enabled %u\n", code);
    await_line();
    code = etwas_stop(session, &counts);
    (void)printf("recorded %" PRIu64 " lost %" PRIu64 "\n", counts.recorded, counts.lost);
    return code == ERROR_SUCCESS ? 0 : FAILED;
}

/*
 * What is lost because the host or its flusher had no processor is logged again. A program that is
 * refused loses all of it.
 */
static int provide(uint32_t count)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
    REGHANDLE provider;
    uint32_t written = 0;
    uint32_t lost = 0;
    bool is_refused;

    if (EventRegister(&provider_guid, NULL, NULL, &provider) != ERROR_SUCCESS) {
        return FAILED;
    }
    is_refused = etwas_sharing_state() == ERROR_NOT_SUPPORTED;
    (void)printf("%s\n", !EventEnabled(provider, &descriptor) ? "alone"
                         : is_refused                         ? "refused"
                                                              : "enabled");
    while ((is_refused ? lost : written) < count) {
        uint32_t code = EventWrite(provider, &descriptor, 0, NULL);

        if (code == ERROR_SUCCESS) {
            written++;
        } else if (code == ERROR_NOT_ENOUGH_MEMORY) {
            lost++;
            (void)usleep(is_refused ? 0 : PAUSE_US);
        } else {
            return FAILED;
        }
    }
    (void)printf("lost %" PRIu32 "\n", lost);
    await_line();
    return EventUnregister(provider) == ERROR_SUCCESS ? 0 : FAILED;
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "host") == 0) {
        return host(arguments[2]);
    }
    return count == 3 ? provide((uint32_t)strtoul(arguments[2], NULL, 10)) : FAILED;
}
