/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Opens a file, and decides by its session and its cursor whether it is sent. */

#include "ship/message.h"
#include "ship/run/spool.h"
#include "ship/run/turn.h"
#include "ship/run/written.h"
#include "ship/wait.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns whether nothing has changed since all of it had arrived. */
static bool is_resting(struct etwas_ship_source *source)
{
    struct stat facts;

    if (source->resting_mark != 0 &&
        (stat(source->path, &facts) != 0 || !etwas_ship_is_written(source->path) ||
         etwas_ship_mark(source->path, &facts) != source->resting_mark)) {
        source->resting_mark = 0;
    }
    return source->resting_mark != 0;
}

/*
 * Closes sources that have nothing to do, or have had many turns, if too many are open. Returns
 * false if there is no room.
 */
static bool make_room(struct etwas_ship_run *run)
{
    struct etwas_ship_sources *sources = &run->sources;

    for (uint32_t i = 0; sources->open >= ETWAS_SHIP_OPEN_FILES && i < sources->count; i++) {
        struct etwas_ship_source *other = sources->list[i];

        if (other->file != NULL && other->in_flight == 0 && other->phase == ETWAS_SHIP_READING &&
            other->behind_buffer == 0 &&
            (other->must_look || other->blocks >= ETWAS_SHIP_TURN_BLOCKS)) {
            etwas_ship_sources_shut(sources, other);
        }
    }
    return sources->open < ETWAS_SHIP_OPEN_FILES;
}

/* Allocates the source's cursor; *is_known says whether there was one. */
static bool find_cursor(struct etwas_ship_run *run, struct etwas_ship_source *source,
                        bool *is_known)
{
    struct etwas_ship_cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL) {
        return false;
    }
    *is_known = etwas_ship_state_find(run->state, run->target_name,
                                      etwas_ship_file_facts(source->file), cursor);
    if (cursor->stage == ETWAS_SHIP_AT_REST) {
        etwas_ship_cursor_name(cursor, run->settings->host, source->path);
        cursor->dialect = *etwas_ship_target_dialect(run->target);
    }
    source->cursor = cursor;
    return true;
}

/*
 * Reports that the file cannot be sent. A file that is being created is not reported, but opened
 * again later. An empty file without a writer was left by a process that was killed.
 */
static enum etwas_ship_turn complain_of(struct etwas_ship_run *run,
                                        struct etwas_ship_source *source, const char *reason)
{
    struct stat facts;

    if (run->folder != NULL && etwas_ship_is_written(source->path)) {
        return etwas_ship_turn_pass(source);
    }
    if (run->folder != NULL && etwas_ship_is_missing(source->path)) {
        etwas_ship_sources_drop(&run->sources, source);
        return ETWAS_SHIP_TURN_LAST;
    }
    if (etwas_ship_is_file(source->path, &facts) && facts.st_size == 0) {
        etwas_ship_message(source->path, "it is empty");
        return etwas_ship_turn_finish(run, source);
    }
    etwas_ship_message(source->path, "it is not sent: %s", reason);
    return etwas_ship_turn_give_up(run, source);
}

/*
 * A session that got another log file while it ran has several files with the same buffer numbers.
 * Only one of them can be in a table.
 */
static enum etwas_ship_turn refuse_namesake(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source,
                                            const struct etwas_ship_cursor *cursor)
{
    char reason[ETWAS_SHIP_CURSOR_NAME_BYTES + 160];

    (void)snprintf(reason, sizeof reason,
                   "its session has written '%s' too, whose rows it would be taken for; "
                   "--table can name another table for it",
                   cursor->file);
    return etwas_ship_turn_refuse(run, source, reason);
}

/* Returns whether the file's end differs from the one when it was counted as dropped. */
static bool has_another_end(const struct etwas_ship_source *source,
                            const struct etwas_ship_row *end)
{
    int64_t ended_ns = end->is_there ? (int64_t)end->values[ETWAS_SHIP_BUFFER_LAST_TIME] : 0;

    return etwas_ship_file_facts(source->file)->ended_ns != ended_ns;
}

/*
 * Removes a file whose cursor says that it was dropped. A shipper was killed before it could do so.
 * The rows about it are owed, or have arrived.
 */
static enum etwas_ship_turn let_it_go(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                      const struct etwas_ship_cursor *cursor)
{
    if (run->folder == NULL) {
        return etwas_ship_turn_refuse(
            run, source, "there was more than the spool's limit, and it counts as gone");
    }
    if (has_another_end(source, &cursor->end)) {
        return etwas_ship_turn_refuse(
            run, source,
            "there was more than the spool's limit, and it counts as gone without "
            "what was appended to it since");
    }
    etwas_ship_spool_remove(source);
    etwas_ship_sources_drop(&run->sources, source);
    return ETWAS_SHIP_TURN_LAST;
}

/*
 * Returns whether a session rewrites the file in place, so that its buffers have no fixed places.
 */
static bool is_rewritten(const struct etwas_ship_source *source)
{
    const struct etwas_ship_facts *facts = etwas_ship_file_facts(source->file);

    return facts->is_circular && !facts->has_ended && etwas_ship_is_written(source->path);
}

/* Begins a file after it was identified by its content. */
static enum etwas_ship_turn begin(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    bool is_known;

    if (!find_cursor(run, source, &is_known)) {
        return complain_of(run, source, "there is not enough memory");
    }
    if (source->cursor->written_as != etwas_ship_file_facts(source->file)->written_as) {
        return refuse_namesake(run, source, source->cursor);
    }
    if (source->cursor->gone.is_there) {
        return let_it_go(run, source, source->cursor);
    }
    if (source->cursor->stage == ETWAS_SHIP_DONE) {
        if (etwas_ship_file_facts(source->file)->bytes > source->cursor->place.offset) {
            return etwas_ship_turn_refuse(
                run, source,
                "its end has been sent, and what was appended to it since has no place "
                "behind that");
        }
        etwas_ship_snapshots_meet(&run->snapshots, source->path,
                                  etwas_ship_file_facts(source->file), false);
        etwas_ship_spool_arrived(run, source);
        return etwas_ship_turn_finish(run, source);
    }
    etwas_ship_snapshots_meet(&run->snapshots, source->path, etwas_ship_file_facts(source->file),
                              true);
    if (run->folder == NULL && is_rewritten(source)) {
        return complain_of(run, source,
                           "its session replaces its oldest events in place; when that "
                           "has ended it can be sent");
    }
    if (run->folder == NULL) {
        etwas_ship_file_leave(source->file);
        source->is_left = true;
    }
    if (!is_known || etwas_ship_resume_is_doubtful(run, source)) {
        return etwas_ship_resume_ask(run, source);
    }
    etwas_ship_resume(source);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* Returns whether another file, or a link, has got its name since the folder was read. */
static bool is_replaced(const struct etwas_ship_source *source)
{
    struct stat facts;

    return !etwas_ship_is_file(source->path, &facts) || !etwas_ship_is_same(&facts, &source->facts);
}

enum etwas_ship_turn etwas_ship_open_source(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source)
{
    const struct etwas_ship_facts *facts;
    const struct etwas_ship_source *same;
    const char *reason;

    source->file = etwas_ship_file_open(source->path, run->settings->host, &reason);
    if (source->file == NULL) {
        return complain_of(run, source, reason);
    }
    run->sources.open++;
    if (run->folder != NULL && is_replaced(source)) {
        etwas_ship_sources_drop(&run->sources, source);
        return ETWAS_SHIP_TURN_LAST;
    }
    facts = etwas_ship_file_facts(source->file);
    source->session = facts->session;
    source->part = facts->part;
    source->shard = etwas_ship_target_shard(run->target, facts->session);
    if (run->is_one_session && facts->session != run->session) {
        return etwas_ship_turn_finish(run, source);
    }
    same = etwas_ship_sources_same(&run->sources, source);
    if (same != NULL && same->cursor->written_as != facts->written_as) {
        return refuse_namesake(run, source, same->cursor);
    }
    if (same != NULL && same->is_gone) {
        return let_it_go(run, source, same->cursor);
    }
    if (same != NULL) { /* a copy, or its new name: wait for the other one */
        etwas_ship_sources_shut(&run->sources, source);
        return etwas_ship_turn_pass(source);
    }
    return begin(run, source);
}

enum etwas_ship_turn etwas_ship_open_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source)
{
    if (is_resting(source)) {
        return etwas_ship_turn_pass(source);
    }
    return make_room(run) ? etwas_ship_open_source(run, source) : ETWAS_SHIP_TURN_PASSED;
}
