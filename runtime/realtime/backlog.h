/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The backlog of a real-time session: what was flushed while no consumer was connected, in a file
 * without a name and of bounded size (R170). Read from its beginning, once; when all of it has been
 * read the file is emptied.
 *
 *     entry    etwas_backlog_entry, then `bytes` bytes: a buffer's header and records, or nothing
 *
 * One thread at a time, but for the bytes of an entry that was taken: these stay where they are
 * until who took it has read them, or puts back what it does not want.
 */
#ifndef ETWAS_REALTIME_BACKLOG_H
#define ETWAS_REALTIME_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"

struct etwas_backlog {
    int descriptor; /* -1: closed */
    uint64_t limit_bytes;
    uint64_t begin;   /* of what has not been taken */
    uint64_t end;     /* of what was appended */
    uint32_t readers; /* of entries that were taken: the file is not emptied under them */
    uint64_t buffers; /* between the two */
    uint64_t records; /* in them, and nowhere else */
    bool failed;      /* the system refused what was asked of it last */
};

struct etwas_backlog_entry {
    uint32_t bytes;   /* that follow; 0: a bound and no buffer */
    uint32_t records; /* for the accounts, as in struct etwas_realtime_buffer */
    uint32_t given;   /* likewise */
    uint32_t notices; /* ETWAS_ETL_BUFFER_EVENTS_LOST and the like */
    int64_t bound;    /* of an entry without a buffer */
};
_Static_assert(sizeof(struct etwas_backlog_entry) == 24, "no padding goes into the file");

/*
 * Opens a file without a name in `folder` (NULL: $TMPDIR, else /var/tmp). A Win32 code, as from
 * etwas_file_create.
 */
uint32_t etwas_backlog_open(struct etwas_backlog *backlog, const char *folder,
                            uint64_t limit_bytes);
void etwas_backlog_close(struct etwas_backlog *backlog);

/* How many entries with `bytes` bytes each would still fit. */
uint64_t etwas_backlog_room(const struct etwas_backlog *backlog, uint32_t bytes);

/*
 * Appends an entry and its bytes: a buffer header, and what comes behind it. False: it does not
 * fit, or the system refused it; what was there before is still there.
 */
bool etwas_backlog_append(struct etwas_backlog *backlog, const struct etwas_backlog_entry *entry,
                          const struct etwas_etl_buffer_header *header, const void *data);

/*
 * The same in front of all others, where the entry was taken from of which this is the rest: the
 * entry taken last is put back first.
 */
bool etwas_backlog_put_back(struct etwas_backlog *backlog, const struct etwas_backlog_entry *entry,
                            const struct etwas_etl_buffer_header *header, const void *data);

static inline bool etwas_backlog_is_empty(const struct etwas_backlog *backlog)
{
    return backlog->begin == backlog->end;
}

/*
 * Takes the next entry: its head, and where its bytes are. False: the system refused, or the head
 * is damaged; then what comes after it cannot be found.
 */
bool etwas_backlog_take(struct etwas_backlog *backlog, struct etwas_backlog_entry *entry,
                        uint64_t *position);

/* Reads the bytes of an entry that was taken. False: the system refused. */
bool etwas_backlog_read(int descriptor, const struct etwas_backlog_entry *entry, uint64_t position,
                        void *target);

/* Forgets what has not been taken. */
void etwas_backlog_empty(struct etwas_backlog *backlog);

#endif
