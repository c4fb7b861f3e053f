/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Takes the turns of a file, and handles jobs of it that are done.
 *
 *     CLOSED ─▶ cursor? ─ none, or in doubt for long ─▶ ASKING ─▶ READING ─▶ ENDING ─▶ finished
 *                  └──────── at rest, or to be sent again ──────────▲
 */

#include "ship/run/turn.h"

#include "ship/message.h"
#include "ship/run/spool.h"
#include "ship/run/written.h"
#include "ship/wait.h"

enum {
    LOOK_AT_REFUSED_MS = 30000,
};

/* ---- what ends a turn ------------------------------------------------------------------------ */

enum etwas_ship_turn etwas_ship_turn_pass(struct etwas_ship_source *source)
{
    source->due_ms = etwas_ship_now_ms() + ETWAS_SHIP_LOOK_MS;
    return ETWAS_SHIP_TURN_PASSED;
}

enum etwas_ship_turn etwas_ship_turn_finish(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source)
{
    run->unsent += source->is_unsent;
    etwas_ship_sources_finish(&run->sources, source);
    return ETWAS_SHIP_TURN_LAST;
}

enum etwas_ship_turn etwas_ship_turn_give_up(struct etwas_ship_run *run,
                                             struct etwas_ship_source *source)
{
    if (source->in_flight != 0) {
        return etwas_ship_turn_pass(source); /* what is in flight stays so */
    }
    run->is_refused = run->is_refused || run->ends_when_done;
    source->is_unsent = true;
    return etwas_ship_turn_finish(run, source);
}

enum etwas_ship_turn etwas_ship_turn_refuse(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source, const char *reason)
{
    etwas_ship_sources_shut(&run->sources, source);
    if (!run->ends_when_done && etwas_ship_is_written(source->path)) {
        source->due_ms = etwas_ship_now_ms() + LOOK_AT_REFUSED_MS;
        return ETWAS_SHIP_TURN_PASSED;
    }
    etwas_ship_message(source->path, "it is not sent: %s", reason);
    return etwas_ship_turn_give_up(run, source);
}

void etwas_ship_turn_put(struct etwas_ship_run *run, struct etwas_ship_source *source,
                         struct etwas_ship_job *job, enum etwas_ship_work work)
{
    job->work = work;
    job->source = source;
    job->cursor = source->cursor;
    source->in_flight++;
    etwas_ship_lanes_put(run->lanes, source->shard, job);
}

/* ---- a turn ---------------------------------------------------------------------------------- */

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
        return etwas_ship_open_turn(run, source);
    case ETWAS_SHIP_ASKING:
        return source->in_flight == 0 ? etwas_ship_resume_ask(run, source) : ETWAS_SHIP_TURN_PASSED;
    case ETWAS_SHIP_READING:
        return etwas_ship_read_turn(run, source);
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
        (void)etwas_ship_resume_by(run, source, &job->progress);
    } else if (is_sent && job->work == ETWAS_SHIP_SEND_END) {
        etwas_ship_spool_arrived(run, source);
        (void)etwas_ship_turn_finish(run, source);
    }
    etwas_ship_lanes_free(run->lanes, job);
}
