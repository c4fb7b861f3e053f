/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/backlog.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"

static const char default_folder[] = "/var/tmp";

uint32_t etwas_backlog_open(struct etwas_backlog *backlog, const char *folder, uint64_t limit_bytes)
{
    const char *temporary = secure_getenv("TMPDIR");

    if (folder == NULL) {
        folder = temporary != NULL && *temporary != 0 ? temporary : default_folder;
    }
    *backlog = (struct etwas_backlog){.limit_bytes = limit_bytes};
    return etwas_file_create_unnamed(folder, &backlog->descriptor);
}

void etwas_backlog_close(struct etwas_backlog *backlog)
{
    if (backlog->descriptor >= 0) {
        (void)etwas_file_close(backlog->descriptor);
        backlog->descriptor = -1;
    }
}

uint64_t etwas_backlog_room(const struct etwas_backlog *backlog, uint32_t bytes)
{
    return (backlog->limit_bytes - backlog->end) / (bytes + sizeof(struct etwas_backlog_entry));
}

static uint64_t ungiven(const struct etwas_backlog_entry *entry)
{
    return entry->records > entry->given ? entry->records - entry->given : 0;
}

static bool write_at(struct etwas_backlog *backlog, uint64_t position,
                     const struct etwas_backlog_entry *entry,
                     const struct etwas_etl_buffer_header *header, const void *data)
{
    struct etwas_backlog_entry head = *entry;
    uint32_t header_bytes = entry->bytes != 0 ? sizeof *header : 0;
    struct iovec pieces[] = {{&head, sizeof head},
                             {(void *)(uintptr_t)header, header_bytes},
                             {(void *)(uintptr_t)data, entry->bytes - header_bytes}};
    int error;

    backlog->failed = etwas_file_write(backlog->descriptor, pieces, 3, position, &error) !=
                      sizeof head + (uint64_t)entry->bytes;
    if (!backlog->failed) {
        backlog->buffers += entry->bytes != 0;
        backlog->records += ungiven(entry);
    }
    return !backlog->failed;
}

bool etwas_backlog_append(struct etwas_backlog *backlog, const struct etwas_backlog_entry *entry,
                          const struct etwas_etl_buffer_header *header, const void *data)
{
    if (etwas_backlog_room(backlog, entry->bytes) == 0) {
        return false;
    }
    if (!write_at(backlog, backlog->end, entry, header, data)) {
        (void)etwas_file_truncate(backlog->descriptor, backlog->end);
        return false;
    }
    backlog->end += sizeof *entry + (uint64_t)entry->bytes;
    return true;
}

bool etwas_backlog_put_back(struct etwas_backlog *backlog, const struct etwas_backlog_entry *entry,
                            const struct etwas_etl_buffer_header *header, const void *data)
{
    uint64_t begin = backlog->begin - (sizeof *entry + (uint64_t)entry->bytes);

    if (!write_at(backlog, begin, entry, header, data)) {
        return false;
    }
    backlog->begin = begin;
    return true;
}

bool etwas_backlog_take(struct etwas_backlog *backlog, struct etwas_backlog_entry *entry,
                        uint64_t *position)
{
    uint64_t left = backlog->end - backlog->begin;

    if (left < sizeof *entry ||
        etwas_file_read(backlog->descriptor, entry, sizeof *entry, backlog->begin) !=
            sizeof *entry ||
        entry->bytes > left - sizeof *entry || ungiven(entry) > backlog->records) {
        return false;
    }
    *position = backlog->begin + sizeof *entry;
    backlog->begin = *position + entry->bytes;
    backlog->buffers -= entry->bytes != 0;
    backlog->records -= ungiven(entry);
    return true;
}

bool etwas_backlog_read(int descriptor, const struct etwas_backlog_entry *entry, uint64_t position,
                        void *target)
{
    return etwas_file_read(descriptor, target, entry->bytes, position) == entry->bytes;
}

void etwas_backlog_empty(struct etwas_backlog *backlog)
{
    backlog->begin = backlog->end;
    backlog->buffers = 0;
    backlog->records = 0;
    if (backlog->readers == 0) {
        backlog->begin = 0;
        backlog->end = 0;
        (void)etwas_file_truncate(backlog->descriptor, 0);
    }
}
