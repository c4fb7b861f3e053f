/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The configuration of a session: names, GUID, clock, mode and sizes, checked and with every
 * default filled in.
 */
#ifndef ETWAS_SESSION_CONFIGURATION_H
#define ETWAS_SESSION_CONFIGURATION_H

#include <etwas/etwas.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/filter.h"

enum {
    ETWAS_NAME_UNITS = 1024, /* longest session or file name, without the terminating 0 (R9) */
    ETWAS_PATH_BYTES = 3 * ETWAS_NAME_UNITS + 1, /* the longest file name as UTF-8 */
    ETWAS_SMALLEST_BUFFER_KB = 4,
};

/* The flusher's options, checked and copied: no pointer into the caller's memory remains. */
struct etwas_flusher_configuration {
    char name[16];
    cpu_set_t *cpus; /* from CPU_ALLOC; NULL: as the creating thread */
    size_t cpus_bytes;
    int realtime_priority;
    int nice_value;
    bool no_thread;
};

/* What other processes can do with a session. */
enum etwas_reach {
    ETWAS_REACH_PROCESS,      /* nothing: only this process uses it */
    ETWAS_REACH_SNAPSHOTS,    /* request snapshots; it is a flight recorder */
    ETWAS_REACH_DISCOVERABLE, /* find and control it, but not log into it */
    ETWAS_REACH_SHARED,       /* log into it, because its pool is in a mapping; and the above */
    ETWAS_REACH_TEMPLATE,     /* start instances of it: it is a private-session template */
};

/* Which of the kernel's events a system logger records. */
enum etwas_system_logger_kind {
    ETWAS_SYSTEM_LOGGER_NONE = 0, /* it is no system logger */
    ETWAS_SYSTEM_LOGGER_EVENTS,   /* what its flags and providers request */
    ETWAS_SYSTEM_LOGGER_RUNDOWN,  /* only the rundown (R188) */
};

struct etwas_configuration {
    etwas_wchar name[ETWAS_NAME_UNITS + 1];
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1]; /* as given; empty: none */
    etwas_guid guid;
    uint32_t log_file_mode;
    uint32_t clock;           /* as requested, then the one in force */
    uint32_t requested_clock; /* as requested, with 1 for 0 */
    uint32_t buffer_size_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t maximum_file_size; /* MB, or KB: see etwas_configuration_file_bytes */
    uint32_t flush_timer;       /* s, or ms: see etwas_configuration_flush_ns */
    uint32_t enable_flags;
    uint32_t protocol;   /* ETWAS_PROTOCOL_*: as requested, then the one in force */
    uint32_t sequences;  /* ETWAS_SEQUENCES_*: why RSEQ was not chosen */
    bool process_times;  /* records carry the processor time of their thread (R106) */
    uint32_t crash_safe; /* ETWAS_CRASH_SAFE_*: where its buffers outlive the process; 0: nowhere */
    enum etwas_reach reach;
    bool sharing_required; /* the start fails if its reach would be less than requested */
    /*
     * ETWAS_UNSHARED_*: why it is not shared, if that was not requested; HIDDEN: other processes no
     * longer find it
     */
    uint32_t unshared;
    uint32_t memory;          /* ETWAS_MEMORY_*: as requested */
    uint32_t memory_required; /* of these, those without which the start fails */
    enum etwas_system_logger_kind system_logger;
    bool own_process;                     /* system logger: only this process's events */
    bool no_kernel_stacks;                /* system logger: only the user's part of stacks */
    struct etwas_process_filters filters; /* of a private session */
    bool filtered_out; /* the filters exclude this process: nothing is recorded */
    uint32_t consumer_queue_kb;
    uint32_t backlog_kb;
    char backlog_folder[ETWAS_PATH_BYTES];    /* empty: the default */
    char crash_safe_folder[ETWAS_PATH_BYTES]; /* likewise */
    struct etwas_flusher_configuration flusher;
    etwas_retention_class classes[ETWAS_RETENTION_CLASSES];
    uint32_t class_count;
};

/*
 * Checks the request in *configuration and replaces it with the values in force.
 * ERROR_INVALID_PARAMETER: illegal modes, clocks, protocols, flags or sizes. ERROR_NOT_SUPPORTED:
 * legal ones that are not built or not possible here. ERROR_BAD_PATHNAME: a file is needed and has
 * no name, or its name is too long for its suffix. ERROR_INVALID_NAME: a new-file set without its
 * `%d`. Touches nothing outside *configuration (R40, R60–R73, R81, R90, R91, R95, R96, R150).
 */
uint32_t etwas_configuration_complete(struct etwas_configuration *configuration);

/*
 * Checks a logging mode. ERROR_INVALID_PARAMETER: it has an undefined bit, or a combination that
 * the page "Logging Mode Constants" forbids. ERROR_NOT_SUPPORTED: it is legal and refused here.
 */
uint32_t etwas_modes_check(uint32_t log_file_mode);

/* Whether a log file header with this file name fits in a buffer. */
bool etwas_configuration_has_room_for(const struct etwas_configuration *configuration,
                                      const etwas_wchar *file_name);

/*
 * Converts a file name to a path: UTF-8, terminated. ERROR_BAD_PATHNAME for ill-formed UTF-16 or no
 * name.
 */
uint32_t etwas_configuration_path(const etwas_wchar *file_name, char path[ETWAS_PATH_BYTES]);

/*
 * Copies the flusher's options. ERROR_INVALID_PARAMETER for values out of range,
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_flusher_configuration_set(struct etwas_flusher_configuration *configuration,
                                         const etwas_flusher_options *options);
void etwas_flusher_configuration_free(struct etwas_flusher_configuration *configuration);

static inline bool etwas_configuration_is_buffering(const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
}

/* R47: a private session has an entry and a file name beside those of ordinary sessions. */
static inline bool etwas_configuration_is_private(const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
}

static inline bool etwas_configuration_is_in_process(
    const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0;
}

static inline bool etwas_configuration_is_shared(const struct etwas_configuration *configuration)
{
    return configuration->reach == ETWAS_REACH_SHARED;
}

/* Class rows: one for each retention class, and one for events without a class. */
static inline uint32_t etwas_configuration_class_rows(
    const struct etwas_configuration *configuration)
{
    return 1 + configuration->class_count;
}

/* The least number of buffers reserved for each class row. */
uint32_t etwas_configuration_row_buffers(const struct etwas_configuration *configuration);

/*
 * R65, R78: whether one slot of the shared protocol serves all processors; with classes one in each
 * row.
 */
static inline bool etwas_configuration_has_one_slot(const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0;
}

static inline bool etwas_configuration_is_realtime(const struct etwas_configuration *configuration)
{
    return (configuration->log_file_mode & EVENT_TRACE_REAL_TIME_MODE) != 0;
}

/* Whether records go to a file without a request (R15, R16). */
static inline bool etwas_configuration_has_file(const struct etwas_configuration *configuration)
{
    return !etwas_configuration_is_buffering(configuration) && !configuration->filtered_out &&
           configuration->file_name[0] != 0;
}

/* The largest size of a log file (R90), 0: no limit. */
uint64_t etwas_configuration_file_bytes(const struct etwas_configuration *configuration);

/*
 * The time between timed flushes (R81–R83), 0: there are none. UPDATE may change it at any time.
 */
uint64_t etwas_configuration_flush_ns(const struct etwas_configuration *configuration);

#endif
