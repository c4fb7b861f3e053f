/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sharing: sessions, providers and controllers of several processes work together through a table
 * of functions. The table, etwas_sharing, is defined once in each library: by sharing/verbs.c, or
 * by session/sharing_none.c in a build without sharing/ and registry/ (ETWAS_SHARING=OFF), where
 * every process is alone. No other folder includes a head of these two.
 *
 * Callers hold no lock of the library unless a function's comment says otherwise.
 */
#ifndef ETWAS_SESSION_SHARING_H
#define ETWAS_SESSION_SHARING_H

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/recorder.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct etwas_consumer;
struct etwas_enable_request;
struct etwas_other_processes;
struct etwas_replies;
struct etwas_reply;
struct etwas_snapshot_window;

/* A registration in progress: before_registering passes this to after_registering. */
struct etwas_registering {
    uint32_t passes;
    uint64_t deadline_ns;
};

/*
 * Called for a provider of another process; `name` is empty if it has none. Returns false to stop.
 */
typedef bool (*etwas_provider_visitor)(const etwas_guid *provider, bool is_group, const char *name,
                                       void *context);

/* No function is NULL. */
struct etwas_sharing {
    /* ---- for the process ---- */

    /* Called once, before any other function: registers the guests' fork handlers. */
    void (*prepare)(void);

    /* Whether this process joins the registry by itself. */
    bool (*is_wanted)(void);

    /* Whether it joins by itself, or has joined by a call. */
    bool (*takes_part)(void);

    /* Whether it has joined. */
    bool (*is_running)(void);

    /* Stores why a session could not be shared, for etwas_sharing_state. */
    void (*store_refusal)(uint32_t code);

    /*
     * Called around a fork, the second in the parent and in the child, which then shares nothing.
     * They take and release the locks 3b to 3d (docs/internals/design.md, "Locks and waiting").
     */
    void (*before_fork)(void);
    void (*after_fork)(bool is_child);

    /*
     * Called at the end of the process, after its sessions have ended. Answers the requests of
     * other processes, sends their consumers what is left, and leaves the registry.
     */
    void (*end)(void);

    /* ---- for a session of this process: see sharing/host.h ---- */

    /*
     * Completes a configuration as etwas_configuration_complete does. The session is shared if the
     * process takes part and its mode allows that; otherwise this process alone logs into it, and
     * other processes find it unless it is private.
     */
    uint32_t (*complete)(struct etwas_configuration *configuration);

    /*
     * ERROR_ALREADY_EXISTS: another process has its name or GUID (R10, R41). After any other
     * error the session may run, but for this process alone.
     */
    uint32_t (*begin)(struct etwas_session *session);

    /*
     * R46: whether there is room for this session, which has begun, among those of all processes.
     */
    bool (*has_room)(const struct etwas_session *session);

    void (*open)(struct etwas_session *session);
    void (*closing)(struct etwas_session *session);
    void (*end_session)(struct etwas_session *session);

    /* Whether the session may enable the provider: at most eight of all processes may. */
    bool (*may_enable)(const struct etwas_enable_request *request);

    /*
     * Publishes what EnableTraceEx2 has requested, with its filters, for the providers of other
     * processes. Waits for them until the request's timeout, if it has one. ERROR_TIMEOUT: it is
     * published, and not all processes have acknowledged it. After another error it is not
     * published.
     */
    uint32_t (*publish_enablement)(const struct etwas_enable_request *request,
                                   const ENABLE_TRACE_PARAMETERS *parameters);

    /*
     * Makes other processes' instances of a private session do what ControlTrace did to the host's
     * own. `file_name` is absolute; empty: it was not given.
     */
    uint32_t (*control_instances)(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                                  const etwas_wchar *file_name);

    /*
     * For etwas_recorder_options.begun: requests a snapshot of this window from all other
     * recorders, in the folder of this file. Does not wait for them.
     */
    void (*propagate)(const struct etwas_session *session, const etwas_wchar *file_name,
                      const struct etwas_snapshot_window *window);

    /* ---- for the providers of this process ---- */

    /*
     * Called before and after a registration; the second gets what the first has returned. Both
     * together wait 50 ms at most for hosts.
     */
    struct etwas_registering (*before_registering)(const etwas_guid *provider);
    void (*after_registering)(struct etwas_registering registering);

    /* Publishes the providers of this process, which have changed. */
    void (*publish_providers)(void);

    /*
     * Reconciles with the sessions of other processes when a provider has got a name. If `always`
     * is false, does so only if one of them enables providers by name. Returns whether it has
     * reconciled. Waits 50 ms at most for hosts.
     */
    bool (*reconcile_named)(bool always);

    /* Sends the hosts new descriptions of events. Waits 50 ms at most for them. */
    void (*send_descriptions)(void);

    /* ---- for other processes; ERROR_TIMEOUT: a host does not answer ---- */

    /* Whether the handle names a running session of another process. */
    bool (*is_remote)(uint64_t handle);

    /*
     * ControlTrace by name, in the reply's encoding, or by handle if `name` is NULL.
     * ERROR_WMI_INSTANCE_NOT_FOUND: no other process has such a session.
     */
    uint32_t (*control)(uint64_t handle, const void *name, const struct etwas_reply *reply,
                        uint32_t control_code);

    /* EnableTraceEx2 with the request's session, provider and timeout. */
    uint32_t (*enable)(const struct etwas_enable_request *request,
                       const ENABLE_TRACE_PARAMETERS *parameters);

    /* QUERY of all sessions of other processes, each into the caller's next block. */
    void (*query_all)(struct etwas_replies *replies);

    /* ERROR_INVALID_HANDLE: the handle names no running session of another process. */
    uint32_t (*counts)(uint64_t handle, etwas_session_counts *counts);
    uint32_t (*stop)(uint64_t handle, etwas_session_counts *counts);
    uint32_t (*retention)(uint64_t handle, etwas_retention *retention, uint64_t *stream_ns,
                          uint32_t room);

    /*
     * Connects a consumer to the session of this name. ERROR_WMI_INSTANCE_NOT_FOUND: no other
     * process has one, or it is not in real time.
     */
    uint32_t (*consume)(const etwas_wchar *name, struct etwas_consumer **consumer);

    /*
     * Both return ERROR_SUCCESS, or why there may be more providers than they have found. The
     * result of the second is freed by etwas_other_processes_free.
     */
    uint32_t (*each_provider)(etwas_provider_visitor visit, void *context);
    uint32_t (*read_others)(struct etwas_other_processes *others);
};

extern const struct etwas_sharing etwas_sharing;

#endif
