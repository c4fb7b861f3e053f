/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session table: 64 static entries for ordinary sessions, 8 for private ones; never freed.
 *
 * Its locks are `role`, `pool_lock` and the control lock (docs/internals/design.md, "Locks and
 * waiting"). The session's end removes its pool with `pool_lock` held, so a thread without the role
 * reads pool and counts under `pool_lock`.
 */
#ifndef ETWAS_SESSION_SESSION_H
#define ETWAS_SESSION_SESSION_H

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/collect.h"
#include "buffer/pool.h"
#include "clock/clock_reading.h"
#include "session/configuration.h"
#include "session/handle.h"
#include "session/sequence_number.h"
#include "session/trigger.h"

struct etwas_log_file;
struct etwas_losses;
struct etwas_realtime;
struct etwas_shared_mapping;
struct etwas_sink;
struct etwas_system_logger;
struct etwas_watch;

/* The sinks of a session (flush/sink.h), in the order in which they get a batch. */
enum etwas_session_sink {
    ETWAS_SINK_WATCH, /* stores nothing: tests payloads for triggers (flush/payload_watch.h) */
    ETWAS_SINK_FILE,
    ETWAS_SINK_REALTIME,
    ETWAS_SESSION_SINKS
};

enum {
    ETWAS_IN_PROCESS_SESSIONS = 3, /* the most private sessions with PRIVATE_IN_PROC (R47) */
    ETWAS_SYSTEM_LOGGERS = 8,      /* the most system loggers (R46) */
};

enum etwas_session_state {
    ETWAS_SESSION_FREE, /* the last counts may still be requested */
    ETWAS_SESSION_STARTING,
    ETWAS_SESSION_RUNNING,
    ETWAS_SESSION_STOPPING,
};

/*
 * Whether other processes log into a shared session. A child that a guest has forked may still do
 * so after the guest has ended.
 */
enum etwas_guests {
    ETWAS_GUESTS_MAY_BE_THERE, /* not known: there may be some */
    ETWAS_GUESTS_ARE_GONE,
    ETWAS_GUESTS_NEVER_CAME,
};

/* The counts of one class row's events, and its buffers. */
struct etwas_session_class_row {
    uint64_t recorded;
    uint64_t overwritten;
    uint64_t lost;
    uint32_t buffers;
    uint32_t quota;
};

/*
 * Guarded by the control lock. The generation is constant while a session is in the entry, and the
 * file name is changed with the role held, too: the owner of either lock may read it.
 */
struct etwas_session_entry {
    enum etwas_session_state state;
    uint32_t generation; /* of the session in this entry, or the last one */
    uint64_t freed_at;   /* counts up: the free entry with the least value is taken first */
    bool ended_by_full_file;
    /*
     * the epoch that its shared slots had reached when they last became rseq slots; changed while
     * the entry is STARTING
     */
    uint64_t epoch;
    /*
     * The current name of the log file (R14); empty: none. Changed by etwas_session_set_file_name.
     */
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
};

/* Guarded by `pool_lock`; also constant while the session runs. */
struct etwas_session_buffers {
    pthread_mutex_t pool_lock;
    struct etwas_pool *pool; /* NULL: none; after the end only a pool that had to be leaked */
    etwas_session_counts last_counts;
    struct etwas_session_class_row last_class_rows[ETWAS_CLASS_ROWS];
};

/* Guarded by `role`: what was collected, and its sinks. */
struct etwas_session_drain {
    pthread_mutex_t role;
    int role_cancelling; /* cancellation state that a controller restores with the role */
    const struct etwas_sink *sinks[ETWAS_SESSION_SINKS];
    /*
     * NULL: none; in buffering mode a snapshot that is being written. Changed by
     * etwas_session_set_file
     */
    struct etwas_log_file *file;
    struct etwas_realtime *realtime; /* NULL: none; changed under the control lock too */
    uint64_t realtime_lost_before;   /* realtime_buffers_lost when `realtime` began */
    uint64_t reported_lost_events;   /* lost events that consumers were notified of */
    struct etwas_collector collector;
    struct {
        uint8_t *copies; /* room to copy buffers that other processes map; NULL: none do */
        uint32_t count;
    } untrusted_writers;
    struct etwas_losses *losses;     /* NULL: losses are not recorded with their times */
    struct etwas_recorder *recorder; /* NULL: no triggers are armed */
    struct etwas_watch *watch;       /* NULL: no payloads are tested */
    uint64_t taken_bytes;            /* bytes that the sinks accepted since the last flush */
    int64_t taken_newest;            /* no record that they accepted has a later stamp */
    /* bound of the last flush, of which the sinks are not notified while it is due */
    int64_t flush_bound;
    bool flush_is_due;
    struct etwas_clock_history clock_history; /* empty before `started` is set */
    uint64_t clock_read_ns;                   /* when its newest reading was taken */
    uint64_t clock_events;                    /* events that had been logged or lost then */
};

/* Each is stored by one thread, or changed atomically, and read by any thread. */
struct etwas_session_totals {
    /* by the owner of the role */
    uint64_t buffers_written;
    uint64_t buffers_lost;
    uint64_t sync_errors; /* how often the file could not be made durable */
    uint64_t realtime_buffers_lost;
    uint64_t lost_in_kernel; /* by the system logger's thread */
    /* events of other processes; added to by the host's threads (sharing/host_unattached.h) */
    uint64_t lost_unattached;
    /* processes that cannot log into it; by the same threads, … */
    uint32_t unattached_processes;
    uint32_t unattached_code;  /* … why the newest of them cannot … */
    uint32_t unattached_total; /* … and how often that has happened */
};

/* The flusher thread; see flush/flusher.h. */
struct etwas_session_flusher {
    pthread_t thread;
    uint32_t thread_id; /* 0: none */
    uint32_t quit;      /* requests the thread to end */
};

struct etwas_session {
    struct etwas_session_entry entry;

    /*
     * Constant while the session runs, except for what UPDATE changes with the role and the control
     * lock held: log_file_mode (its real-time bit and, by CONVERT_TO_REALTIME, its file modes),
     * flush_timer and maximum_buffers of the configuration, by atomic stores.
     */
    uint32_t index;
    uint32_t first_slot; /* where its slot 0 is: 0, or the extra one if that is its only slot */
    /*
     * one for each processor, and the extra slot if these have rseq; or 1. A session with retention
     * classes has as many in each row. Guests' slots follow
     */
    uint32_t slot_count;
    struct etwas_configuration configuration;
    struct etwas_clock_reading started;
    /* The mapping of a crash-safe session; NULL: none. Set with the control lock held. */
    struct etwas_shared_mapping *mapping;
    struct etwas_shared_mapping
        *unfinished_mapping; /* until it is complete; read by a fork's child only */
    struct etwas_system_logger *system_logger; /* set with the control lock held; NULL: none */

    struct etwas_session_buffers buffers;
    struct etwas_session_drain drain;
    struct etwas_session_totals totals;
    struct etwas_session_flusher flusher;

    /* Set under the control lock by a request for stacks, and never reset; read by any thread. */
    uint32_t takes_stacks;

    /*
     * Number of signal handlers that read the pool (file/prepared_snapshot.h). A handler counts
     * itself in before it reads whether the pool is there.
     */
    uint32_t handlers_inside;

    /* enum etwas_guests: stored by the thread that accepts guests, read by STOP. */
    uint32_t guests;

    /* Changed by writers, without a lock. */
    struct etwas_sequence_numbers sequence_numbers;
    struct etwas_trigger trigger; /* except what belongs to the flusher */
    struct etwas_watch_counts watch_counts;
};

extern struct etwas_session etwas_sessions[ETWAS_SESSION_ENTRIES];

void etwas_control_lock(void);
void etwas_control_unlock(void);

/* Initializes the table. Called once, before it is used. */
void etwas_sessions_prepare(void);

/* In a fork's child: forgets the parent's sessions. The control lock was taken before the fork. */
void etwas_sessions_forget(void);

/*
 * Reserves an entry for a session with this configuration: state STARTING, a new generation.
 * Returns NULL and a code on failure: ERROR_ALREADY_EXISTS (name or GUID, R10, R41),
 * ERROR_NO_SYSTEM_RESOURCES (R46, R47), ERROR_NOT_ENOUGH_MEMORY.
 */
struct etwas_session *etwas_session_reserve_entry(const struct etwas_configuration *configuration,
                                                  uint32_t *code);

/* Frees the entry of a session whose start failed, or that has ended. */
void etwas_session_free_entry(struct etwas_session *session, bool ended_by_full_file);

/*
 * Waits until the key's session has ended, for whatever reason. ERROR_TIMEOUT: it still runs.
 * ERROR_INVALID_HANDLE: the table does not remember it.
 */
uint32_t etwas_session_await_end(struct etwas_session_key key, uint64_t timeout_ns);

/* Gives a starting session its pool, whose slots have no buffer yet. */
void etwas_session_set_pool(struct etwas_session *session, struct etwas_pool *pool);

/*
 * Opens the gates, unless the session is filtered out, and sets the state RUNNING: from here on
 * writers write.
 */
void etwas_session_open(struct etwas_session *session);

/* Closes the gates. After this, writers that have not reserved yet get ERROR_INVALID_HANDLE. */
void etwas_session_close(struct etwas_session *session);

/* Whether no writer is on the slow path of a shared slot among the first `slots` slots. */
bool etwas_session_has_no_slow_writers(const struct etwas_session *session, uint32_t slots);

/*
 * Sets the session's file, or NULL before the file is closed. Role held. A fork waits for it: a
 * child must not close the descriptor of a file that has been closed.
 */
void etwas_session_set_file(struct etwas_session *session, struct etwas_log_file *file);

/* Sets the name of the file that is written from here on (R14). Role held. */
void etwas_session_set_file_name(struct etwas_session *session, const etwas_wchar *file_name);

/* Whether records go to a file or to consumers without a request. Role held. */
static inline bool etwas_session_has_sink(const struct etwas_session *session)
{
    return session->drain.sinks[ETWAS_SINK_FILE] != NULL ||
           session->drain.sinks[ETWAS_SINK_REALTIME] != NULL;
}

/* Whether its events may have stacks. */
static inline bool etwas_session_takes_stacks(const struct etwas_session *session)
{
    return ck_pr_load_32(&session->takes_stacks) != 0;
}

/*
 * The gate of its slots while it runs. A system logger's gates are open for its own thread alone:
 * for a caller with its handle the session does not run (R105).
 */
static inline uint32_t etwas_session_gate(const struct etwas_session *session)
{
    return session->configuration.system_logger ? ~session->entry.generation
                                                : session->entry.generation;
}

struct etwas_session_key etwas_session_key(const struct etwas_session *session);

/* Finds the running or stopping session of a key, handle or name; NULL: none. Control lock held. */
struct etwas_session *etwas_session_find(struct etwas_session_key key);
struct etwas_session *etwas_session_find_handle(uint64_t handle);
struct etwas_session *etwas_session_find_name(const etwas_wchar *name);

/*
 * Whether the key's session is the last one that the table held in that entry. Control lock held.
 */
bool etwas_session_is_remembered(struct etwas_session_key key);

/*
 * A session whose `pool_lock` the caller holds: its pool or last counts stay until it is released.
 */
struct etwas_held_session {
    struct etwas_session *session;
    int cancelling;
};

/*
 * Locks `pool_lock` of a session that runs or is remembered, and disables cancellation.
 * ERROR_INVALID_HANDLE: nothing is held. The control lock must not be held.
 */
uint32_t etwas_session_hold(uint64_t handle, struct etwas_held_session *held);
void etwas_session_release(const struct etwas_held_session *held);

/*
 * Copies the counts of a running session, or the last ones. ERROR_INVALID_HANDLE for a forgotten
 * session.
 */
uint32_t etwas_session_counts_of(struct etwas_session_key key, etwas_session_counts *counts);

/* Counts the session now. `pool_lock` or `role` held, and a pool there. */
void etwas_session_count(const struct etwas_session *session, etwas_session_counts *counts);

/* Does the same for one of its class rows; without retention classes row 0 is the whole session. */
void etwas_session_count_class_row(const struct etwas_session *session, uint32_t row,
                                   struct etwas_session_class_row *counts);

/* Sums up `lost` from the causes. */
void etwas_session_add_losses(etwas_session_counts *counts);

#endif
