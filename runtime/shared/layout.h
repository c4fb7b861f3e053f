/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A self-describing mapping: a session's pool with everything that a log file is made of. It
 * outlives the process that logs. A process that opens it (recover/) checks everything in it.
 *
 *     head │ first │ clock snapshots │ schemas │ block of the pool │ region of the buffers
 *
 * Integers are those of the machine, little-endian. All positions are offsets from the beginning.
 * Each table has the distance of its entries, so that a reader of another build of the same major
 * version skips fields that it does not know.
 */
#ifndef ETWAS_SHARED_LAYOUT_H
#define ETWAS_SHARED_LAYOUT_H

#include <etwas/types.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock_reading.h"

#define ETWAS_SHARED_MAGIC "ETWASPL1"

enum {
    ETWAS_SHARED_MAJOR = 3,          /* other versions are refused */
    ETWAS_SHARED_MINOR = 2,          /* a greater one has more fields */
    ETWAS_SHARED_MINOR_OF_GATES = 2, /* the first whose sessions other processes may log into */
    ETWAS_SHARED_NAME_BYTES = 4096,
    ETWAS_SHARED_TABLES = 16,
};

enum etwas_shared_state {
    ETWAS_SHARED_MADE, /* not complete yet */
    ETWAS_SHARED_OPEN,
    ETWAS_SHARED_CLOSED, /* the session has ended, and all its data are stored */
};

enum etwas_shared_table_name {
    ETWAS_SHARED_FIRST, /* buffer 0 of a log file, without clock snapshots */
    /* struct etwas_clock_history, twice; the `newest_clock_snapshots`th is complete */
    ETWAS_SHARED_CLOCK_SNAPSHOTS,
    ETWAS_SHARED_SCHEMAS, /* records of descriptions, each rounded up to 8 bytes */
    ETWAS_SHARED_WORDS,   /* struct etwas_pool_words */
    ETWAS_SHARED_SLOTS,
    ETWAS_SHARED_OWNERS,
    ETWAS_SHARED_FREE_SET,
    ETWAS_SHARED_CONTROLS,
    ETWAS_SHARED_REGION,
    /* since minor version 2; only processes that log into it use it */
    ETWAS_SHARED_AGES,
    ETWAS_SHARED_CANDIDATES,
};

struct etwas_shared_table {
    uint64_t offset;
    uint64_t address; /* its address in the process, to find the parts in a core file */
    uint32_t count;   /* of entries */
    uint32_t stride;  /* bytes from one to the next */
    uint32_t used;    /* bytes of each that this build knows */
    uint32_t reserved;
};

/* Bits of `flags`. */
enum {
    ETWAS_SHARED_BUFFERING = 1,
    ETWAS_SHARED_PROCESS_TIMES = 2,
};

struct etwas_shared_head {
    char magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t head_bytes;
    uint64_t total_bytes;
    uint32_t state; /* of etwas_shared_state; stored last, with release */
    uint32_t table_count;
    struct etwas_shared_table tables[ETWAS_SHARED_TABLES];

    /*
     * Constant while the session runs, except for log_file_mode, which shows whether the session
     * has had consumers.
     */
    etwas_guid session;
    uint8_t boot_id[16]; /* of the machine: QPC and TSC mean nothing after another boot */
    uint32_t process_id;
    uint32_t logger_id;
    uint64_t process_start; /* start_key of platform/identity.h */
    uint32_t log_file_mode;
    uint32_t clock;
    uint32_t flags;
    uint32_t processors;
    uint32_t buffer_bytes;
    uint32_t buffers; /* of the region */
    uint32_t first_slot;
    uint32_t slot_count;
    uint32_t rseq_slots;
    uint32_t first_bytes; /* of buffer 0 */
    struct etwas_clock_reading started;
    char name[ETWAS_SHARED_NAME_BYTES]; /* UTF-8, terminated */

    /*
     * Changed by the owner of the session's role: first the path that is not the newest, then
     * newest_path.
     */
    char file_paths[2][ETWAS_SHARED_NAME_BYTES]; /* of its log file; absolute; empty: none */
    uint32_t newest_path; /* index of the newest path; the other one is that of the file before */
    uint32_t newest_clock_snapshots;

    /* Changed under the control lock. Stored after the bytes, with release. */
    uint64_t schema_bytes;
    uint64_t schemas_left_out; /* number of schemas for which there was no room */

    /*
     * Since minor version 1: the kind of storage, and the flusher's measurements of it (mapping.h).
     */
    uint32_t place; /* ETWAS_PLACE_*; 0: not recorded */
    uint32_t file_system;
    /* Changed by the owner of the session's role. */
    uint64_t touches;
    uint64_t longest_touch_ns;
    uint64_t slow_touches;

    /*
     * Since minor version 2: the gates of its slots while it runs, if it is a shared session, into
     * which other processes log (join.h); otherwise 0. The pool data that these processes need
     * follow.
     */
    uint32_t gate;
    uint32_t minimum_buffers;
    uint32_t extra_buffers;
    uint32_t nodes;
    uint32_t stripe_shift;
    uint32_t reserved;
};

/* The size of a head of minor version 0, and of one of ETWAS_SHARED_MINOR_OF_GATES. */
#define ETWAS_SHARED_LEAST_HEAD offsetof(struct etwas_shared_head, place)
#define ETWAS_SHARED_HEAD_OF_GATES (offsetof(struct etwas_shared_head, stripe_shift) + 8)

#endif
