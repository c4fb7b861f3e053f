/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host says of its session to other processes: what it is, and with what it enables providers. As bytes, in its
 * entry of the registry, or in the message ENABLE; little-endian, with lengths that are checked against each
 * other. Who reads believes nothing.
 */
#ifndef ETWAS_REGISTRY_SESSION_ENTRY_H
#define ETWAS_REGISTRY_SESSION_ENTRY_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_REGISTRY_NAME_UNITS = 1024,
    ETWAS_REGISTRY_FILTERS = 16,
    ETWAS_REGISTRY_FILTER_BYTES = 64 << 10, /* the data of one */
    ETWAS_REGISTRY_ENTRY_BYTES = 1 << 20,
};

struct etwas_registry_filter {
    uint32_t type; /* EVENT_FILTER_TYPE_... */
    uint32_t bytes;
    const void
        *data; /* read: in the memory that was read from, on a multiple of 8 from its beginning */
};

/* An EnableTraceEx2 as it was asked; a guest does the same. */
struct etwas_registry_enablement {
    etwas_guid provider;
    etwas_guid source;
    uint64_t match_any;
    uint64_t match_all;
    uint64_t number;   /* of the change of the entry that made it what it is … */
    uint64_t captured; /* … and of the last one that asked for its state; 0: none did */
    uint64_t
        asked_ns; /* when: CLOCK_MONOTONIC as this process has it; 0: its host is of a build that does not say */
    uint32_t property;
    uint8_t level;
    bool is_group;
    uint32_t filter_count;
    struct etwas_registry_filter filters[ETWAS_REGISTRY_FILTERS];
};

enum etwas_registry_state {
    ETWAS_REGISTRY_STARTING, /* its host alone sees that */
    ETWAS_REGISTRY_OPEN,
    ETWAS_REGISTRY_CLOSING,
};

enum etwas_registry_kind {
    ETWAS_REGISTRY_SHARED, /* one session of one host, which others may control, and log to unless it is unshared */
    ETWAS_REGISTRY_TEMPLATE, /* of a private session: each process that it is for starts one of its own */
    ETWAS_REGISTRY_RECORDER, /* of its process alone: asked for snapshots. Its name is not taken */
};

enum {
    ETWAS_REGISTRY_PROCESSES = 8,
    ETWAS_REGISTRY_PROGRAM_UNITS = 512,
};

/*
 * What a template says beside its entry, so that a session can be started that differs by its process alone. It is in
 * the entry as it is here: all of its members are numbers of 32 bits but the texts, which are terminated.
 */
struct etwas_registry_template {
    uint32_t bytes; /* of this */
    uint32_t buffer_size_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t maximum_file_size;
    uint32_t flush_timer;
    uint32_t large_pages;
    uint32_t flushes;       /* how often FLUSH was asked for, … */
    uint32_t new_files;     /* … UPDATE with another file … */
    uint32_t next_files;    /* … INCREMENT_FILE … */
    uint32_t snapshots;     /* … and a snapshot */
    uint32_t process_count; /* the processes it is for; 0: any */
    uint32_t process_ids[ETWAS_REGISTRY_PROCESSES];
    uint32_t has_programs; /* else it is for any program */
    uint32_t reserved;
    etwas_wchar programs[ETWAS_REGISTRY_PROGRAM_UNITS]; /* `;` between their names */
    etwas_wchar
        file_name[ETWAS_REGISTRY_NAME_UNITS + 4]; /* from `/` on, without suffixes; empty: none */
    etwas_wchar
        snapshot_name[ETWAS_REGISTRY_NAME_UNITS + 4]; /* of the last one; empty: the file's */
};

struct etwas_registry_entry {
    etwas_guid session;
    etwas_wchar name[ETWAS_REGISTRY_NAME_UNITS + 1]; /* as given; terminated; not empty */
    uint64_t number;                                 /* grows with each change */
    uint64_t socket;        /* the nonce of its socket: etwas_registry_host_open sets it */
    uint64_t process_start; /* its host, for people: as /proc/PID/stat has it, in ticks */
    uint32_t process_id;
    uint32_t state; /* ETWAS_REGISTRY_OPEN... */
    uint32_t kind;  /* ETWAS_REGISTRY_SHARED...; others are of later builds */
    uint32_t
        layout; /* of its pool: who has another major version cannot log to it (shared/layout.h) */
    uint32_t log_file_mode;
    uint32_t clock;
    uint32_t
        gate; /* of its slots, and so in handles of it; 0: it has none yet, or its host is of a build that does not say */
    int64_t
        time_offset_ns; /* of its host's clocks (platform/time_namespace.h): QPC's stamps are of these */
    uint32_t unshared; /* ETWAS_UNSHARED_*: why nobody else logs into a SHARED one; 0: they do */
    uint32_t enablement_count;
    struct etwas_registry_enablement *enablements;
    struct etwas_registry_template *private; /* of a TEMPLATE; else NULL */
};

/*
 * Puts an enablement at `bytes`, which has `room`. *size is what it needs, also where that is more.
 * ERROR_INSUFFICIENT_BUFFER; ERROR_INVALID_PARAMETER: more filters, or more data of one, than there may be.
 */
uint32_t etwas_registry_encode_enablement(const struct etwas_registry_enablement *enablement,
                                          void *bytes, size_t room, size_t *size);

/*
 * Reads one from the beginning of `bytes`; *used is how many it took. Its filters' data stay where they are.
 * ERROR_INVALID_DATA.
 */
uint32_t etwas_registry_decode_enablement(const void *bytes, size_t size,
                                          struct etwas_registry_enablement *enablement,
                                          size_t *used);

/*
 * A whole entry. *bytes is the caller's to free. ERROR_INVALID_PARAMETER: as above, or no name, or no such state, or a
 * TEMPLATE without one;
 * ERROR_BUFFER_OVERFLOW: it would be larger than ETWAS_REGISTRY_ENTRY_BYTES; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_encode_entry(const struct etwas_registry_entry *entry, void **bytes,
                                     size_t *size);

/*
 * One free() gives back the entry with all that is in it. `bytes` may go. ERROR_INVALID_DATA;
 * ERROR_NOT_SUPPORTED: it is of another version; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_decode_entry(const void *bytes, size_t size,
                                     struct etwas_registry_entry **entry);

#endif
