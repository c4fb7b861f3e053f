/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session table: 64 static entries for ordinary sessions, 8 for private ones; never freed.
 *
 * Its locks are `role`, `pool_lock` and the control lock (docs/design.md, "Who waits for whom"). The
 * session's end takes its pool away with `pool_lock` held, so who has not the role reads pool and
 * counts under it.
 */
#ifndef ETWAS_SESSION_SESSION_H
#define ETWAS_SESSION_SESSION_H

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/collect.h"
#include "buffer/pool.h"
#include "clock/clock_history.h"
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

/* What a session's buffers go to (flush/sink.h), in the order in which they are given a batch. */
enum etwas_session_sink {
    ETWAS_SINK_WATCH, /* keeps nothing: it looks for triggers (flush/payload_watch.h) */
    ETWAS_SINK_FILE,
    ETWAS_SINK_REALTIME,
    ETWAS_SESSION_SINKS
};

enum {
    ETWAS_IN_PROCESS_SESSIONS = 3, /* of the private ones, with PRIVATE_IN_PROC (R47) */
    ETWAS_SYSTEM_LOGGERS = 8,      /* of the others (R46) */
};

enum etwas_session_state {
    ETWAS_SESSION_FREE, /* the last counts may still be asked for */
    ETWAS_SESSION_STARTING,
    ETWAS_SESSION_RUNNING,
    ETWAS_SESSION_STOPPING,
};

/* Whether other processes log into a shared session. A child that a guest has forked may, when its guest is gone. */
enum etwas_guests {
    ETWAS_GUESTS_MAY_BE_THERE, /* nobody says that there are none */
    ETWAS_GUESTS_ARE_GONE,
    ETWAS_GUESTS_NEVER_CAME,
};

/* What became of the events of one row of slots, and the buffers that it has. */
struct etwas_session_class_row {
    uint64_t recorded;
    uint64_t overwritten;
    uint64_t lost;
    uint32_t buffers;
    uint32_t quota;
};

struct etwas_session {
    /* Under the control lock. */
    enum etwas_session_state state;
    uint32_t generation; /* of the session in this entry, or the last one */
    uint64_t freed_at;   /* counts up: of the free entries the one with the least is taken */
    bool ended_by_full_file;
    uint64_t epoch; /* that its shared slots had reached when they last became rseq's; changed while
                       the entry is STARTING */
    /* The log file's name in force (R14); empty: none. Changed by etwas_session_set_file_name. */
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];

    /*
     * Constant while the session runs, but for what UPDATE changes with the role and the control
     * lock held: of the configuration log_file_mode (its real-time bit and, by CONVERT_TO_REALTIME,
     * its file modes), flush_timer and maximum_buffers, by atomic stores, and file_name.
     */
    uint32_t index;
    uint32_t first_slot; /* where its slot 0 is: 0, or the extra one if that is its only slot */
    uint32_t slot_count; /* processors, and the extra slot where the others have rseq; or 1. With
                            retention classes so many for each row. Behind them guests' */
    struct etwas_configuration configuration;
    struct etwas_clock_reading started;

    /* Under `pool_lock`; also constant while the session runs. */
    pthread_mutex_t pool_lock;
    struct etwas_pool *pool; /* NULL: none; after the end only a pool that had to be leaked */
    etwas_session_counts last_counts;
    struct etwas_session_class_row last_class_rows[ETWAS_CLASS_ROWS];

    /* Of a crash-safe one, NULL: none. Set with the control lock held, constant while it runs. */
    struct etwas_shared_mapping *mapping;
    struct etwas_shared_mapping
        *unfinished_mapping; /* until it is whole: only a fork's child looks at it */

    /* Under `role`. */
    pthread_mutex_t role;
    int role_cancelling; /* what a controller that has it goes back to */
    const struct etwas_sink *sinks[ETWAS_SESSION_SINKS];
    struct etwas_log_file *file;     /* NULL: none; in buffering mode a snapshot that is written.
                                        Changed by etwas_session_set_file */
    struct etwas_realtime *realtime; /* NULL: none; changed under the control lock too */
    uint64_t realtime_lost_before;   /* realtime_buffers_lost when it began */
    uint64_t reported_lost_events;   /* the consumers know of these */
    struct etwas_collector collector;
    struct {
        uint8_t *copies; /* of buffers that other processes map: so many at a time; NULL: none do */
        uint32_t count;
    } untrusted_writers;
    struct etwas_losses *losses;     /* NULL: nobody writes down when something was lost */
    struct etwas_recorder *recorder; /* NULL: no triggers are armed */
    struct etwas_watch *watch;       /* NULL: no payload is looked into */
    uint64_t taken_bytes;            /* by the sinks, since they were told of a flush */
    int64_t taken_newest;            /* no record they have taken is newer */
    int64_t flush_bound; /* of the last flush; while it is due the sinks have not been told */
    bool flush_is_due;
    struct etwas_clock_history clock_history; /* empty before `started` is set */
    uint64_t clock_read_ns;                   /* when its newest was taken */
    uint64_t clock_events;                    /* what had been logged then, or lost */

    /* Stored by the owner of the role, read by anybody. */
    uint64_t buffers_written;
    uint64_t buffers_lost;
    uint64_t sync_errors; /* times the system refused to make the file durable */
    uint64_t realtime_buffers_lost;

    /* A system logger's, set under the control lock; NULL: none. */
    struct etwas_system_logger *system_logger;
    uint64_t lost_in_kernel; /* stored by its thread, read by anybody */

    uint64_t
        lost_unattached; /* of other processes, added to by who hosts (sharing/host_unattached.h) */
    uint32_t unattached_processes; /* that cannot log into it, stored by the same, … */
    uint32_t unattached_code;      /* … and why the last of them cannot */

    /* Set under the control lock by who asks for stacks, for good; read by anybody. */
    uint32_t takes_stacks;

    /*
     * Signal handlers that read the pool (recover/prepared_snapshot.h), which count themselves in
     * before they look whether it is there.
     */
    uint32_t handlers_inside;

    /* enum etwas_guests: stored by who lets them in, read by STOP. */
    uint32_t guests;

    /* Of writers, without a lock. */
    struct etwas_sequence_numbers sequence_numbers;
    struct etwas_trigger trigger; /* but for what is the flusher's */
    struct etwas_watch_counts watch_counts;

    /* The flusher thread; see flush/flusher.h. */
    pthread_t thread;
    uint32_t thread_id; /* 0: none */
    uint32_t quit;      /* the thread shall end */
};

extern struct etwas_session etwas_sessions[ETWAS_SESSION_ENTRIES];

void etwas_control_lock(void);
void etwas_control_unlock(void);

/* Once, before the table is used. */
void etwas_sessions_prepare(void);

/* In a fork's child: every session is the parent's. The control lock was taken before the fork. */
void etwas_sessions_forget(void);

/*
 * Takes an entry for a session with this configuration: state STARTING, a new generation. NULL and a
 * code: ERROR_ALREADY_EXISTS (name or GUID, R10, R41), ERROR_NO_SYSTEM_RESOURCES (R46, R47),
 * ERROR_NOT_ENOUGH_MEMORY.
 */
struct etwas_session *etwas_session_reserve_entry(const struct etwas_configuration *configuration,
                                                  uint32_t *code);

/* Gives back the entry of a session whose start failed, or that has ended. */
void etwas_session_free_entry(struct etwas_session *session, bool ended_by_full_file);

/*
 * Waits until the key's session has ended, by whatever ends it. ERROR_TIMEOUT: it runs on;
 * ERROR_INVALID_HANDLE: it is none that the table remembers.
 */
uint32_t etwas_session_await_end(struct etwas_session_key key, uint64_t timeout_ns);

/* Gives a session that starts its pool, whose slots have no buffer yet. */
void etwas_session_set_pool(struct etwas_session *session, struct etwas_pool *pool);

/* Opens the gates, unless the session is filtered out: from here on writers write. RUNNING. */
void etwas_session_open(struct etwas_session *session);

/* Closes the gates. After this, writers that have not reserved yet get ERROR_INVALID_HANDLE. */
void etwas_session_close(struct etwas_session *session);

/* Whether no writer is inside the slow path of a shared slot, of the first so many slots. */
bool etwas_session_has_no_visitors(const struct etwas_session *session, uint32_t slots);

/*
 * Gives a session its file, or takes it away before it is closed. With the role held. A fork waits
 * for it: a child must not close the descriptor of a file that has been closed.
 */
void etwas_session_set_file(struct etwas_session *session, struct etwas_log_file *file);

/* The name of the file that is written from here on (R14). With the role held. */
void etwas_session_set_file_name(struct etwas_session *session, const etwas_wchar *file_name);

/* Whether what is recorded goes somewhere by itself. With the role held. */
static inline bool etwas_session_has_sink(const struct etwas_session *session)
{
    return session->sinks[ETWAS_SINK_FILE] != NULL || session->sinks[ETWAS_SINK_REALTIME] != NULL;
}

/* Whether its events may have stacks. */
static inline bool etwas_session_takes_stacks(const struct etwas_session *session)
{
    return ck_pr_load_32(&session->takes_stacks) != 0;
}

/*
 * What the gates of its slots are while it runs. Those of a system logger are open for its own thread
 * alone: to who has its handle it does not run (R105).
 */
static inline uint32_t etwas_session_gate(const struct etwas_session *session)
{
    return session->configuration.system_logger ? ~session->generation : session->generation;
}

struct etwas_session_key etwas_session_key(const struct etwas_session *session);

/*
 * The running or stopping session of a handle or of a name; NULL: none. With the control lock held.
 */
struct etwas_session *etwas_session_find(struct etwas_session_key key);
struct etwas_session *etwas_session_find_name(const etwas_wchar *name);

/* Whether the key's session is what the table last held there. With the control lock held. */
bool etwas_session_is_remembered(struct etwas_session_key key);

/* A session that keeps its pool, or what was counted last where that is gone, until it is let go. */
struct etwas_held_session {
    struct etwas_session *session;
    int cancelling;
};

/*
 * Takes `pool_lock`, and no cancellation, of a session that runs or is remembered. ERROR_INVALID_HANDLE:
 * nothing is held. Without the control lock held.
 */
uint32_t etwas_session_hold(uint64_t handle, struct etwas_held_session *held);
void etwas_session_release(const struct etwas_held_session *held);

/* The counts, of a running session or the last ones. ERROR_INVALID_HANDLE for a forgotten one. */
uint32_t etwas_session_counts_of(struct etwas_session_key key, etwas_session_counts *counts);

/* The counts as they are now. With `pool_lock` or `role` held and a pool there. */
void etwas_session_count(const struct etwas_session *session, etwas_session_counts *counts);

/* The same of one row of its slots; without retention classes row 0 is all of it. */
void etwas_session_count_class_row(const struct etwas_session *session, uint32_t row,
                                   struct etwas_session_class_row *counts);

/* `lost`, from the causes. */
void etwas_session_add_losses(etwas_session_counts *counts);

#endif
