/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Resumes a file where its cursor says, and sends again what was in flight. If it is unknown what
 * has arrived, it resumes by what the servers have.
 */

#include "cli/files.h"
#include "ship/message.h"
#include "ship/run/spool.h"
#include "ship/run/turn.h"

#include <string.h>

enum etwas_ship_turn etwas_ship_resume_ask(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source)
{
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);

    source->phase = ETWAS_SHIP_ASKING;
    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    job->ended_ns = etwas_ship_file_facts(source->file)->ended_ns;
    job->gone_ns = (int64_t)source->cursor->gone.values[ETWAS_SHIP_BUFFER_LAST_TIME];
    etwas_ship_turn_put(run, source, job, ETWAS_SHIP_ASK);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* Returns whether the rows in flight would be different now. */
static bool has_changed(const struct etwas_ship_run *run, const struct etwas_ship_source *source)
{
    const struct etwas_ship_cursor *cursor = source->cursor;
    const struct etwas_ship_dialect *dialect = etwas_ship_target_dialect(run->target);

    return strncmp(cursor->file, etwas_files_name(source->path), sizeof cursor->file - 1) != 0 ||
           memcmp(&cursor->dialect, dialect, sizeof *dialect) != 0;
}

bool etwas_ship_resume_is_doubtful(const struct etwas_ship_run *run,
                                   const struct etwas_ship_source *source)
{
    const struct etwas_ship_cursor *cursor = source->cursor;

    return cursor->stage != ETWAS_SHIP_AT_REST &&
           (etwas_ship_cursor_is_old(cursor) || has_changed(run, source));
}

void etwas_ship_resume(struct etwas_ship_source *source)
{
    source->phase = ETWAS_SHIP_READING;
    source->next = source->cursor->place;
    source->ahead = source->cursor->ahead;
    source->is_on_its_way = source->cursor->stage != ETWAS_SHIP_AT_REST;
}

/*
 * Returns whether the servers' rows may be those of another file of the same session and part. This
 * can be so only without a cursor. Rows of buffers without events may be any file's.
 */
static bool may_be_others(const struct etwas_ship_source *source,
                          const struct etwas_ship_server_progress *progress)
{
    if (source->cursor->stage != ETWAS_SHIP_AT_REST || progress->events + progress->buffers == 0) {
        return false;
    }
    return progress->events == 0 || !etwas_ship_has_event(source->file, &progress->last);
}

/* Only the servers know where to resume: behind the last buffer that they have completely. */
static enum etwas_ship_turn go_on_behind(struct etwas_ship_run *run,
                                         struct etwas_ship_source *source,
                                         const struct etwas_ship_server_progress *progress)
{
    struct etwas_ship_cursor *cursor = source->cursor;

    if (etwas_ship_file_facts(source->file)->is_appended &&
        progress->events + progress->buffers != 0) {
        etwas_ship_message(
            source->path, "the servers have some of it, which is of several sessions, and what was "
                          "sent is not known any more; it is not sent");
        return etwas_ship_turn_give_up(run, source);
    }
    if (may_be_others(source, progress)) {
        return etwas_ship_turn_refuse(
            run, source,
            "the servers have rows of its session and number that are of another file, or may be; "
            "--table can name another table for it");
    }
    cursor->stage = ETWAS_SHIP_AT_REST;
    cursor->bounds = (struct etwas_ship_bounds){0};
    cursor->place = (struct etwas_ship_position){0};
    cursor->events = progress->events;
    cursor->buffers = progress->buffers;
    cursor->ahead = progress->ahead;
    source->behind_buffer = progress->last_buffer;
    etwas_ship_resume(source);
    return ETWAS_SHIP_TURN_TAKEN;
}

/* Records in the cursor that the file is done, so that the servers need not be queried again. */
static void keep_done(struct etwas_ship_run *run, struct etwas_ship_source *source)
{
    source->cursor->stage = ETWAS_SHIP_DONE;
    source->cursor->place =
        (struct etwas_ship_position){etwas_ship_file_facts(source->file)->bytes, 0};
    (void)etwas_ship_state_write(run->state, source->cursor);
}

enum etwas_ship_turn etwas_ship_resume_by(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source,
                                          const struct etwas_ship_server_progress *progress)
{
    const struct etwas_ship_cursor *cursor = source->cursor;

    if (progress->has_gone) {
        return etwas_ship_turn_refuse(
            run, source, "the servers were told that it went before all of it had been sent");
    }
    if (progress->has_end) {
        keep_done(run, source);
        etwas_ship_spool_arrived(run, source);
        return etwas_ship_turn_finish(run, source);
    }
    if (progress->has_other_end) {
        return etwas_ship_turn_refuse(
            run, source,
            "the servers have the end of another file of its session and number, for "
            "which it would be taken, or of itself before more was appended to it; "
            "--table can name another table for it");
    }
    if (cursor->stage != ETWAS_SHIP_AT_REST && progress->events == cursor->events &&
        progress->buffers == cursor->buffers) {
        etwas_ship_resume(source); /* what was in flight has not arrived: send it again */
        return ETWAS_SHIP_TURN_TAKEN;
    }
    return go_on_behind(run, source, progress);
}

enum etwas_ship_turn etwas_ship_resume_sending(struct etwas_ship_run *run,
                                               struct etwas_ship_source *source)
{
    struct etwas_ship_cursor *cursor = source->cursor;
    struct etwas_ship_job *job = etwas_ship_lanes_job(run->lanes, source->shard);
    bool is_end = cursor->stage == ETWAS_SHIP_SENT_END;

    if (job == NULL) {
        return ETWAS_SHIP_TURN_PASSED;
    }
    if ((is_end ? etwas_ship_block_end(source->file, &job->block)
                : etwas_ship_block_again(source->file, &cursor->bounds, &job->block)) !=
        ETWAS_SHIP_BLOCK) {
        etwas_ship_lanes_free(run->lanes, job);
        etwas_ship_message(source->path, "what was on its way cannot be read again: %s",
                           etwas_ship_file_reason(source->file));
        return etwas_ship_turn_give_up(run, source);
    }
    source->is_on_its_way = false;
    job->is_again = true;
    job->without_events = !is_end && cursor->ahead != 0;
    source->ahead -= job->without_events ? job->block.bounds.rows : 0;
    source->next = is_end ? source->next : job->block.bounds.until;
    source->phase = is_end ? ETWAS_SHIP_ENDING : source->phase;
    etwas_ship_turn_put(run, source, job, is_end ? ETWAS_SHIP_SEND_END : ETWAS_SHIP_SEND_BLOCK);
    return ETWAS_SHIP_TURN_TAKEN;
}
