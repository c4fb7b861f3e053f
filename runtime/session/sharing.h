/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sharing: what sessions, providers and controllers of several processes have to do with each
 * other, as a table of verbs. The table, etwas_sharing, is defined once in each library: by
 * sharing/verbs.c, or by session/sharing_none.c in a build without sharing/ and registry/
 * (ETWAS_SHARING=OFF), where every process is alone. No other folder includes a head of these two.
 *
 * Callers hold no lock of the library unless a verb says otherwise.
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

/* A registration on its way: what the verb before it hands to the verb after it. */
struct etwas_registering {
    uint32_t passes;
    uint64_t deadline_ns;
};

/* Called for a provider of another process; `name` is empty where it has none. False: no more. */
typedef bool (*etwas_provider_visitor)(const etwas_guid *provider, bool is_group, const char *name,
                                       void *context);

/* No verb is NULL. */
struct etwas_sharing {
    /* ---- of the process ---- */

    /* Called once, before any other verb: registers what a fork does about guests. */
    void (*prepare)(void);

    /* Whether this process joins the registry by itself. */
    bool (*is_wanted)(void);

    /* Whether it joins by itself, or has joined because it asked to. */
    bool (*takes_part)(void);

    /* Whether it has joined. */
    bool (*is_running)(void);

    /* Stores why a session could not be shared, for etwas_sharing_state. */
    void (*store_refusal)(uint32_t code);

    /*
     * Around a fork: the second is called in the parent and in the child, which shares nothing
     * then. They take and release the locks 3b to 3d (docs/internals/design.md, "Locks and
     * waiting").
     */
    void (*before_fork)(void);
    void (*after_fork)(bool is_child);

    /*
     * At the end of the process, after its sessions: answers the requests of other processes, sends
     * their consumers what is left, and leaves the registry.
     */
    void (*end)(void);

    /* ---- of a session of this process: as sharing/host.h says ---- */

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

    /* R46: whether the sessions of all processes leave room for this one, which has begun. */
    bool (*has_room)(const struct etwas_session *session);

    void (*open)(struct etwas_session *session);
    void (*closing)(struct etwas_session *session);
    void (*end_session)(struct etwas_session *session);

    /* Whether the session may enable the provider: eight of all processes may. */
    bool (*may_enable)(const struct etwas_enable_request *request);

    /*
     * Publishes what EnableTraceEx2 has requested of the providers of this process, with its
     * filters, for those of other processes. Waits for them until the request's timeout, if it has
     * one. ERROR_TIMEOUT: it is published, and not all processes have acknowledged it. After
     * another error it is not published.
     */
    uint32_t (*publish_enablement)(const struct etwas_enable_request *request,
                                   const ENABLE_TRACE_PARAMETERS *parameters);

    /*
     * Has the private-session instances of other processes do what ControlTrace did to the host's
     * own session. `file_name` is absolute; empty: it was not given.
     */
    uint32_t (*control_instances)(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                                  const etwas_wchar *file_name);

    /*
     * For etwas_recorder_options.begun: has all other recorders take a snapshot of this window, in
     * the folder of this file. Does not wait for them.
     */
    void (*propagate)(const struct etwas_session *session, const etwas_wchar *file_name,
                      const struct etwas_snapshot_window *window);

    /* ---- of the providers of this process ---- */

    /*
     * A registration calls the first before it, and the second after it with what the first
     * returned. Both together wait 50 ms at most for hosts.
     */
    struct etwas_registering (*before_registering)(const etwas_guid *provider);
    void (*after_registering)(struct etwas_registering registering);

    /* Publishes the providers of this process, which have changed. */
    void (*publish_providers)(void);

    /*
     * Reconciles with the sessions of other processes, since a provider has a name now, unless none
     * of them enables providers by name and `always` is false. Returns whether it has. Waits 50 ms
     * at most for hosts.
     */
    bool (*reconcile_named)(bool always);

    /* Sends the hosts new descriptions of events. Waits 50 ms at most for them. */
    void (*send_descriptions)(void);

    /* ---- of other processes; a host that does not answer costs ERROR_TIMEOUT ---- */

    /* Whether the handle is of a running session of another process. */
    bool (*is_remote)(uint64_t handle);

    /*
     * ControlTrace by name, in the reply's encoding, or, with `name` NULL, by handle.
     * ERROR_WMI_INSTANCE_NOT_FOUND: no other process has such a session.
     */
    uint32_t (*control)(uint64_t handle, const void *name, const struct etwas_reply *reply,
                        uint32_t control_code);

    /* EnableTraceEx2 with the request's session, provider and timeout. */
    uint32_t (*enable)(const struct etwas_enable_request *request,
                       const ENABLE_TRACE_PARAMETERS *parameters);

    /* QUERY of all sessions of other processes, each into the caller's next block. */
    void (*query_all)(struct etwas_replies *replies);

    /* ERROR_INVALID_HANDLE: the handle is of no running session of another process. */
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
     * Both return why there may be more providers than they have found; ERROR_SUCCESS: these are
     * all. The result of the second is freed by etwas_other_processes_free.
     */
    uint32_t (*each_provider)(etwas_provider_visitor visit, void *context);
    uint32_t (*read_others)(struct etwas_other_processes *others);
};

extern const struct etwas_sharing etwas_sharing;

#endif
