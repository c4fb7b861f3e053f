/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/lane.h"

#include "cli/quiet.h"
#include "math/hash.h"
#include "ship/message.h"
#include "ship/state/dropped_files.h"
#include "ship/wait.h"
#include "ship/wire/send.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    WRITE_AGAIN_MS = 1000,
    TOKEN_BYTES = 64,
};

struct lane {
    struct etwas_ship_lanes *lanes;
    uint32_t shard;
    pthread_t thread;
    bool has_thread;
    pthread_cond_t filled;        /* guarded by lanes->lock, as are the next two */
    struct etwas_ship_job *first; /* the waiting jobs */
    uint32_t count;               /* of these and the one being sent */
    bool is_broken;               /* thread only: a job was not sent, so later ones must not be */
    pthread_mutex_t hold;         /* guards the cursors of its files */
};

struct etwas_ship_lanes {
    struct etwas_ship_lanes_options options;
    pthread_mutex_t lock;
    bool ends;
    int wake;
    uint32_t ahead; /* jobs that wait behind one being sent; at most one in all lanes */
    struct etwas_ship_job *unused;
    struct etwas_ship_job *done;
    struct etwas_ship_job *jobs; /* all jobs */
    uint32_t job_count;
    struct lane *lane;
    uint32_t count;
};

/* ---- what is kept ---------------------------------------------------------------------------- */

/*
 * Waits for room on the disk, and lets other threads use the cursor meanwhile. Returns false if the
 * run ends.
 */
static bool wait_for_room(struct lane *lane)
{
    bool goes_on;

    etwas_ship_lanes_let_go(lane->lanes, lane->shard);
    goes_on = etwas_ship_wait_ms(lane->lanes->options.stop, WRITE_AGAIN_MS);
    etwas_ship_lanes_hold(lane->lanes, lane->shard);
    return goes_on;
}

/*
 * Writes the cursor while the lane is held. If `is_patient`, retries until the run ends. Returns
 * false if the cursor could not be written.
 */
static bool write_cursor(struct lane *lane, struct etwas_ship_job *job)
{
    const struct etwas_ship_lanes_options *options = &lane->lanes->options;
    bool is_said = false;

    while (!etwas_ship_state_write(options->state, job->cursor)) {
        int error = errno;
        bool waits = options->is_patient && !etwas_ship_state_is_gone(options->state);

        if (!is_said || !waits) {
            etwas_ship_message(job->cursor->file, "what is sent of it cannot be kept: %s%s",
                               strerror(error), waits ? "; waiting" : "");
            is_said = true;
        }
        if (!waits || !wait_for_room(lane)) {
            job->is_unkept = true;
            return false;
        }
    }
    if (is_said && !etwas_is_quiet) {
        etwas_ship_message(job->cursor->file, "what is sent of it can be kept again");
    }
    return true;
}

/* ---- what is sent ---------------------------------------------------------------------------- */

/* Makes a block's token. Two blocks have the same one only if all of their rows are the same. */
static void name_block(const struct etwas_ship_job *job, const char *what, char token[TOKEN_BYTES])
{
    const struct etwas_ship_cursor *cursor = job->cursor;
    const struct etwas_ship_bounds *bounds = &cursor->bounds;
    uint64_t hash = etwas_hash(ETWAS_HASH_OF_NOTHING, &bounds->from.offset, sizeof(uint64_t));

    hash = etwas_hash(hash, &bounds->from.pos, sizeof bounds->from.pos);
    hash = etwas_hash(hash, &bounds->until.offset, sizeof(uint64_t));
    hash = etwas_hash(hash, &bounds->until.pos, sizeof bounds->until.pos);
    for (uint32_t i = 0; i < bounds->times.count; i++) {
        hash = etwas_hash(hash, &bounds->times.point[i], sizeof bounds->times.point[i]);
    }
    (void)snprintf(token, TOKEN_BYTES, ETWAS_SHIP_FILE_TOKEN "%016" PRIx64 "-%s",
                   cursor->key.session, cursor->key.part, hash, what);
}

static enum etwas_ship_sent send_rows(struct lane *lane, const struct etwas_ship_job *job,
                                      struct etwas_columns *rows, const char *what)
{
    char token[TOKEN_BYTES];

    if (!etwas_columns_finish(rows)) {
        etwas_ship_message(job->cursor->file, "there is not enough memory for a block");
        return ETWAS_SHIP_REFUSED;
    }
    name_block(job, what, token);
    return etwas_ship_send(lane->lanes->options.target, lane->shard, rows, token);
}

/* Writes to the cursor what is about to be sent. */
static bool announce(struct lane *lane, struct etwas_ship_job *job, enum etwas_ship_stage stage)
{
    bool is_kept = true;

    etwas_ship_lanes_hold(lane->lanes, lane->shard);
    if (!job->is_again) {
        job->cursor->stage = stage;
        job->cursor->since_unix_s = (int64_t)time(NULL);
        job->cursor->dialect = job->buffers.dialect;
        job->cursor->bounds =
            stage == ETWAS_SHIP_SENT_BLOCK ? job->block.bounds : (struct etwas_ship_bounds){0};
        is_kept = write_cursor(lane, job);
    }
    etwas_ship_lanes_let_go(lane->lanes, lane->shard);
    return is_kept;
}

/* Writes to the cursor that the job has arrived. */
static void acknowledge(struct lane *lane, struct etwas_ship_job *job, enum etwas_ship_stage stage)
{
    struct etwas_ship_cursor *cursor = job->cursor;

    etwas_ship_lanes_hold(lane->lanes, lane->shard);
    if (job->work != ETWAS_SHIP_SEND_GONE) {
        cursor->place = job->block.bounds.until;
    }
    if (job->work == ETWAS_SHIP_SEND_BLOCK) {
        cursor->events += job->without_events ? 0 : job->block.bounds.rows;
        cursor->ahead -= job->without_events ? job->block.bounds.rows : 0;
        cursor->buffers += job->buffers.rows;
    }
    cursor->stage = stage;
    cursor->bounds = (struct etwas_ship_bounds){0};
    (void)write_cursor(lane, job);
    etwas_ship_lanes_let_go(lane->lanes, lane->shard);
}

static void send_block(struct lane *lane, struct etwas_ship_job *job)
{
    if (!announce(lane, job, ETWAS_SHIP_SENT_BLOCK)) {
        return;
    }
    if (!job->without_events) {
        job->sent = send_rows(lane, job, &job->events, "events");
    }
    if (job->sent == ETWAS_SHIP_SENT) {
        job->sent = send_rows(lane, job, &job->buffers, "buffers");
    }
    if (job->sent == ETWAS_SHIP_SENT) {
        acknowledge(lane, job, ETWAS_SHIP_AT_REST);
    }
}

static void send_last(struct lane *lane, struct etwas_ship_job *job, enum etwas_ship_stage stage,
                      const char *what)
{
    if (!announce(lane, job, stage)) {
        return;
    }
    job->sent = send_rows(lane, job, &job->buffers, what);
    if (job->sent == ETWAS_SHIP_SENT) {
        acknowledge(lane, job, ETWAS_SHIP_DONE);
    }
}

static enum etwas_ship_sent ask(const struct lane *lane, struct etwas_ship_job *job)
{
    const struct etwas_ship_cursor *cursor = job->cursor;
    const struct etwas_ship_file_key file_key = {.session = cursor->key.session,
                                                 .part = cursor->key.part,
                                                 .ended_ns = job->ended_ns,
                                                 .gone_ns = job->gone_ns};

    return etwas_ship_server_progress_ask(lane->lanes->options.target, &file_key, &job->progress);
}

static void do_job(struct lane *lane, struct etwas_ship_job *job)
{
    job->sent = ETWAS_SHIP_SENT;
    job->is_unkept = false;
    switch (job->work) {
    case ETWAS_SHIP_ASK:
        job->sent = ask(lane, job);
        break;
    case ETWAS_SHIP_SEND_BLOCK:
        send_block(lane, job);
        break;
    case ETWAS_SHIP_SEND_END:
        send_last(lane, job, ETWAS_SHIP_SENT_END, "end");
        break;
    case ETWAS_SHIP_SEND_GONE:
        send_last(lane, job, ETWAS_SHIP_SENT_GONE, "gone");
        break;
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Returns NULL at the end. */
static struct etwas_ship_job *next_job(struct lane *lane)
{
    struct etwas_ship_lanes *lanes = lane->lanes;
    struct etwas_ship_job *job;

    (void)pthread_mutex_lock(&lanes->lock);
    while (lane->first == NULL && !lanes->ends) {
        (void)pthread_cond_wait(&lane->filled, &lanes->lock);
    }
    job = lanes->ends ? NULL : lane->first;
    if (job != NULL) {
        lane->first = job->next;
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    return job;
}

static void wake(const struct etwas_ship_lanes *lanes)
{
    const uint64_t one = 1;

    (void)!write(lanes->wake, &one, sizeof one);
}

static void *run_lane(void *argument)
{
    struct lane *lane = argument;
    struct etwas_ship_lanes *lanes = lane->lanes;
    struct etwas_ship_job *job;

    while ((job = next_job(lane)) != NULL) {
        struct etwas_ship_job **last = &lanes->done;

        if (lane->is_broken) {
            job->sent = ETWAS_SHIP_STOPPED;
        } else {
            do_job(lane, job);
            lane->is_broken = job->sent != ETWAS_SHIP_SENT || job->is_unkept;
        }
        (void)pthread_mutex_lock(&lanes->lock);
        lanes->ahead -= lane->first != NULL;
        lane->count--;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        job->next = NULL;
        *last = job;
        (void)pthread_mutex_unlock(&lanes->lock);
        wake(lanes);
    }
    return NULL;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

int etwas_ship_lanes_wake(const struct etwas_ship_lanes *lanes)
{
    return lanes->wake;
}

uint32_t etwas_ship_lanes_jobs(const struct etwas_ship_lanes *lanes)
{
    return lanes->job_count;
}

struct etwas_ship_job *etwas_ship_lanes_job(struct etwas_ship_lanes *lanes, uint32_t shard)
{
    const struct etwas_ship_dialect *dialect = etwas_ship_target_dialect(lanes->options.target);
    const struct lane *lane = &lanes->lane[shard];
    struct etwas_ship_job *job = NULL;

    (void)pthread_mutex_lock(&lanes->lock);
    if (lane->count == 0 || (lane->count == 1 && lanes->ahead == 0)) {
        job = lanes->unused;
    }
    if (job != NULL) {
        lanes->unused = job->next;
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    if (job != NULL) {
        etwas_columns_reset(&job->events, dialect);
        etwas_columns_reset(&job->buffers, dialect);
        job->block = (struct etwas_ship_block){.events = &job->events, .buffers = &job->buffers};
        job->is_again = job->without_events = false;
    }
    return job;
}

void etwas_ship_lanes_put(struct etwas_ship_lanes *lanes, uint32_t shard,
                          struct etwas_ship_job *job)
{
    struct lane *lane = &lanes->lane[shard];
    struct etwas_ship_job **last = &lane->first;

    job->next = NULL;
    (void)pthread_mutex_lock(&lanes->lock);
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = job;
    lanes->ahead += lane->count++ != 0;
    (void)pthread_cond_signal(&lane->filled);
    (void)pthread_mutex_unlock(&lanes->lock);
}

void etwas_ship_lanes_free(struct etwas_ship_lanes *lanes, struct etwas_ship_job *job)
{
    (void)pthread_mutex_lock(&lanes->lock);
    job->next = lanes->unused;
    lanes->unused = job;
    (void)pthread_mutex_unlock(&lanes->lock);
}

struct etwas_ship_job *etwas_ship_lanes_done(struct etwas_ship_lanes *lanes)
{
    struct etwas_ship_job *job;

    (void)pthread_mutex_lock(&lanes->lock);
    job = lanes->done;
    if (job != NULL) {
        lanes->done = job->next;
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    return job;
}

struct etwas_ship_job *etwas_ship_lanes_withdraw(struct etwas_ship_lanes *lanes, uint32_t shard,
                                                 const struct etwas_ship_source *source)
{
    struct lane *lane = &lanes->lane[shard];
    struct etwas_ship_job **at = &lane->first;
    struct etwas_ship_job *job;

    (void)pthread_mutex_lock(&lanes->lock);
    while (*at != NULL && (*at)->source != source) {
        at = &(*at)->next;
    }
    job = *at;
    if (job != NULL) {
        *at = job->next;
        lanes->ahead -= lane->count-- > 1;
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    return job;
}

void etwas_ship_lanes_hold(struct etwas_ship_lanes *lanes, uint32_t shard)
{
    (void)pthread_mutex_lock(&lanes->lane[shard].hold);
}

void etwas_ship_lanes_let_go(struct etwas_ship_lanes *lanes, uint32_t shard)
{
    (void)pthread_mutex_unlock(&lanes->lane[shard].hold);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void make_jobs(struct etwas_ship_lanes *lanes)
{
    const struct etwas_ship_dialect *dialect = etwas_ship_target_dialect(lanes->options.target);

    for (uint32_t i = 0; i < lanes->job_count; i++) {
        struct etwas_ship_job *job = &lanes->jobs[i];

        etwas_columns_open(&job->events, ETWAS_SHIP_EVENTS, dialect);
        etwas_columns_open(&job->buffers, ETWAS_SHIP_BUFFERS, dialect);
        job->next = lanes->unused;
        lanes->unused = job;
    }
}

static bool start(struct etwas_ship_lanes *lanes)
{
    for (uint32_t shard = 0; shard < lanes->count; shard++) {
        struct lane *lane = &lanes->lane[shard];

        lane->lanes = lanes;
        lane->shard = shard;
        (void)pthread_cond_init(&lane->filled, NULL);
        (void)pthread_mutex_init(&lane->hold, NULL);
        lane->has_thread = pthread_create(&lane->thread, NULL, run_lane, lane) == 0;
        if (!lane->has_thread) {
            return false;
        }
    }
    return true;
}

struct etwas_ship_lanes *etwas_ship_lanes_open(const struct etwas_ship_lanes_options *options)
{
    struct etwas_ship_lanes *lanes = calloc(1, sizeof *lanes);
    uint32_t count = etwas_ship_target_shards(options->target);

    if (lanes != NULL) {
        lanes->options = *options;
        (void)pthread_mutex_init(&lanes->lock, NULL);
        lanes->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        lanes->lane = calloc(count, sizeof *lanes->lane);
        lanes->jobs = calloc(count + 1, sizeof *lanes->jobs);
        if (lanes->lane != NULL && lanes->jobs != NULL && lanes->wake >= 0) {
            lanes->count = count;
            lanes->job_count = count + 1;
            make_jobs(lanes);
            if (start(lanes)) {
                return lanes;
            }
        }
        etwas_ship_lanes_close(lanes);
    }
    etwas_ship_message("the senders",
                       "there is not enough memory, or there can be no more threads");
    return NULL;
}

void etwas_ship_lanes_end(struct etwas_ship_lanes *lanes)
{
    (void)pthread_mutex_lock(&lanes->lock);
    lanes->ends = true;
    for (uint32_t shard = 0; shard < lanes->count; shard++) {
        (void)pthread_cond_broadcast(&lanes->lane[shard].filled);
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    for (uint32_t shard = 0; shard < lanes->count && lanes->lane[shard].has_thread; shard++) {
        (void)pthread_join(lanes->lane[shard].thread, NULL);
        lanes->lane[shard].has_thread = false;
    }
}

void etwas_ship_lanes_close(struct etwas_ship_lanes *lanes)
{
    if (lanes == NULL) {
        return;
    }
    etwas_ship_lanes_end(lanes);
    for (uint32_t i = 0; i < lanes->job_count; i++) {
        etwas_columns_close(&lanes->jobs[i].events);
        etwas_columns_close(&lanes->jobs[i].buffers);
    }
    if (lanes->wake >= 0) {
        (void)close(lanes->wake);
    }
    free(lanes->jobs);
    free(lanes->lane);
    free(lanes);
}
