/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/run.h"

#include "cli/files.h"
#include "exit.h"
#include "ship/message.h"
#include "ship/run/background_open.h"
#include "ship/run/follow.h"
#include "ship/run/followed_session.h"
#include "ship/run/pools.h"
#include "ship/run/spool.h"
#include "ship/run/stop.h"
#include "ship/run/turn.h"
#include "ship/state/state_folder.h"
#include "ship/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- looking --------------------------------------------------------------------------------- */

/* A session that has ended has created all of its files, so files that appear later are not its. */
static void look_for_files(struct etwas_ship_run *run,
                           const struct etwas_ship_followed_session *session)
{
    bool has_ended =
        run->is_one_session && !run->ends_when_done && !etwas_ship_followed_session_runs(session);
    int64_t began_ms = etwas_ship_now_ms();

    if (run->settings->recovers) {
        etwas_ship_pools_look(run);
    }
    run->has_looked = etwas_ship_follow_look(run) && !run->sources.is_full;
    etwas_ship_spool_limit(run);
    run->ends_when_done = run->ends_when_done || has_ended;
    /* Reading a huge folder takes long. Most of the time must be left for sending. */
    run->look_ms = etwas_ship_now_ms() + ETWAS_SHIP_LOOK_MS + 4 * (etwas_ship_now_ms() - began_ms);
}

/* Adds the files of the command line. No others are looked for, now or later. */
static bool add_files(struct etwas_ship_run *run)
{
    const struct etwas_files *files = &run->settings->files;

    for (uint32_t i = 0; i < files->count; i++) {
        struct stat facts;

        if (stat(files->paths[i], &facts) != 0) {
            etwas_ship_message(files->paths[i], "it is not sent: %s", strerror(errno));
            run->is_refused = true;
        } else if (etwas_ship_sources_find(&run->sources, files->paths[i]) == NULL &&
                   etwas_ship_sources_add(&run->sources, files->paths[i], &facts) == NULL) {
            etwas_ship_message(files->paths[i], "there are too many files");
            return false;
        }
    }
    run->has_looked = true;
    run->look_ms = INT64_MAX;
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Returns whether it has nothing more to send, as far as is known now. */
static bool is_idle(const struct etwas_ship_source *source)
{
    return !source->is_gone && source->in_flight == 0 &&
           (source->phase == ETWAS_SHIP_READING ? source->idle_since_ms != 0
                                                : source->resting_mark != 0);
}

/*
 * Takes one turn of each source, beginning where the last round ended. Returns whether something
 * was done.
 */
static bool take_round(struct etwas_ship_run *run)
{
    struct etwas_ship_sources *sources = &run->sources;
    bool was_taken = false;

    for (uint32_t left = sources->count; left != 0 && sources->count != 0; left--) {
        sources->turn %= sources->count;
        switch (etwas_ship_take_turn(run, sources->list[sources->turn])) {
        case ETWAS_SHIP_TURN_LAST:
            was_taken = true; /* another source has its place in the list now */
            break;
        case ETWAS_SHIP_TURN_TAKEN:
            was_taken = true;
            sources->turn++;
            break;
        case ETWAS_SHIP_TURN_PASSED:
            sources->turn++;
            break;
        }
    }
    return was_taken;
}

static void take_all_done(struct etwas_ship_run *run)
{
    struct etwas_ship_job *job;
    uint64_t count;

    (void)!read(etwas_ship_lanes_wake(run->lanes), &count, sizeof count);
    while ((job = etwas_ship_lanes_done(run->lanes)) != NULL) {
        etwas_ship_take_done(run, job);
    }
}

/*
 * Returns whether all is done. When a session has ended, no process writes its files, so all of
 * them get finished. Other files may stay idle.
 */
static bool is_over(const struct etwas_ship_run *run)
{
    if (!run->ends_when_done || !run->has_looked || run->owes_more) {
        return false;
    }
    if (run->is_one_session) {
        return run->sources.count == 0;
    }
    for (uint32_t i = 0; i < run->sources.count; i++) {
        if (!is_idle(run->sources.list[i])) {
            return false;
        }
    }
    return true;
}

/* Waits until a job is done, a turn may be due, or the run is to end. */
static void wait(struct etwas_ship_run *run)
{
    enum {
        LONGEST_MS = 100
    };
    struct pollfd wanted[] = {{.fd = run->stop, .events = POLLIN},
                              {.fd = etwas_ship_lanes_wake(run->lanes), .events = POLLIN}};

    (void)poll(wanted, 2, LONGEST_MS);
    run->is_stopped = run->is_stopped || (wanted[0].revents & POLLIN) != 0;
}

static void go_round(struct etwas_ship_run *run, const struct etwas_ship_followed_session *session)
{
    while (!run->is_stopped && !run->is_unkept && !is_over(run)) {
        bool was_taken;

        if (etwas_ship_now_ms() >= run->look_ms) {
            look_for_files(run, session);
        }
        etwas_ship_spool_owed(run);
        was_taken = take_round(run);
        take_all_done(run);
        if (run->must_end) {
            return;
        }
        if (!was_taken) {
            wait(run);
        } else {
            struct pollfd stop = {.fd = run->stop, .events = POLLIN};

            run->is_stopped = poll(&stop, 1, 0) == 1;
        }
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool can_read(const char *folder)
{
    int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (opened < 0) {
        etwas_ship_message(folder, "the folder cannot be read: %s", strerror(errno));
        return false;
    }
    (void)close(opened);
    return true;
}

/*
 * Returns whether the folder to follow is readable. This is checked before the state is opened,
 * which would create the folder, because its own is in it. Folders of pools may be created later.
 */
static bool has_folders(const struct etwas_ship_settings *settings)
{
    if (settings->pools != NULL) {
        (void)can_read(settings->pools);
    }
    return settings->follow == NULL || can_read(settings->follow);
}

/* Opens the state. It depends on the target's name only, not on a server's answer. */
static bool open_state(struct etwas_ship_run *run)
{
    char folder[ETWAS_SHIP_STATE_FOLDER_BYTES];
    char *name = etwas_ship_target_make_name(&run->settings->target);

    if (name == NULL) {
        etwas_ship_message("--server", "there is not enough memory");
        return false;
    }
    etwas_ship_key_target(name, run->target_name);
    free(name);
    if (!etwas_ship_state_folder(run->settings->state, run->folder, folder)) {
        return false;
    }
    run->state = etwas_ship_state_open(folder);
    return run->state != NULL;
}

static bool open_parts(struct etwas_ship_run *run)
{
    struct etwas_ship_lanes_options options = {.target = run->target,
                                               .state = run->state,
                                               .stop = run->stop,
                                               .is_patient = !run->ends_when_done};
    uint64_t jobs;

    if (!etwas_ship_sources_open(&run->sources)) {
        etwas_ship_message("the files", "there is not enough memory");
        return false;
    }
    run->lanes = etwas_ship_lanes_open(&options);
    if (run->lanes == NULL) {
        return false;
    }
    jobs = etwas_ship_lanes_jobs(run->lanes);
    run->limits = (struct etwas_ship_limits){.rows = ETWAS_SHIP_BLOCK_ROWS,
                                             .bytes = ETWAS_SHIP_MEMORY_BYTES / jobs};
    if (run->limits.bytes < ETWAS_SHIP_LEAST_BLOCK_BYTES) {
        run->limits.bytes = ETWAS_SHIP_LEAST_BLOCK_BYTES;
    }
    return true;
}

static void say_what_is_left(struct etwas_ship_run *run)
{
    for (uint32_t i = 0; i < run->sources.count; i++) {
        run->unsent += !is_idle(run->sources.list[i]);
    }
    if (run->unsent != 0) {
        etwas_ship_message("the end", "of %llu files not all has arrived; the same command goes on",
                           (unsigned long long)run->unsent);
    }
}

static int result_of(const struct etwas_ship_run *run)
{
    if (run->is_unkept) {
        return ETWAS_EXIT_OUTPUT;
    }
    if (run->is_refused) {
        return ETWAS_EXIT_FAILED;
    }
    return run->unsent != 0 ? ETWAS_EXIT_NO : ETWAS_EXIT_DONE;
}

static int run_all(struct etwas_ship_run *run, const struct etwas_ship_followed_session *session)
{
    int result = ETWAS_EXIT_FAILED;

    if (run->folder != NULL) {
        etwas_files_report_others(run->folder);
    }
    if (open_parts(run) && (run->folder != NULL || add_files(run))) {
        run->owes_more = true;
        go_round(run, session);
        (void)etwas_ship_stop(run->stop);
        etwas_ship_lanes_end(run->lanes);
        take_all_done(run); /* in flight before, and done by now */
        say_what_is_left(run);
        result = result_of(run);
    }
    etwas_ship_lanes_close(run->lanes);
    etwas_ship_sources_close(&run->sources);
    etwas_ship_snapshots_free(&run->snapshots);
    return result;
}

int etwas_ship_run(const struct etwas_ship_settings *settings)
{
    static struct etwas_ship_followed_session session;
    struct etwas_ship_run run = {.settings = settings, .folder = settings->follow};
    struct etwas_ship_options options = settings->target;
    int result = ETWAS_EXIT_FAILED;

    run.stop = options.stop = etwas_ship_stop_open();
    run.ends_when_done = settings->task == ETWAS_SHIP_TASK_FILES || settings->once;
    if (settings->task == ETWAS_SHIP_TASK_SESSION) {
        if (!etwas_ship_followed_session_find(&session, settings->session, settings->host)) {
            return ETWAS_EXIT_FAILED;
        }
        run.folder = session.folder;
        run.is_one_session = true;
        run.session = session.number;
    }
    if (!has_folders(settings) || !open_state(&run)) {
        return ETWAS_EXIT_FAILED;
    }
    switch (etwas_ship_background_open(&run, &options)) {
    case ETWAS_SHIP_OPENED:
        result = run_all(&run, &session);
        break;
    case ETWAS_SHIP_OPEN_STOPPED:
        result = ETWAS_EXIT_NO;
        break;
    case ETWAS_SHIP_OPEN_REFUSED:
        break;
    }
    etwas_ship_target_close(run.target);
    etwas_ship_state_close(run.state);
    return result;
}
