/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host publishes of its session for other processes: what it is, and how it enables
 * providers. Encoded in its entry of the registry and in the message ENABLE: little-endian, with
 * lengths that the decoder checks against each other, as it checks everything.
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
        *data; /* decoded: in the memory that was decoded, at a multiple of 8 from its beginning */
};

/* The arguments of an EnableTraceEx2; a guest applies them as they are. */
struct etwas_registry_enablement {
    etwas_guid provider;
    etwas_guid source;
    uint64_t match_any;
    uint64_t match_all;
    uint64_t number;   /* number of the change of the entry that made it what it is, … */
    uint64_t captured; /* … and of the last one that asked for its state; 0: none has */
    /* time of the call, by this process's CLOCK_MONOTONIC; 0: its host is of an older build */
    uint64_t asked_ns;
    uint32_t property;
    uint8_t level;
    bool is_group;
    uint32_t filter_count;
    struct etwas_registry_filter filters[ETWAS_REGISTRY_FILTERS];
};

enum etwas_registry_state {
    ETWAS_REGISTRY_STARTING, /* seen by its host alone */
    ETWAS_REGISTRY_OPEN,
    ETWAS_REGISTRY_CLOSING,
};

enum etwas_registry_kind {
    /* one session of one host, which others may control, and log to unless it is unshared */
    ETWAS_REGISTRY_SHARED,
    /* a private session's: each process that it is meant for starts an instance */
    ETWAS_REGISTRY_TEMPLATE,
    /* of its process alone: can be asked for snapshots. Its name is not acquired */
    ETWAS_REGISTRY_RECORDER,
};

enum {
    ETWAS_REGISTRY_PROCESSES = 8,
    ETWAS_REGISTRY_PROGRAM_UNITS = 512,
};

/*
 * The template of a private session, so that a session can be started that differs by its process
 * alone. It is encoded as it is here: all members are numbers of 32 bits but the texts, which are
 * terminated.
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
    uint32_t process_count; /* the processes it is meant for; 0: any */
    uint32_t process_ids[ETWAS_REGISTRY_PROCESSES];
    uint32_t has_programs; /* else it is meant for any program */
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
    uint64_t socket; /* the nonce of its socket: etwas_registry_host_open sets it */
    /* start of its host, for messages: as /proc/PID/stat has it, in ticks */
    uint64_t process_start;
    uint32_t process_id;
    uint32_t state; /* ETWAS_REGISTRY_OPEN... */
    uint32_t kind;  /* ETWAS_REGISTRY_SHARED...; others are of later builds */
    /*
     * major version of its pool's layout; a process of another one cannot log to it
     * (shared/layout.h)
     */
    uint32_t layout;
    uint32_t log_file_mode;
    uint32_t clock;
    /*
     * the gate of its slots, and so of its handles; 0: it has none yet, or its host is of an older
     * build
     */
    uint32_t gate;
    /* offset of its host's clocks (platform/time_namespace.h), which are those of QPC's stamps */
    int64_t time_offset_ns;
    /* ETWAS_UNSHARED_*: why no other process logs into a SHARED one; 0: they do */
    uint32_t unshared;
    uint32_t enablement_count;
    struct etwas_registry_enablement *enablements;
    struct etwas_registry_template *private; /* of a TEMPLATE; else NULL */
};

/*
 * Encodes an enablement at `bytes`, which has `room`. *size is what it needs, also where that is
 * more. ERROR_INSUFFICIENT_BUFFER; ERROR_INVALID_PARAMETER: more filters, or more data of one, than
 * there may be.
 */
uint32_t etwas_registry_encode_enablement(const struct etwas_registry_enablement *enablement,
                                          void *bytes, size_t room, size_t *size);

/*
 * Decodes an enablement from the beginning of `bytes`; *used is its length. Its filters' data stay
 * where they are. ERROR_INVALID_DATA.
 */
uint32_t etwas_registry_decode_enablement(const void *bytes, size_t size,
                                          struct etwas_registry_enablement *enablement,
                                          size_t *used);

/*
 * Encodes an entry. *bytes is freed by the caller. ERROR_INVALID_PARAMETER: as above, or no name,
 * or no such state, or a TEMPLATE without a template; ERROR_BUFFER_OVERFLOW: it would be larger
 * than ETWAS_REGISTRY_ENTRY_BYTES; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_encode_entry(const struct etwas_registry_entry *entry, void **bytes,
                                     size_t *size);

/*
 * Decodes an entry, which the caller frees by one free(); `bytes` is not needed any more.
 * ERROR_INVALID_DATA; ERROR_NOT_SUPPORTED: it is of another version; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_decode_entry(const void *bytes, size_t size,
                                     struct etwas_registry_entry **entry);

#endif
