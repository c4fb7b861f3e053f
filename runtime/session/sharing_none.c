/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sharing in a build without it: no process takes part, and each has only its own sessions and
 * providers. A session that has to be shared is refused.
 */
#include "session/sharing.h"

#include <etwas/shared.h>
#include <etwas/winerror.h>

static void none_do(void)
{
}

static bool none_is(void)
{
    return false;
}

static bool none_reconcile_named(bool always)
{
    (void)always;
    return false;
}

static void none_store_refusal(uint32_t code)
{
    (void)code;
}

static void none_after_fork(bool is_child)
{
    (void)is_child;
}

/* Only options that require sharing make one of these. */
static uint32_t none_begin(struct etwas_session *session)
{
    return session->configuration.reach != ETWAS_REACH_PROCESS ? ERROR_NOT_SUPPORTED
                                                               : ERROR_SUCCESS;
}

static bool none_has_room(const struct etwas_session *session)
{
    (void)session;
    return true;
}

static void none_of_session(struct etwas_session *session)
{
    (void)session;
}

static bool none_may_enable(const struct etwas_enable_request *request)
{
    (void)request;
    return true;
}

static uint32_t none_publish_enablement(const struct etwas_enable_request *request,
                                        const ENABLE_TRACE_PARAMETERS *parameters)
{
    (void)request;
    (void)parameters;
    return ERROR_SUCCESS;
}

static uint32_t none_control_instances(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                                       const etwas_wchar *file_name)
{
    (void)handle;
    (void)control_code;
    (void)flush_timer;
    (void)file_name;
    return ERROR_SUCCESS;
}

static void none_propagate(const struct etwas_session *session, const etwas_wchar *file_name,
                           const struct etwas_snapshot_window *window)
{
    (void)session;
    (void)file_name;
    (void)window;
}

static struct etwas_registering none_before_registering(const etwas_guid *provider)
{
    (void)provider;
    return (struct etwas_registering){0};
}

static void none_after_registering(struct etwas_registering registering)
{
    (void)registering;
}

static bool none_is_remote(uint64_t handle)
{
    (void)handle;
    return false;
}

static uint32_t none_control(uint64_t handle, const void *name, const struct etwas_reply *reply,
                             uint32_t control_code)
{
    (void)handle;
    (void)name;
    (void)reply;
    (void)control_code;
    return ERROR_WMI_INSTANCE_NOT_FOUND;
}

static uint32_t none_enable(const struct etwas_enable_request *request,
                            const ENABLE_TRACE_PARAMETERS *parameters)
{
    (void)request;
    (void)parameters;
    return ERROR_INVALID_PARAMETER;
}

static void none_query_all(struct etwas_replies *replies)
{
    (void)replies;
}

static uint32_t none_counts(uint64_t handle, etwas_session_counts *counts)
{
    (void)handle;
    (void)counts;
    return ERROR_INVALID_HANDLE;
}

static uint32_t none_retention(uint64_t handle, etwas_retention *retention, uint64_t *stream_ns,
                               uint32_t room)
{
    (void)handle;
    (void)retention;
    (void)stream_ns;
    (void)room;
    return ERROR_INVALID_HANDLE;
}

static uint32_t none_consume(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    (void)name;
    (void)consumer;
    return ERROR_WMI_INSTANCE_NOT_FOUND;
}

static uint32_t none_each_provider(etwas_provider_visitor visit, void *context)
{
    (void)visit;
    (void)context;
    return ERROR_SUCCESS;
}

/* The caller has emptied the lists. */
static uint32_t none_read_others(struct etwas_other_processes *others)
{
    (void)others;
    return ERROR_SUCCESS;
}

const struct etwas_sharing etwas_sharing = {
    .prepare = none_do,
    .is_wanted = none_is,
    .takes_part = none_is,
    .is_running = none_is,
    .store_refusal = none_store_refusal,
    .before_fork = none_do,
    .after_fork = none_after_fork,
    .end = none_do,
    .complete = etwas_configuration_complete,
    .begin = none_begin,
    .has_room = none_has_room,
    .open = none_of_session,
    .closing = none_of_session,
    .end_session = none_of_session,
    .may_enable = none_may_enable,
    .publish_enablement = none_publish_enablement,
    .control_instances = none_control_instances,
    .propagate = none_propagate,
    .before_registering = none_before_registering,
    .after_registering = none_after_registering,
    .publish_providers = none_do,
    .reconcile_named = none_reconcile_named,
    .send_descriptions = none_do,
    .is_remote = none_is_remote,
    .control = none_control,
    .enable = none_enable,
    .query_all = none_query_all,
    .counts = none_counts,
    .stop = none_counts,
    .retention = none_retention,
    .consume = none_consume,
    .each_provider = none_each_provider,
    .read_others = none_read_others,
};

/* ---- public functions of shared.h and recorder.h --------------------------------------------- */

uint32_t etwas_share(void)
{
    return ERROR_NOT_SUPPORTED;
}

uint32_t etwas_share_nothing(void)
{
    return ERROR_SUCCESS;
}

uint32_t etwas_sharing_state(void)
{
    return ERROR_CANCELLED;
}

uint32_t etwas_sharing_folder(const etwas_guid *session, uint32_t process_id, char *text,
                              size_t room)
{
    (void)session;
    (void)process_id;
    if (text == NULL || room == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    text[0] = '\0';
    return ERROR_NOT_FOUND;
}

uint32_t etwas_snapshot_all(const char *folder, uint64_t before_ns, etwas_snapshot_callback each,
                            void *context)
{
    (void)before_ns;
    (void)each;
    (void)context;
    return folder != NULL && folder[0] != '\0' ? ERROR_NOT_SUPPORTED : ERROR_BAD_PATHNAME;
}
