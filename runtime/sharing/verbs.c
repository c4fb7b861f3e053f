/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sharing's table of verbs (session/sharing.h), through which all other folders use this one, and
 * this folder's part of a fork and of the end of the process.
 */
#include "session/sharing.h"

#include <etwas/etwas.h>

#include "platform/fork.h"
#include "registry/registry.h"
#include "registry/sessions.h"
#include "sharing/guest.h"
#include "sharing/host.h"
#include "sharing/host_consumers.h"
#include "sharing/host_request.h"
#include "sharing/other_processes.h"
#include "sharing/private_instance.h"
#include "sharing/propagate.h"
#include "sharing/reconcile.h"
#include "sharing/remote.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

static void guests_after_fork_in_parent(void)
{
    etwas_guests_after_fork(false);
}

static void guests_after_fork_in_child(void)
{
    etwas_guests_after_fork(true);
}

static void sharing_prepare(void)
{
    static const struct etwas_fork_handlers of_guests = {
        etwas_guests_before_fork, guests_after_fork_in_parent, guests_after_fork_in_child};

    etwas_fork_handle(ETWAS_FORK_GUESTS, &of_guests);
}

/* In the order of locks; afterwards in the opposite order. */
static void sharing_before_fork(void)
{
    etwas_host_before_fork();
    etwas_private_instances_before_fork();
    etwas_service_before_fork();
}

static void sharing_after_fork(bool is_child)
{
    etwas_service_after_fork(is_child);
    etwas_private_instances_after_fork(is_child);
    etwas_host_after_fork(is_child);
    if (is_child) {
        etwas_host_requests_forget();
        etwas_reconcile_forget();
        etwas_own_providers_forget();
        etwas_propagate_forget();
        etwas_registry_forget();
    }
}

static void sharing_end(void)
{
    etwas_host_requests_end();
    etwas_host_consumers_wait();
    etwas_reconcile_send_descriptions();
    etwas_service_end();
}

static bool sharing_has_room(const struct etwas_session *session)
{
    return etwas_registry_has_room(&session->configuration.guid, ETWAS_SESSIONS);
}

const struct etwas_sharing etwas_sharing = {
    .prepare = sharing_prepare,
    .is_wanted = etwas_sharing_is_wanted,
    .takes_part = etwas_sharing_takes_part,
    .is_running = etwas_service_runs,
    .store_refusal = etwas_sharing_store_refusal,
    .before_fork = sharing_before_fork,
    .after_fork = sharing_after_fork,
    .end = sharing_end,
    .complete = etwas_sharing_complete,
    .begin = etwas_host_begin,
    .has_room = sharing_has_room,
    .open = etwas_host_open,
    .closing = etwas_host_closing,
    .end_session = etwas_host_end,
    .may_enable = etwas_host_may_enable,
    .publish_enablement = etwas_host_publish_enablement,
    .control_instances = etwas_host_control_instances,
    .propagate = etwas_propagate,
    .before_registering = etwas_reconcile_before_registering,
    .after_registering = etwas_reconcile_after_registering,
    .publish_providers = etwas_own_providers_publish,
    .reconcile_named = etwas_reconcile_named,
    .send_descriptions = etwas_reconcile_send_descriptions,
    .is_remote = etwas_remote_is,
    .control = etwas_remote_control,
    .enable = etwas_remote_enable,
    .query_all = etwas_remote_query_all,
    .counts = etwas_account_counts,
    .stop = etwas_account_stop,
    .retention = etwas_account_retention,
    .consume = etwas_remote_consume,
    .each_provider = etwas_other_processes_each_provider,
    .read_others = etwas_other_processes_read,
};
