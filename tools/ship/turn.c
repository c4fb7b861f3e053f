/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is done for a file when it is its turn, and when a job of it is done.
 *
 *     CLOSED ─▶ cursor? ─ none, or in doubt for long ─▶ ASKING ─▶ READING ─▶ ENDING ─▶ finished
 *                  └──────── at rest, or to be sent again ──────────▲
 */

#include "ship/gone.h"
#include "ship/run.h"
#include "ship/say.h"
#include "ship/spool.h"
#include "ship/wait.h"
#include "ship/written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUIET_MS = 2000, /* nothing was written to a file for so long */
    LOOK_AT_REFUSED_MS = 30000,
};

static enum etwas_ship_turn pass(struct etwas_ship_source *source)
{
    source->due_ms = etwas_ship_now_ms() + ETWAS_SHIP_LOOK_MS;
    return ETWAS_SHIP_TURN_PASSED;
}

static enum etwas_ship_turn finish(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    run->unsent += source->is_unsent;
    etwas_ship_sources_finish(&run->sources, source);
    return ETWAS_SHIP_TURN_LAST;
}

/* Nothing more can be done with it, and it has been said why. */
static enum etwas_ship_turn give_up(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    if (source->in_flight != 0) {
        return pass(source); /* what is on its way stays so */
    }
    run->is_refused = run->is_refused || run->ends_when_done;
    source->is_unsent = true;
    return finish(run, source);
}

/*
 * It is not to be sent, though it can be read. While a session writes it that is not said: it may be another one by then. Its
 * cursor, which may be another file's, stays as it is.
 */
static enum etwas_ship_turn refuse(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                   const char *reason)
{
    etwas_ship_sources_shut(&run->sources, source);
    if (!run->ends_when_done && etwas_ship_is_written(source->path)) {
        source->due_ms = etwas_ship_now_ms() + LOOK_AT_REFUSED_MS;
        return ETWAS_SHIP_TURN_PASSED;
    }
    etwas_ship_say(source->path, "it is not sent: %s", reason);
    return give_up(run, source);
}

static void put(struct etwas_ship_run *run, struct etwas_ship_source *source,
                struct etwas_ship_job *job, enum etwas_ship_work work)
{
    job->work = work;
    job->source = source;
    job->cursor = source->cursor;
    source->in_flight++;
    etwas_ship_lanes_put(run->lanes, source->shard, job);
}

/* ---- where it goes on ------------------------------------------------------------------------ */

/* Do the rows that were on their way say what they would say now? */
static bool has_changed(const struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    const char *slash = strrchr(source->path, '/');
    const struct etwas_ship_cursor *cursor = source->cursor;
    const struct etwas_ship_dialect *dialect = etwas_ship_target_dialect(run->target);

    return strncmp(cursor->file, slash != NULL ? slash + 1 : source->path,
                   sizeof cursor->file - 1) != 0 ||
           memcmp(&cursor->dialect, dialect, sizeof *dialect) != 0;
}

/* Where servers may have forgotten the block, or it would be another one, sending it again may double it. */
static bool is_doubtful(const struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    const struct etwas_ship_cursor *cursor = source->cursor;
    int64_t age_s = (int64_t)time(NULL) - cursor->since_unix_s;

    return cursor->stage != ETWAS_SHIP_AT_REST &&
           (age_s > ETWAS_SHIP_DOUBT_S || age_s < 0 || has_changed(run, source));
}

static void go_on(struct etwas_ship_source *source)
{
    source->phase = ETWAS_SHIP_READING;
    source->next = source->cursor->place;
    source->ahead = source->cursor->ahead;
    source->is_on_its_way = source->cursor->stage != ETWAS_SHIP_AT_REST;
}

/* Nobody knows where it goes on but the servers: behind the last buffer that they have whole. */
static enum etwas_ship_turn go_on_behind(struct etwas_ship_run *run,
                                         struct etwas_ship_source *source,
                                         const struct etwas_ship_there *there)
{
    struct etwas_ship_cursor *cursor = source->cursor;

    if (etwas_ship_file_facts(source->file)->is_appended && there->events + there->buffers != 0) {
        etwas_ship_say(source->path,
                       "the servers have some of it, which is of several sessions, and what was "
                       "sent is not known any more; it is not sent");
        return give_up(run, source);
    }
    cursor->stage = ETWAS_SHIP_AT_REST;
    cursor->bounds = (struct etwas_ship_bounds){0};
    cursor->place = (struct etwas_ship_place){0};
    cursor->events = there->events;
    cursor->buffers = there->buffers;
    cursor->ahead = there->ahead;
    source->behind_buffer = there->last_buffer;
    go_on(source);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* What is done with the file is kept, so that the servers need not be asked again. */
static void keep_done(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    source->cursor->stage = ETWAS_SHIP_DONE;
    source->cursor->place =
        (struct etwas_ship_place){etwas_ship_file_facts(source->file)->bytes, 0};
    (void)etwas_ship_state_write(run->state, source->cursor);
}

static enum etwas_ship_turn settle(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                   const struct etwas_ship_there *there)
{
    const struct etwas_ship_cursor *cursor = source->cursor;

    if (there->has_gone) {
        return refuse(run, source,
                      "the servers were told that it went before all of it had been sent");
    }
    if (there->has_end) {
        keep_done(run, source);
        etwas_ship_spool_arrived(run, source);
        return finish(run, source);
    }
    if (there->has_other_end) {
        return refuse(run, source,
                      "the servers have the end of another file of its session and number, for "
                      "which it would be taken, or of itself before more was appended to it; "
                      "--table can name another table for it");
    }
    if (cursor->stage != ETWAS_SHIP_AT_REST && there->events == cursor->events &&
        there->buffers == cursor->buffers) {
        go_on(source); /* what was on its way has not arrived: the same again */
        return ETWAS_SHIP_TURN_TAKEN;
    }
    return go_on_behind(run, source, there);
}

/* The block, or the end, that was on its way when the shipper ended. */
static enum etwas_ship_turn send_again(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_cursor *cursor = source->cursor;
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);
    bool is_end = cursor->stage == ETWAS_SHIP_SENT_END;

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if ((is_end ? etwas_ship_cut_end(source->file, &job->block)
                : etwas_ship_cut_again(source->file, &cursor->bounds, &job->block)) !=
        ETWAS_SHIP_BLOCK) {
        etwas_ship_lanes_free(run->lanes, job);
        etwas_ship_say(source->path, "what was on its way cannot be read again: %s",
                       etwas_ship_file_reason(source->file));
        return give_up(run, source);
    }
    source->is_on_its_way = false;
    job->is_again = true;
    job->without_events = !is_end && cursor->ahead != 0;
    source->ahead -= job->without_events ? job->block.bounds.rows : 0;
    source->next = is_end ? source->next : job->block.bounds.until;
    source->phase = is_end ? ETWAS_SHIP_ENDING : source->phase;
    put(run, source, job, is_end ? ETWAS_SHIP_SEND_END : ETWAS_SHIP_SEND_BLOCK);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* One that has nothing to do, or has had many turns, is closed for this one. False: there is none. */
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

/* A cursor of its own; *is_known: there was one. */
static bool find_cursor(struct etwas_ship_run *run, struct etwas_ship_source *source,
                        bool *is_known)
{
    const char *slash = strrchr(source->path, '/');
    struct etwas_ship_key key = {.session = source->session, .part = source->part};
    struct etwas_ship_cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL) {
        return false;
    }
    (void)snprintf(key.target, sizeof key.target, "%s", run->target_name);
    *is_known = etwas_ship_state_read(run->state, &key, cursor);
    if (!*is_known) {
        *cursor = (struct etwas_ship_cursor){
            .key = key, .written_as = etwas_ship_file_facts(source->file)->written_as};
    }
    if (!*is_known || cursor->stage == ETWAS_SHIP_AT_REST) {
        (void)snprintf(cursor->host, sizeof cursor->host, "%s", run->settings->host);
        (void)snprintf(cursor->file, sizeof cursor->file, "%s",
                       slash != NULL ? slash + 1 : source->path);
        cursor->dialect = *etwas_ship_target_dialect(run->target);
    }
    source->cursor = cursor;
    return true;
}

/* One that is being created has nothing to say yet. One that is empty was, when its process was killed. */
static enum etwas_ship_turn complain_of(struct etwas_ship_run *run,
                                        struct etwas_ship_source *source, const char *reason)
{
    struct stat facts;

    if (run->folder != NULL && etwas_ship_is_written(source->path)) {
        return pass(source);
    }
    if (run->folder != NULL && etwas_ship_is_missing(source->path)) {
        etwas_ship_sources_drop(&run->sources, source);
        return ETWAS_SHIP_TURN_LAST;
    }
    if (etwas_ship_is_file(source->path, &facts) && facts.st_size == 0) {
        etwas_ship_say(source->path, "it is empty");
        return finish(run, source);
    }
    etwas_ship_say(source->path, "it is not sent: %s", reason);
    return give_up(run, source);
}

/*
 * A session that was given another log file while it ran has files whose buffers have the same numbers: one of them can be in
 * a table.
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
    return refuse(run, source, reason);
}

/*
 * A shipper was killed between the writing of its cursor, which says that it goes, and its removal. Its rows are owed, or have
 * arrived.
 */
static enum etwas_ship_turn let_it_go(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    if (run->folder == NULL) {
        return refuse(run, source, "there was more than the spool's limit, and it counts as gone");
    }
    (void)etwas_ship_spool_remove(run, source);
    etwas_ship_sources_drop(&run->sources, source);
    return ETWAS_SHIP_TURN_LAST;
}

static enum etwas_ship_turn ask(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    source->phase = ETWAS_SHIP_ASKING;
    job->ended_ns = etwas_ship_file_facts(source->file)->ended_ns;
    put(run, source, job, ETWAS_SHIP_ASK);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* Its buffers have no place that they keep. */
static bool is_rewritten(const struct etwas_ship_source *source)
{
    const struct etwas_ship_facts *facts = etwas_ship_file_facts(source->file);

    return facts->is_circular && !facts->has_ended && etwas_ship_is_written(source->path);
}

/* The file is known by its content now. */
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
        return let_it_go(run, source);
    }
    if (source->cursor->stage == ETWAS_SHIP_DONE) {
        if (etwas_ship_file_facts(source->file)->bytes > source->cursor->place.offset) {
            return refuse(run, source,
                          "its end has been sent, and what was appended to it since has no place "
                          "behind that");
        }
        etwas_ship_spool_arrived(run, source);
        return finish(run, source);
    }
    if (run->folder == NULL && is_rewritten(source)) {
        return complain_of(run, source,
                           "its session replaces its oldest events in place; when that "
                           "has ended it can be sent");
    }
    if (run->folder == NULL) {
        etwas_ship_file_leave(source->file);
        source->is_left = true;
    }
    if (!is_known || is_doubtful(run, source)) {
        source->phase = ETWAS_SHIP_ASKING;
        return ask(run, source);
    }
    go_on(source);
    return ETWAS_SHIP_TURN_TAKEN;
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
    facts = etwas_ship_file_facts(source->file);
    source->session = facts->session;
    source->part = facts->part;
    source->shard = etwas_ship_target_shard(run->target, facts->session);
    if (run->is_one_session && facts->session != run->session) {
        return finish(run, source);
    }
    same = etwas_ship_sources_same(&run->sources, source);
    if (same != NULL && same->cursor->written_as != facts->written_as) {
        return refuse_namesake(run, source, same->cursor);
    }
    if (same != NULL && same->is_gone) {
        return let_it_go(run, source);
    }
    if (same != NULL) {
        etwas_ship_sources_shut(&run->sources,
                                source); /* a copy, or its new name: after that one */
        return pass(source);
    }
    return begin(run, source);
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum etwas_ship_turn send_end(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (etwas_ship_cut_end(source->file, &job->block) != ETWAS_SHIP_BLOCK) {
        etwas_ship_lanes_free(run->lanes, job);
        etwas_ship_say(source->path, "its end cannot be read: %s",
                       etwas_ship_file_reason(source->file));
        return give_up(run, source);
    }
    source->phase = ETWAS_SHIP_ENDING;
    put(run, source, job, ETWAS_SHIP_SEND_END);
    return ETWAS_SHIP_TURN_TAKEN;
}

static enum etwas_ship_turn reopen(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    etwas_ship_sources_shut(&run->sources, source);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* All of a file that a session has open has arrived. It is closed until something changes. */
static enum etwas_ship_turn rest(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                 const struct stat *facts)
{
    etwas_ship_sources_shut(&run->sources, source);
    source->resting_mark = etwas_ship_mark(source->path, facts);
    return pass(source);
}

/* Nothing more is in it. One without an end is its session's unfinished file, and nothing says that it is complete. */
static enum etwas_ship_turn end(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct stat facts;

    if (etwas_ship_file_facts(source->file)->has_ended) {
        if (run->folder != NULL && etwas_ship_is_fresh(source->path)) {
            source->must_look = true; /* a copy may still be on its way into the folder */
            return pass(source);
        }
        return send_end(run, source);
    }
    if (source->in_flight != 0) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (run->folder != NULL && stat(source->path, &facts) == 0 &&
        etwas_ship_is_written(source->path)) {
        return (uint64_t)facts.st_size > etwas_ship_file_facts(source->file)->bytes
                   ? reopen(run, source)
                   : rest(run, source, &facts);
    }
    etwas_ship_say(source->path, "all that is in it has arrived; it has no end, and %s",
                   etwas_ship_is_written(source->path) ? "is being written"
                                                       : "nobody writes it any more");
    return finish(run, source);
}

/*
 * Between two readings of the clocks times are exact, and so what is behind the last one waits for the next, which a session
 * writes that goes on to log. Of one that logs nothing more it goes without.
 */
static bool is_quiet(const struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    int64_t idle_ms = etwas_ship_now_ms() - source->idle_since_ms;

    return (run->ends_when_done || idle_ms >= QUIET_MS) &&
           (!etwas_ship_file_facts(source->file)->is_circular ||
            !etwas_ship_is_written(source->path));
}

/* It has nothing more by now. */
static enum etwas_ship_turn wait_for_more(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source)
{
    source->must_look = true;
    if (source->idle_since_ms == 0) {
        source->idle_since_ms = etwas_ship_now_ms();
    }
    if (!source->is_left && is_quiet(run, source)) {
        etwas_ship_file_leave(source->file);
        source->is_left = true;
        source->idle_since_ms = 0; /* there may be something behind the last reading */
        return ETWAS_SHIP_TURN_TAKEN;
    }
    return pass(source);
}

/* There is none of its name, or another one. */
static bool has_gone(const struct etwas_ship_source *source)
{
    struct stat facts;

    return etwas_ship_is_missing(source->path) ||
           (stat(source->path, &facts) == 0 &&
            (facts.st_dev != source->facts.st_dev || facts.st_ino != source->facts.st_ino));
}

static enum etwas_ship_turn look_again(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    if (etwas_ship_file_look(source->file)) {
        source->must_look = false;
        return ETWAS_SHIP_TURN_TAKEN;
    }
    if (source->in_flight != 0) {
        return pass(source);
    }
    if (has_gone(source)) {
        etwas_ship_say(source->path, "it went before all of it had been sent");
        run->unsent++;
        etwas_ship_sources_drop(&run->sources, source); /* what has its name may be another file */
        return ETWAS_SHIP_TURN_LAST;
    }
    etwas_ship_sources_shut(&run->sources, source);
    return pass(source);
}

/* Its place in the file is found by the number of a buffer that the servers have: it has that one, too, or will have. */
static enum etwas_ship_turn find_place(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_place place;

    if (etwas_ship_cut_find(source->file, source->behind_buffer + 1, 0, &place)) {
        source->behind_buffer = 0;
        source->next = source->cursor->place = place;
        return ETWAS_SHIP_TURN_TAKEN;
    }
    if (!etwas_ship_file_facts(source->file)->has_ended && !source->is_left) {
        return wait_for_more(run, source);
    }
    if (!etwas_ship_cut_find(source->file, source->behind_buffer, 0, &place)) {
        etwas_ship_say(source->path, "what the servers have of it is not found in it: %s",
                       etwas_ship_file_reason(source->file));
        return give_up(run, source);
    }
    return end(run, source);
}

/* A file that grows has a small block a second at most, of all such files together: servers do better with few large ones. */
static bool must_wait(struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    const struct etwas_ship_facts *facts = etwas_ship_file_facts(source->file);

    return !facts->has_ended && !source->is_left &&
           facts->bytes < source->next.offset + ETWAS_SHIP_SMALL_BYTES &&
           etwas_ship_now_ms() < run->small_ms;
}

static enum etwas_ship_turn take_block(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                       struct etwas_ship_job *job)
{
    const struct etwas_ship_bounds *bounds = &job->block.bounds;

    if (!etwas_ship_file_facts(source->file)->has_ended &&
        bounds->until.offset < bounds->from.offset + ETWAS_SHIP_SMALL_BYTES) {
        run->small_ms = etwas_ship_now_ms() + ETWAS_SHIP_LOOK_MS;
    }
    job->without_events = source->ahead != 0;
    source->ahead -= job->without_events ? bounds->rows : 0;
    source->next = bounds->until;
    /* A file that grows is read further than it was when it was looked at. */
    source->must_look = bounds->until.offset > etwas_ship_file_facts(source->file)->bytes;
    source->idle_since_ms = 0;
    source->blocks++;
    put(run, source, job, ETWAS_SHIP_SEND_BLOCK);
    return ETWAS_SHIP_TURN_TAKEN;
}

static enum etwas_ship_turn cut(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);
    struct etwas_ship_limits limits = run->limits;
    enum etwas_ship_cut found;

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (source->ahead != 0 && source->ahead < limits.rows) {
        limits.rows = (uint32_t)source->ahead;
    }
    found = etwas_ship_cut_next(source->file, &source->next, &limits, &job->block);
    if (found == ETWAS_SHIP_BLOCK) {
        return take_block(run, source, job);
    }
    etwas_ship_lanes_free(run->lanes, job);
    if (found == ETWAS_SHIP_NOTHING_YET) {
        return wait_for_more(run, source);
    }
    if (found == ETWAS_SHIP_FILE_END) {
        return end(run, source);
    }
    etwas_ship_say(source->path, "it cannot be read on: %s", etwas_ship_file_reason(source->file));
    return give_up(run, source);
}

static enum etwas_ship_turn read_on(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    if (source->is_on_its_way) {
        return send_again(run, source);
    }
    if (source->must_look) {
        return look_again(run, source);
    }
    if (source->behind_buffer != 0) {
        return find_place(run, source);
    }
    return must_wait(run, source) ? ETWAS_SHIP_TURN_PASSED : cut(run, source);
}

/* Nothing has changed since all of it had arrived. */
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

enum etwas_ship_turn etwas_ship_take_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source)
{
    if (etwas_ship_now_ms() < source->due_ms) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (source->is_gone) {
        return etwas_ship_spool_turn(run, source);
    }
    switch (source->phase) {
    case ETWAS_SHIP_CLOSED:
        if (is_resting(source)) {
            return pass(source);
        }
        return make_room(run) ? etwas_ship_open_source(run, source) : ETWAS_SHIP_TURN_PASSED;
    case ETWAS_SHIP_ASKING:
        return source->in_flight == 0 ? ask(run, source) : ETWAS_SHIP_TURN_PASSED;
    case ETWAS_SHIP_READING:
        return read_on(run, source);
    default:
        return ETWAS_SHIP_TURN_PASSED;
    }
}

/* ---- what is done ---------------------------------------------------------------------------- */

void etwas_ship_take_done(struct etwas_ship_run *run, struct etwas_ship_job *job)
{
    struct etwas_ship_source *source = job->source;
    bool is_sent = job->sent == ETWAS_SHIP_SENT && !job->is_unkept;

    source->in_flight--;
    run->is_stopped = run->is_stopped || job->sent == ETWAS_SHIP_STOPPED;
    run->must_end = run->must_end || job->sent == ETWAS_SHIP_REFUSED;
    run->is_refused = run->is_refused || run->must_end;
    run->is_unkept = run->is_unkept || job->is_unkept;
    if (is_sent && source->is_gone) {
        etwas_ship_spool_done(run, source, job);
    } else if (is_sent && job->work == ETWAS_SHIP_ASK) {
        (void)settle(run, source, &job->there);
    } else if (is_sent && job->work == ETWAS_SHIP_SEND_END) {
        etwas_ship_spool_arrived(run, source);
        (void)finish(run, source);
    }
    etwas_ship_lanes_free(run->lanes, job);
}
