/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/pass_on.h"

#include <etwas/etwas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/clock.h"
#include "control/service.h"
#include "control/snapshot_all.h"
#include "etl/clock_convert.h"

enum {
    NS_A_SECOND = 1000000000
};

struct passing {
    struct etwas_snapshot_wish wish;
    struct etwas_session_key key; /* of whose window it is */
    char folder[ETWAS_PATH_BYTES];
};

/* That there are no others is no failure. */
static void *pass(void *argument)
{
    struct passing *passing = argument;
    uint32_t code = etwas_snapshot_all_of(&passing->wish, NULL, NULL);
    struct etwas_held_session held;

    if ((code == ERROR_SUCCESS || code == ERROR_NOT_FOUND) &&
        etwas_session_hold(etwas_session_handle(passing->key), &held) == ERROR_SUCCESS) {
        held.session->trigger.passed_on++;
        etwas_session_let_go(&held);
    }
    free(passing);
    return NULL;
}

/* The part of a path before its last component. */
static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL) {
        (void)strcpy(path, ".");
    } else {
        slash[slash == path] = '\0';
    }
}

static uint64_t before_ns(const struct etwas_snapshot_window *window, uint32_t clock)
{
    const etwas_etl_wide before = (etwas_etl_wide)window->trigger - window->begin;

    return window->begin == INT64_MIN
               ? 0
               : (uint64_t)etwas_etl_saturate(before * NS_A_SECOND /
                                              (etwas_etl_wide)etwas_clock_frequency(clock));
}

/* Without memory or a thread it is passed on to nobody: `passed_on` does not count it. */
void etwas_pass_on(const struct etwas_session *session, const etwas_wchar *file_name,
                   const struct etwas_snapshot_window *window)
{
    const uint32_t clock = session->configuration.clock;
    struct passing *passing = malloc(sizeof *passing);

    if (passing == NULL) {
        return;
    }
    passing->key = etwas_session_key(session);
    passing->wish = (struct etwas_snapshot_wish){
        .folder = passing->folder,
        .moment = etwas_trigger_stamp(clock, window->trigger, ETWAS_CLOCK_KIND_QPC),
        .before_ns = before_ns(window, clock),
        .except = session->configuration.guid,
    };
    if (etwas_configuration_path(file_name, passing->folder) == ERROR_SUCCESS) {
        cut_name(passing->folder);
        (void)mkdir(passing->folder, 0700); /* before the flusher writes its own file there */
        if (etwas_service_spawn(pass, passing, "etwas-trigger")) {
            return;
        }
    }
    free(passing);
}
