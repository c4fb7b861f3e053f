/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/backlog.h"

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
    (void)etwas_file_close(backlog->descriptor);
}

bool etwas_backlog_has_room(const struct etwas_backlog *backlog, uint64_t bytes)
{
    return bytes + sizeof(struct etwas_backlog_entry) <= backlog->limit_bytes - backlog->end;
}

bool etwas_backlog_append(struct etwas_backlog *backlog, const struct etwas_backlog_entry *entry,
                          const void *bytes)
{
    struct etwas_backlog_entry head = *entry;
    struct iovec pieces[] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, entry->bytes}};
    uint64_t total = sizeof head + (uint64_t)entry->bytes;
    int error;

    if (!etwas_backlog_has_room(backlog, entry->bytes)) {
        return false;
    }
    if (etwas_file_write(backlog->descriptor, pieces, 2, backlog->end, &error) != total) {
        backlog->failed = true;
        (void)etwas_file_truncate(backlog->descriptor, backlog->end);
        return false;
    }
    backlog->end += total;
    backlog->buffers += entry->bytes != 0;
    backlog->records += entry->records;
    return true;
}

void etwas_backlog_empty(struct etwas_backlog *backlog)
{
    backlog->begin = 0;
    backlog->end = 0;
    backlog->buffers = 0;
    backlog->records = 0;
    (void)etwas_file_truncate(backlog->descriptor, 0);
}

bool etwas_backlog_read_entry(struct etwas_backlog *backlog, struct etwas_backlog_entry *entry)
{
    uint64_t left = backlog->end - backlog->begin;

    if (left < sizeof *entry ||
        etwas_file_read(backlog->descriptor, entry, sizeof *entry, backlog->begin) !=
            sizeof *entry ||
        entry->bytes > left - sizeof *entry) {
        backlog->failed = true;
        return false;
    }
    return true;
}

bool etwas_backlog_read_bytes(struct etwas_backlog *backlog,
                              const struct etwas_backlog_entry *entry, void *target)
{
    if (etwas_file_read(backlog->descriptor, target, entry->bytes,
                        backlog->begin + sizeof *entry) != entry->bytes) {
        backlog->failed = true;
        return false;
    }
    backlog->begin += sizeof *entry + (uint64_t)entry->bytes;
    backlog->buffers -= entry->bytes != 0;
    backlog->records -= entry->records;
    return true;
}
