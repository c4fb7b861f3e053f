/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The soak program's parts: what a session is asked for, its writers, what is done to it, and how
 * what it left is checked.
 *
 * Everything random follows from the seed, the controller and the round, so that a round asks for
 * the same again; only the threads' timing is new.
 */
#ifndef ETWAS_SOAK_SOAK_H
#define ETWAS_SOAK_SOAK_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- random.c -------------------------------------------------------------------------------- */

struct soak_random {
    uint64_t state;
};

struct soak_random soak_random_of(uint64_t seed, uint64_t controller, uint64_t round);
uint64_t soak_next(struct soak_random *random);
/* 0 to most, both included. */
uint32_t soak_upto(struct soak_random *random, uint32_t most);
/* True once in `times`. */
bool soak_once_in(struct soak_random *random, uint32_t times);

/* ---- main.c: faults -------------------------------------------------------------------------- */

/* Says what is wrong and where, and ends the run. May be called from any thread. */
void soak_fault(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool soak_is_over(void);
/* A fault of an earlier check makes later ones worthless. */
bool soak_has_faults(void);

void soak_pause_us(uint32_t microseconds);

enum {
    SOAK_PATH_BYTES = 512,
    SOAK_NAME_BYTES = 64,
    SOAK_CONTROLLERS = 16,
    SOAK_FILTER_BYTES = 256
};

/* ---- request.c: legal sessions --------------------------------------------------------------- */

enum soak_kind {
    SOAK_SEQUENTIAL,
    SOAK_LIMITED, /* a sequential file with a size: the session ends by itself */
    SOAK_CIRCULAR,
    SOAK_APPEND,
    SOAK_NEWFILE,
    SOAK_BUFFERING,
    SOAK_KINDS
};

/* What a session is asked for. */
struct soak_request {
    enum soak_kind kind;
    uint32_t mode;
    uint32_t clock;
    uint32_t buffer_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t maximum_file_size;
    uint32_t flush_timer;
    uint32_t protocol;
    uint32_t enable_flags;
    etwas_flusher_options flusher;
    bool process_times;
    bool large_pages;
    bool filtered_out; /* its filters do not match this process */

    /* How: etwas_start, or a properties block, in UTF-8 or UTF-16. */
    bool by_block;
    bool wide;
    bool versioned;
    uint32_t version;
    uint32_t filter_count;
    EVENT_FILTER_DESCRIPTOR filters[4];
    EVENT_FILTER_DESCRIPTOR *filter_list; /* NULL: filters above */
    uint8_t filter_data[2][SOAK_FILTER_BYTES];
    bool has_guid;
    etwas_guid guid;

    char folder[SOAK_PATH_BYTES]; /* holds everything the session leaves */
    char name[SOAK_NAME_BYTES];
    bool has_file;
    char file[SOAK_PATH_BYTES];
};

/* Asks for anything legal. The folder exists already; the name is unique. */
void soak_request_make(struct soak_request *request, struct soak_random *random, const char *folder,
                       const char *name);
/* Whether its file can become full, so that it ends by itself (R93). */
bool soak_may_end(const struct soak_request *request);
/* The adjusted size of its buffers in bytes (R60, R61). */
uint32_t soak_buffer_bytes(const struct soak_request *request);
/* One line for reports. Returns `text`. */
const char *soak_describe(const struct soak_request *request, char *text, size_t bytes);

/* At most 8 private sessions at once, of these 3 of the process alone (R47). False: no more. */
bool soak_private_take(uint32_t mode);
void soak_private_give(uint32_t mode);

/* ---- block.c: properties blocks -------------------------------------------------------------- */

enum {
    SOAK_AREA_BYTES = 2600 /* 1,025 characters and their end, in either text */
};

struct soak_block {
    union {
        EVENT_TRACE_PROPERTIES properties;
        EVENT_TRACE_PROPERTIES_V2 second;
    };
    char session_name[SOAK_AREA_BYTES];
    char file_name[SOAK_AREA_BYTES];
};

/* A zeroed block with sizes, flags and offsets; a file name of NULL leaves its offset 0. */
void soak_block_begin(struct soak_block *block, bool wide, const char *file);
void soak_block_of(const struct soak_request *request, struct soak_block *block);
/* ASCII as UTF-16 at an address that need not be aligned; the end included. */
void soak_widen(const char *text, void *target);
uint32_t soak_start_block(const struct soak_request *request, struct soak_block *block,
                          etwas_trace_handle *session);
uint32_t soak_start(const struct soak_request *request, etwas_trace_handle *session);
/* ControlTrace by handle, or by name where there is one. */
uint32_t soak_control(etwas_trace_handle session, const char *name, bool wide,
                      struct soak_block *block, uint32_t control_code);
/* All sessions that QueryAllTraces knows; UINT32_MAX when it fails. */
uint32_t soak_count_sessions(void);

/* ---- writers.c ------------------------------------------------------------------------------- */

enum {
    SOAK_WRITERS = 4
};

struct soak_writer {
    pthread_t thread;
    etwas_trace_handle session;
    struct soak_random random;
    uint32_t index;
    uint32_t tag;          /* of the session, in each event */
    uint32_t buffer_bytes; /* of the session */
    uint32_t events;       /* to write at most */
    uint32_t pause_every;  /* 0: never */
    const uint32_t *end;
    const char *where;

    uint64_t recorded; /* ERROR_SUCCESS */
    uint64_t lost;     /* ERROR_NOT_ENOUGH_MEMORY */
    uint64_t refused;  /* ERROR_INVALID_HANDLE; the writer ends with the first */
    uint64_t too_large;
};

struct soak_writers {
    struct soak_writer list[SOAK_WRITERS];
    uint32_t count;
    uint32_t end;
};

void soak_writers_prepare(void);
void soak_writers_start(struct soak_writers *writers, struct soak_random *random,
                        etwas_trace_handle session, uint32_t tag, uint32_t buffer_bytes,
                        uint32_t events, const char *where);
bool soak_writers_are_done(const struct soak_writers *writers);
void soak_writers_end(struct soak_writers *writers);
void soak_writers_join(struct soak_writers *writers);
struct soak_writer soak_writers_total(const struct soak_writers *writers);

/* ---- round.c, operations.c: one session from start to stop ----------------------------------- */

struct soak_session {
    const struct soak_request *request;
    struct soak_random *random;
    etwas_trace_handle handle;
    uint32_t tag;
    struct soak_writers writers;
    uint32_t snapshots;    /* made, of a buffering session */
    uint32_t file_changes; /* UPDATE with a new file name */
    bool maximum_changed;
    EVENT_TRACE_PROPERTIES last; /* what STOP returned; zeroes: nothing */
    bool ended;                  /* by its full file, or by another thread */
    char where[1200];            /* seed, controller, round and request, for reports */
};

/* Something legal or, sometimes, something refused. */
void soak_operate(struct soak_session *session);
/* Whether `code` is as expected; a session that may end by itself may say so. */
bool soak_expect(struct soak_session *session, const char *what, uint32_t code, uint32_t expected);
void soak_snapshot(struct soak_session *session, const char *name);

void soak_round(uint64_t seed, uint32_t controller, uint32_t round, const char *folder);

/* What the sessions so far came to, by kind. */
void soak_print_totals(void);

/* Names of running sessions, for threads that meddle with those of others. */
void soak_names_set(uint32_t controller, const char *name);
bool soak_names_any(struct soak_random *random, char name[SOAK_NAME_BYTES]);

/* ---- illegal.c ------------------------------------------------------------------------------- */

/*
 * Starts legal sessions with one illegal change each, and checks code and belongings; with nobody
 * else at work when `alone`.
 */
void soak_illegal(uint64_t seed, uint32_t round, uint32_t times, const char *folder, bool alone);

/* The illegal changes that no session has had so far. */
void soak_print_untried(void);

/* ---- belongings.c ---------------------------------------------------------------------------- */

struct soak_belongings {
    uint32_t descriptors;
    uint32_t threads;
    uint32_t mappings;
    uint32_t sessions;
};

struct soak_belongings soak_count_belongings(void);
/* Faults where there is more than before. */
void soak_expect_nothing_gained(const char *where, const struct soak_belongings *before);
uint32_t soak_count_files(const char *folder);
void soak_remove_folder(const char *folder);

/* ---- audit.c: the files, through the independent walker -------------------------------------- */

/* Starts the Python program that walks files. False: it cannot. */
bool soak_audit_begin(void);
void soak_audit_end(void);
/*
 * One line of JSON, answered by "ok" or by what is wrong. Returns false and faults for the latter.
 */
bool soak_audit(const char *where, const char *question);

#endif
