/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's source in a build without kernel events. It knows every flag, and refuses every
 * start with a reason, so that no session ever has a source.
 */
#include <etwas/winerror.h>
#include <stdio.h>

#include "provider/source.h"

static uint64_t none_flags(void)
{
    return UINT32_MAX;
}

static uint32_t none_silent(uint32_t flags, char *text, size_t room)
{
    (void)flags;
    if (text != NULL && room != 0) {
        text[0] = 0;
    }
    return 0;
}

static uint64_t none_keywords(uint32_t provider)
{
    (void)provider;
    return 0;
}

static void none_explain(const struct etwas_unavailability *reason, char *text, size_t room)
{
    (void)reason;
    (void)snprintf(text, room,
                   "This build of the library has no kernel events (ETWAS_SYSTEM is OFF)");
}

static uint32_t none_refuse(struct etwas_session *session,
                            const struct etwas_system_settings *settings,
                            struct etwas_unavailability *reason)
{
    (void)session;
    (void)settings;
    *reason = (struct etwas_unavailability){.cause = ETWAS_UNAVAILABLE_BUILD};
    return ERROR_NOT_SUPPORTED;
}

static void none_of_session(struct etwas_session *session)
{
    (void)session;
}

static void none_await_run_down(struct etwas_session_key key)
{
    (void)key;
}

static const struct etwas_source_state *none_state(const struct etwas_session *session)
{
    (void)session;
    return NULL;
}

static void none_run_down(struct etwas_session *session, uint32_t provider)
{
    (void)session;
    (void)provider;
}

const struct etwas_source etwas_kernel_source = {
    .flags = none_flags,
    .silent = none_silent,
    .keywords = none_keywords,
    .explain = none_explain,
    .begin = none_refuse,
    .start = none_of_session,
    .await_run_down = none_await_run_down,
    .state = none_state,
    .update = none_refuse,
    .run_down = none_run_down,
    .before_snapshot = none_of_session,
    .end = none_of_session,
    .forget = none_of_session,
};
