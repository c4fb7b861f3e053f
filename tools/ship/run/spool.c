/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/spool.h"

#include "print/human.h"
#include "ship/message.h"
#include "ship/run/entries.h"
#include "ship/run/pools.h"
#include "ship/run/remove.h"
#include "ship/run/written.h"
#include "ship/state/dropped_files.h"
#include "ship/wait.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEEP_DONE_S = 30 * 86400,
    MOST_OWED = 1024, /* at a time: the other places in the list are for files */
};

static bool is_removed(const char *path, const struct stat *facts)
{
    bool is_removed = etwas_ship_remove(path, facts);

    if (!is_removed && errno != 0) {
        etwas_ship_message(path, "it cannot be removed: %s", strerror(errno));
    }
    return is_removed;
}

void etwas_ship_spool_remove(const struct etwas_ship_source *source)
{
    (void)is_removed(source->path, &source->facts);
}

/* Returns whether the file still has its name, and nothing was appended after it was sent. */
static bool is_as_it_arrived(const struct etwas_ship_source *source, struct stat *facts)
{
    return etwas_ship_file_look(source->file) && etwas_ship_is_file(source->path, facts) &&
           etwas_ship_is_same(facts, &source->facts) &&
           (uint64_t)facts->st_size == etwas_ship_file_facts(source->file)->bytes &&
           (uint64_t)facts->st_size == source->cursor->place.offset;
}

void etwas_ship_spool_arrived(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct stat facts;

    if (source->part == ETWAS_SHIP_RECOVERED_PART && run->settings->recovers) {
        etwas_ship_pools_arrived(run, source->path);
    }
    if (run->settings->deletes && is_as_it_arrived(source, &facts) &&
        is_removed(source->path, &facts)) {
        /* If the file comes back, the servers know that they have it. */
        etwas_ship_state_remove(run->state, &source->cursor->key);
    }
}

/* ---- what is owed ---------------------------------------------------------------------------- */

/*
 * Returns whether the cursor is not needed any more. Without it, an existing file would be sent
 * again, even if the servers have deleted its rows since.
 */
static bool is_over(const struct etwas_ship_run *run, const struct etwas_ship_cursor *cursor,
                    int64_t age_s)
{
    char path[PATH_MAX];

    if (cursor->stage != ETWAS_SHIP_DONE || (!cursor->gone.is_there && age_s <= KEEP_DONE_S)) {
        return false;
    }
    if (run->folder == NULL || cursor->gone.is_there) {
        return true;
    }
    (void)snprintf(path, sizeof path, "%.3000s/%s", run->folder, cursor->file);
    return etwas_ship_is_missing(path);
}

/* Returns false if there is not enough memory, or no place in the list. */
static bool add_owed(struct etwas_ship_run *run, const struct etwas_ship_cursor *cursor)
{
    static const struct stat none;
    struct etwas_ship_cursor *own = malloc(sizeof *own);
    struct etwas_ship_source *source =
        own != NULL ? etwas_ship_sources_add(&run->sources, cursor->file, &none) : NULL;

    if (source == NULL) {
        free(own);
        return false;
    }
    *own = *cursor;
    source->cursor = own;
    source->is_gone = true;
    source->session = cursor->key.session;
    source->part = cursor->key.part;
    source->shard = etwas_ship_target_shard(run->target, source->session);
    return true;
}

struct owing {
    struct etwas_ship_run *run;
    uint32_t room;
};

static bool take_owed(void *context, const struct etwas_ship_cursor *cursor, int64_t age_s)
{
    struct owing *owing = context;
    struct etwas_ship_run *run = owing->run;

    if (!cursor->gone.is_there || cursor->stage == ETWAS_SHIP_DONE) {
        if (is_over(run, cursor, age_s)) {
            etwas_ship_state_remove(run->state, &cursor->key);
        }
        return true;
    }
    return owing->room-- != 0 && add_owed(run, cursor);
}

static bool has_owed(const struct etwas_ship_run *run)
{
    for (uint32_t i = 0; i < run->sources.count; i++) {
        if (run->sources.list[i]->is_gone) {
            return true;
        }
    }
    return false;
}

void etwas_ship_spool_owed(struct etwas_ship_run *run)
{
    struct owing owing = {.run = run, .room = MOST_OWED};

    if (!run->owes_more || etwas_ship_now_ms() < run->owed_ms || has_owed(run)) {
        return;
    }
    run->owes_more = !etwas_ship_state_each(run->state, run->target_name, take_owed, &owing);
    run->owed_ms = etwas_ship_now_ms() + ETWAS_SHIP_LOOK_MS;
}

enum etwas_ship_turn etwas_ship_spool_turn(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source)
{
    struct etwas_ship_cursor *cursor = source->cursor;
    enum etwas_ship_work work = ETWAS_SHIP_SEND_GONE;
    struct etwas_ship_job *job =
        source->in_flight == 0 ? etwas_ship_lanes_job(run->lanes, source->shard) : NULL;

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    /*
     * The block in flight cannot be made again, so the servers are queried whether it has arrived.
     */
    if (cursor->stage == ETWAS_SHIP_SENT_BLOCK ||
        (cursor->stage == ETWAS_SHIP_SENT_GONE && etwas_ship_cursor_is_old(cursor))) {
        work = ETWAS_SHIP_ASK;
        job->ended_ns = (int64_t)cursor->end.values[ETWAS_SHIP_BUFFER_LAST_TIME];
        job->gone_ns = (int64_t)cursor->gone.values[ETWAS_SHIP_BUFFER_LAST_TIME];
    } else {
        job->is_again = cursor->stage == ETWAS_SHIP_SENT_GONE;
        if (!job->is_again) {
            cursor->dialect = *etwas_ship_target_dialect(run->target);
        }
        etwas_ship_dropped_rows(cursor, &job->buffers);
    }
    etwas_ship_turn_put(run, source, job, work);
    return ETWAS_SHIP_TURN_TAKEN;
}

static void forget(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    etwas_ship_state_remove(run->state, &source->cursor->key);
    etwas_ship_sources_drop(&run->sources, source);
}

void etwas_ship_spool_done(struct etwas_ship_run *run, struct etwas_ship_source *source,
                           const struct etwas_ship_job *job)
{
    struct etwas_ship_cursor *cursor = source->cursor;

    if (job->work == ETWAS_SHIP_SEND_GONE ||
        (job->work == ETWAS_SHIP_ASK && job->progress.has_this_gone)) {
        forget(run, source);
    } else if (job->work == ETWAS_SHIP_ASK && cursor->stage == ETWAS_SHIP_SENT_GONE) {
        cursor->since_unix_s = (int64_t)time(NULL);
    } else if (job->work == ETWAS_SHIP_ASK && !etwas_ship_dropped_account(cursor, &job->progress)) {
        forget(run, source);
    }
}

/* ---- the limit ------------------------------------------------------------------------------- */

/*
 * Returns where the dropped events begin. A waiting job is withdrawn, so its events are dropped,
 * too. What is in flight is in doubt until the servers are queried. If they never were, all of the
 * file is in doubt.
 */
static struct etwas_ship_position begin_of_gone(struct etwas_ship_run *run,
                                                struct etwas_ship_source *source)
{
    struct etwas_ship_job *waiting = etwas_ship_lanes_withdraw(run->lanes, source->shard, source);
    struct etwas_ship_position from = source->next;

    if (waiting != NULL) {
        source->in_flight--;
        from = waiting->work == ETWAS_SHIP_SEND_BLOCK ? waiting->block.bounds.from : from;
        etwas_ship_lanes_free(run->lanes, waiting);
    }
    if (source->phase == ETWAS_SHIP_ASKING || source->is_on_its_way) {
        from = source->cursor->stage == ETWAS_SHIP_SENT_BLOCK ? source->cursor->bounds.until
                                                              : source->cursor->place;
        source->cursor->stage = ETWAS_SHIP_SENT_BLOCK;
    }
    return from;
}

static bool count(struct etwas_ship_run *run, struct etwas_ship_source *source,
                  struct etwas_ship_owed *owed)
{
    struct etwas_ship_position from = begin_of_gone(run, source);
    struct etwas_columns rows;
    bool is_counted;

    /* No process writes the file, so its present content is all of it. */
    if (!etwas_ship_file_look(source->file) ||
        source->cursor->written_as != etwas_ship_file_facts(source->file)->written_as) {
        return false;
    }
    etwas_ship_file_leave(source->file);
    etwas_columns_open(&rows, ETWAS_SHIP_BUFFERS, etwas_ship_target_dialect(run->target));
    is_counted = etwas_ship_dropped_count(source->file, &from, &rows, owed);
    etwas_columns_close(&rows);
    return is_counted;
}

/* Writes to the cursor that the file is dropped, before it is removed. */
static bool count_as_gone(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_owed owed;
    bool is_kept;

    if (!count(run, source, &owed)) {
        return false;
    }
    etwas_ship_lanes_hold(run->lanes, source->shard);
    source->cursor->gone = owed.gone;
    source->cursor->end = owed.end;
    is_kept = etwas_ship_state_write(run->state, source->cursor);
    if (!is_kept) {
        source->cursor->gone.is_there = false;
    }
    etwas_ship_lanes_let_go(run->lanes, source->shard);
    return is_kept;
}

static bool let_go(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    char count[ETWAS_HUMAN_CHARACTERS];

    if (!count_as_gone(run, source)) {
        etwas_ship_message(source->path,
                           "there is more than the spool's limit, but that it goes cannot "
                           "be kept: it stays");
        if (source->in_flight == 0) {
            etwas_ship_sources_shut(&run->sources, source);
        }
        return false;
    }
    etwas_ship_message(
        source->path,
        "there is more than the spool's limit: it goes with %s events that were not sent",
        etwas_human_count(count, source->cursor->gone.values[ETWAS_SHIP_BUFFER_EVENTS]));
    etwas_ship_spool_remove(source);
    etwas_ship_file_close(source->file);
    source->file = NULL;
    run->sources.open--;
    source->is_gone = true;
    source->due_ms = 0;
    return true;
}

/*
 * Returns whether only its end is in flight. While a block is, the lane has the cursor, which is
 * not read then.
 */
static bool is_ending(const struct etwas_ship_source *source)
{
    bool is_in_doubt = source->is_on_its_way || source->phase == ETWAS_SHIP_ASKING;

    return source->phase == ETWAS_SHIP_ENDING ||
           (is_in_doubt && source->cursor->stage == ETWAS_SHIP_SENT_END);
}

/*
 * Removes a finished file. If it was given up, its events are not counted: their number is unknown,
 * or they may be another file's.
 */
static bool remove_finished(const struct etwas_ship_entry *entry)
{
    if (!is_removed(entry->path, &entry->facts)) {
        return false;
    }
    if (!entry->has_arrived) {
        etwas_ship_message(entry->path,
                           "there is more than the spool's limit: it goes, and was not "
                           "sent; what was in it is not counted");
    }
    return true;
}

/* Removes a file, unless a process writes it or only its end has not arrived. */
static bool remove_entry(struct etwas_ship_run *run, const struct etwas_ship_entry *entry)
{
    struct etwas_ship_source *source = etwas_ship_sources_find(&run->sources, entry->path);

    if (etwas_ship_is_written(entry->path)) {
        return false;
    }
    if (entry->is_finished) {
        return remove_finished(entry);
    }
    if (source != NULL && source->phase == ETWAS_SHIP_CLOSED) {
        (void)etwas_ship_open_source(run, source);
        source = etwas_ship_sources_find(&run->sources, entry->path);
    }
    return source != NULL && source->file != NULL && !is_ending(source) && let_go(run, source);
}

void etwas_ship_spool_limit(struct etwas_ship_run *run)
{
    uint64_t limit = run->settings->spool_limit_bytes;
    struct etwas_ship_entries entries;

    if (limit == 0 || !etwas_ship_entries_read(&entries, run->folder, &run->sources)) {
        return;
    }
    for (uint32_t i = 0; i < entries.count && entries.bytes > limit; i++) {
        if (remove_entry(run, &entries.list[i])) {
            entries.bytes -= (uint64_t)entries.list[i].facts.st_size;
        }
    }
    etwas_ship_entries_free(&entries);
}
