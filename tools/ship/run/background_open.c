/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/background_open.h"

#include "print/human.h"
#include "ship/message.h"
#include "ship/run/entries.h"
#include "ship/run/remove.h"
#include "ship/run/written.h"
#include "ship/state/dropped_files.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- the limit ------------------------------------------------------------------------------- */

/*
 * Reads the file's cursor. Without one, it is unknown what the servers have, as if a block were in
 * flight.
 */
static void find_cursor(const struct etwas_ship_run *run, const char *path,
                        const struct etwas_ship_file *file, struct etwas_ship_cursor *cursor)
{
    if (!etwas_ship_state_find(run->state, run->target_name, etwas_ship_file_facts(file), cursor)) {
        cursor->stage = ETWAS_SHIP_SENT_BLOCK;
        etwas_ship_cursor_name(cursor, run->settings->host, path);
    }
}

/* Writes to the cursor that the file is dropped, before it is removed. */
static bool count_as_gone(const struct etwas_ship_run *run, struct etwas_ship_file *file,
                          struct etwas_ship_cursor *cursor)
{
    struct etwas_ship_position from =
        cursor->bounds.rows != 0 ? cursor->bounds.until : cursor->place;
    const struct etwas_ship_dialect any = {0};
    struct etwas_columns rows;
    struct etwas_ship_owed owed;
    bool is_counted;

    etwas_columns_open(&rows, ETWAS_SHIP_BUFFERS, &any);
    etwas_ship_file_leave(file);
    is_counted = etwas_ship_dropped_count(file, &from, &rows, &owed);
    etwas_columns_close(&rows);
    cursor->gone = owed.gone;
    cursor->end = owed.end;
    return is_counted && etwas_ship_state_write(run->state, cursor);
}

/* Returns whether all of it has arrived, or its loss has been counted. */
static bool is_settled(const struct etwas_ship_file *file, const struct etwas_ship_cursor *cursor)
{
    return cursor->gone.is_there || (cursor->stage == ETWAS_SHIP_DONE &&
                                     etwas_ship_file_facts(file)->bytes == cursor->place.offset);
}

/*
 * Returns whether unsettled events can be counted as dropped. If only the file's end is in flight,
 * all of them may have arrived.
 */
static bool is_countable(const struct etwas_ship_cursor *cursor)
{
    return cursor->stage != ETWAS_SHIP_SENT_END && cursor->stage != ETWAS_SHIP_DONE;
}

/* Returns whether the file may be removed. Counts its unsent events first. */
static bool settle(const struct etwas_ship_run *run, const char *path)
{
    static struct etwas_ship_cursor cursor;
    char count[ETWAS_HUMAN_CHARACTERS];
    const char *reason;
    struct etwas_ship_file *file = etwas_ship_file_open(path, run->settings->host, &reason);
    bool may_go;

    if (file == NULL) {
        return false;
    }
    find_cursor(run, path, file, &cursor);
    if (cursor.written_as != etwas_ship_file_facts(file)->written_as) {
        etwas_ship_file_close(file);
        return false; /* the cursor is another file's */
    }
    may_go = is_settled(file, &cursor);
    if (!may_go && is_countable(&cursor) && count_as_gone(run, file, &cursor)) {
        may_go = true;
        etwas_ship_message(
            path,
            "there is more than the spool's limit: it goes with %s events that were not "
            "sent",
            etwas_human_count(count, cursor.gone.values[ETWAS_SHIP_BUFFER_EVENTS]));
    }
    etwas_ship_file_close(file);
    return may_go;
}

static void hold_limit(const struct etwas_ship_run *run)
{
    struct etwas_ship_entries entries;
    uint64_t limit = run->settings->spool_limit_bytes;

    if (!etwas_ship_entries_read(&entries, run->folder, NULL)) {
        return;
    }
    for (uint32_t i = 0; i < entries.count && entries.bytes > limit; i++) {
        const struct etwas_ship_entry *entry = &entries.list[i];

        if (!etwas_ship_is_written(entry->path) && settle(run, entry->path) &&
            etwas_ship_remove(entry->path, &entry->facts)) {
            entries.bytes -= (uint64_t)entry->facts.st_size;
        }
    }
    etwas_ship_entries_free(&entries);
}

/* ---- the thread ------------------------------------------------------------------------------ */

struct opening {
    const struct etwas_ship_options *options;
    struct etwas_ship_target *target;
    enum etwas_ship_opened opened;
    int done; /* readable when the thread is done */
};

static void *open_target(void *argument)
{
    struct opening *opening = argument;
    const uint64_t one = 1;

    opening->opened = etwas_ship_target_open(opening->options, &opening->target);
    (void)!write(opening->done, &one, sizeof one);
    return NULL;
}

enum etwas_ship_opened etwas_ship_background_open(struct etwas_ship_run *run,
                                                  const struct etwas_ship_options *options)
{
    struct opening opening = {.options = options, .done = eventfd(0, EFD_CLOEXEC)};
    struct pollfd done = {.fd = opening.done, .events = POLLIN};
    bool has_limit = run->folder != NULL && run->settings->spool_limit_bytes != 0;
    pthread_t thread;

    if (!has_limit || opening.done < 0 ||
        pthread_create(&thread, NULL, open_target, &opening) != 0) {
        opening.opened = etwas_ship_target_open(options, &opening.target);
    } else {
        while (poll(&done, 1, ETWAS_SHIP_LOOK_MS) == 0) {
            hold_limit(run);
        }
        (void)pthread_join(thread, NULL);
    }
    if (opening.done >= 0) {
        (void)close(opening.done);
    }
    run->target = opening.target;
    return opening.opened;
}
