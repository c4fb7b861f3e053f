/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Continues to read a file: makes its next block, sends its end, or waits for more. */

#include "ship/message.h"
#include "ship/run/turn.h"
#include "ship/run/written.h"
#include "ship/wait.h"

enum {
    QUIET_MS = 2000, /* time without a write after which a file is quiet */
};

static enum etwas_ship_turn send_end(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (etwas_ship_block_end(source->file, &job->block) != ETWAS_SHIP_BLOCK) {
        etwas_ship_lanes_free(run->lanes, job);
        etwas_ship_message(source->path, "its end cannot be read: %s",
                           etwas_ship_file_reason(source->file));
        return etwas_ship_turn_give_up(run, source);
    }
    source->phase = ETWAS_SHIP_ENDING;
    etwas_ship_turn_put(run, source, job, ETWAS_SHIP_SEND_END);
    return ETWAS_SHIP_TURN_TAKEN;
}

static enum etwas_ship_turn reopen(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    etwas_ship_sources_shut(&run->sources, source);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* All of a file that a session has open has arrived. Closes it until something changes. */
static enum etwas_ship_turn rest(struct etwas_ship_run *run, struct etwas_ship_source *source,
                                 const struct stat *facts)
{
    etwas_ship_sources_shut(&run->sources, source);
    source->resting_mark = etwas_ship_mark(source->path, facts);
    return etwas_ship_turn_pass(source);
}

/* Nothing more is in the file. If it has no end, none is sent, so its session stays unfinished. */
static enum etwas_ship_turn end(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct stat facts;

    if (etwas_ship_file_facts(source->file)->has_ended) {
        if (run->folder != NULL && etwas_ship_is_fresh(source->path)) {
            source->must_look = true; /* a copy into the folder may be incomplete */
            return etwas_ship_turn_pass(source);
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
    etwas_ship_message(source->path, "all that is in it has arrived; it has no end, and %s",
                       etwas_ship_is_written(source->path) ? "is being written"
                                                           : "nobody writes it any more");
    return etwas_ship_turn_finish(run, source);
}

/*
 * Times between two clock readings are exact. Therefore events after the last reading wait for the
 * next one, which a session writes if it continues to log. If it logs nothing more, they are sent
 * without it.
 */
static bool is_quiet(const struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    int64_t idle_ms = etwas_ship_now_ms() - source->idle_since_ms;

    return (run->ends_when_done || idle_ms >= QUIET_MS) &&
           (!etwas_ship_file_facts(source->file)->is_circular ||
            !etwas_ship_is_written(source->path));
}

/* Waits, since the file has nothing more now. */
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
        source->idle_since_ms = 0; /* there may be events after the last reading */
        return ETWAS_SHIP_TURN_TAKEN;
    }
    return etwas_ship_turn_pass(source);
}

/* Returns whether the file's name is missing, or is another file's. */
static bool has_gone(const struct etwas_ship_source *source)
{
    struct stat facts;

    return etwas_ship_is_missing(source->path) ||
           (stat(source->path, &facts) == 0 && !etwas_ship_is_same(&facts, &source->facts));
}

/*
 * Returns whether the file has its first event now, so that it must be decided again whether it is
 * sent.
 */
static bool is_told_apart_now(const struct etwas_ship_source *source)
{
    return source->cursor->written_as != etwas_ship_file_facts(source->file)->written_as;
}

static enum etwas_ship_turn look_again(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    if (etwas_ship_file_look(source->file)) {
        source->must_look = false;
        return is_told_apart_now(source) ? reopen(run, source) : ETWAS_SHIP_TURN_TAKEN;
    }
    if (source->in_flight != 0) {
        return etwas_ship_turn_pass(source);
    }
    if (has_gone(source)) {
        etwas_ship_message(source->path, "it went before all of it had been sent");
        run->unsent++;
        etwas_ship_sources_drop(&run->sources, source); /* the name may be another file's */
        return ETWAS_SHIP_TURN_LAST;
    }
    etwas_ship_sources_shut(&run->sources, source);
    return etwas_ship_turn_pass(source);
}

/*
 * Finds where to resume, by the number of the last buffer that the servers have. The file has the
 * next one, or will have it.
 */
static enum etwas_ship_turn find_place(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_position place;

    if (etwas_ship_find_buffer(source->file, source->behind_buffer + 1, &place)) {
        source->behind_buffer = 0;
        source->next = source->cursor->place = place;
        return ETWAS_SHIP_TURN_TAKEN;
    }
    if (!etwas_ship_file_facts(source->file)->has_ended && !source->is_left) {
        return wait_for_more(run, source);
    }
    if (!etwas_ship_find_buffer(source->file, source->behind_buffer, &place)) {
        etwas_ship_message(source->path, "what the servers have of it is not found in it: %s",
                           etwas_ship_file_reason(source->file));
        return etwas_ship_turn_give_up(run, source);
    }
    return end(run, source);
}

/*
 * Returns whether a small block has to wait. All growing files together send at most one a second,
 * since servers do better with few large blocks.
 */
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
    /* A growing file is read beyond the size that was seen last. */
    source->must_look = bounds->until.offset > etwas_ship_file_facts(source->file)->bytes;
    source->idle_since_ms = 0;
    source->blocks++;
    etwas_ship_turn_put(run, source, job, ETWAS_SHIP_SEND_BLOCK);
    return ETWAS_SHIP_TURN_TAKEN;
}

static enum etwas_ship_turn cut(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);
    struct etwas_ship_limits limits = run->limits;
    enum etwas_ship_block_result found;

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if (source->ahead != 0 && source->ahead < limits.rows) {
        limits.rows = (uint32_t)source->ahead;
    }
    found = etwas_ship_block_next(source->file, &source->next, &limits, &job->block);
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
    etwas_ship_message(source->path, "it cannot be read on: %s",
                       etwas_ship_file_reason(source->file));
    return etwas_ship_turn_give_up(run, source);
}

enum etwas_ship_turn etwas_ship_read_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source)
{
    if (source->is_on_its_way) {
        return etwas_ship_resume_sending(run, source);
    }
    if (source->must_look) {
        return look_again(run, source);
    }
    if (source->behind_buffer != 0) {
        return find_place(run, source);
    }
    return must_wait(run, source) ? ETWAS_SHIP_TURN_PASSED : cut(run, source);
}
