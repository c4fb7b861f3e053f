/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host publishes of its session for other processes: its properties, and how it enables
 * providers. It is encoded in the session's entry of the registry and in the message ENABLE,
 * little-endian. The decoder checks everything, also the lengths against each other.
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
    ETWAS_REGISTRY_FILTER_BYTES = 64 << 10, /* the most data of one filter */
    ETWAS_REGISTRY_ENTRY_BYTES = 1 << 20,
};

struct etwas_registry_filter {
    uint32_t type; /* EVENT_FILTER_TYPE_... */
    uint32_t bytes;
    const void
        *data; /* decoded: points into the decoded memory, at a multiple of 8 from its beginning */
};

/* The arguments of an EnableTraceEx2; a guest applies them as they are. */
struct etwas_registry_enablement {
    etwas_guid provider;
    etwas_guid source;
    uint64_t match_any;
    uint64_t match_all;
    uint64_t number;   /* number of the entry's change that set the enablement, … */
    uint64_t captured; /* … and of the last one that requested its state; 0: none has */
    /* time of the call, by this process's CLOCK_MONOTONIC; 0: its host is of an older build */
    uint64_t asked_ns;
    uint32_t property;
    uint8_t level;
    bool is_group;
    uint32_t filter_count;
    struct etwas_registry_filter filters[ETWAS_REGISTRY_FILTERS];
};

enum etwas_registry_state {
    ETWAS_REGISTRY_STARTING, /* visible only to its host */
    ETWAS_REGISTRY_OPEN,
    ETWAS_REGISTRY_CLOSING,
};

enum etwas_registry_kind {
    /* a session of one host; other processes may control it, and log to it unless it is unshared */
    ETWAS_REGISTRY_SHARED,
    /* of a private session: each process that it is meant for starts an instance */
    ETWAS_REGISTRY_TEMPLATE,
    /* records only its own process; snapshots can be requested. Its name is not acquired */
    ETWAS_REGISTRY_RECORDER,
};

enum {
    ETWAS_REGISTRY_PROCESSES = 8,
    ETWAS_REGISTRY_PROGRAM_UNITS = 512,
};

/*
 * The template of a private session. Each process starts an instance from it, which differs only by
 * the process. It is encoded as it is here: all members are 32-bit numbers except the texts, which
 * are terminated.
 */
struct etwas_registry_template {
    uint32_t bytes; /* of this structure */
    uint32_t buffer_size_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t maximum_file_size;
    uint32_t flush_timer;
    uint32_t large_pages;
    uint32_t flushes;       /* how often FLUSH was requested, … */
    uint32_t new_files;     /* … UPDATE with another file … */
    uint32_t next_files;    /* … INCREMENT_FILE … */
    uint32_t snapshots;     /* … and a snapshot */
    uint32_t process_count; /* the processes it is meant for; 0: any */
    uint32_t process_ids[ETWAS_REGISTRY_PROCESSES];
    uint32_t has_programs; /* 0: it is meant for any program */
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
    uint32_t kind;  /* ETWAS_REGISTRY_SHARED...; unknown ones are of later builds */
    /*
     * major version of its pool's layout; a process of another one cannot log to it
     * (shared/layout.h)
     */
    uint32_t layout;
    uint32_t log_file_mode;
    uint32_t clock;
    /* the gate of its slots, and so of its handles; 0: none yet, or an older build's host */
    uint32_t gate;
    /* offset of its host's clocks (platform/time_namespace.h), which are those of QPC's stamps */
    int64_t time_offset_ns;
    /* ETWAS_UNSHARED_*: why no other process logs to a SHARED session; 0: others do */
    uint32_t unshared;
    uint32_t enablement_count;
    struct etwas_registry_enablement *enablements;
    struct etwas_registry_template *private; /* of a TEMPLATE; else NULL */
};

/*
 * Encodes an enablement at `bytes`, which has `room`. *size receives the size that it needs, even
 * if that is more. ERROR_INSUFFICIENT_BUFFER; ERROR_INVALID_PARAMETER: too many filters, or too
 * much data of one.
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
 * Encodes an entry. The caller frees *bytes. ERROR_INVALID_PARAMETER: as above, or no name,
 * or no such state, or a TEMPLATE without a template; ERROR_BUFFER_OVERFLOW: it would be larger
 * than ETWAS_REGISTRY_ENTRY_BYTES; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_encode_entry(const struct etwas_registry_entry *entry, void **bytes,
                                     size_t *size);

/*
 * Decodes an entry, which the caller frees by one free(). The entry does not refer to `bytes`.
 * ERROR_INVALID_DATA; ERROR_NOT_SUPPORTED: it is of another version; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_registry_decode_entry(const void *bytes, size_t size,
                                     struct etwas_registry_entry **entry);

#endif
