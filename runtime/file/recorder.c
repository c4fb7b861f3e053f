/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/recorder.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer/pool_free.h"
#include "buffer/quota.h"
#include "buffer/retention.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "etl/clock_convert.h"
#include "file/snapshot.h"
#include "platform/wait.h"
#include "session/file_name.h"
#include "shared/mapping.h"

enum {
    BUFFERS_A_SLOT = 3, /* how many a slot may need at once: current, previous, next */
};

#define NS_A_SECOND 1000000000

/* While a window is open, the flusher checks this often whether another buffer is full. */
#define RECHECK_NS UINT64_C(1000000)

struct candidate {
    struct etwas_pin pin;
    int64_t newest;
};

struct recorder {
    struct etwas_recorder verbs; /* first member: the session's view of this */
    struct etwas_recorder_options options;
    uint32_t most_pins;
    uint32_t most_extra_pins; /* for the extra slot beside rseq slots */
    uint32_t extra_pins;
    uint32_t row_pins[ETWAS_CLASS_ROWS]; /* by retention class */
    struct candidate *candidates;
    uint32_t most_candidates; /* all buffers */
    uint64_t taken;           /* triggers that were counted */
    uint64_t began_ns;        /* when the last window began; 0: none has */

    /* The open window; trigger 0: none is open. */
    struct etwas_snapshot_window window;
    uint64_t until_ns;
    bool is_wider; /* buffers before its pins belong to it too, and were not checked yet */
};

/* ---- triggers -------------------------------------------------------------------------------- */

/*
 * Returns how many triggers came since the last call; *first receives approximately the earliest
 * stamp.
 */
static uint64_t recorder_take_triggers(struct recorder *recorder, struct etwas_trigger *trigger,
                                       int64_t *first)
{
    uint64_t asked;
    uint64_t came;

    *first = (int64_t)ck_pr_fas_64(&trigger->first, 0);
    ck_pr_fence_memory(); /* pairs with the one in etwas_trigger_pull */
    asked = ck_pr_load_64(&trigger->asked);
    came = asked - recorder->taken;
    recorder->taken = asked;
    return came;
}

static void recorder_count_triggers(struct etwas_session *session, uint64_t *account,
                                    uint64_t triggers)
{
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    *account += triggers;
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
}

static uint64_t recorder_lost_events(const struct etwas_session *session)
{
    etwas_session_counts counts;

    etwas_session_count(session, &counts);
    return counts.lost;
}

/* Whether a file with all that the recorder holds would exceed a limit. */
static bool recorder_is_capped(const struct recorder *recorder, const struct etwas_session *session)
{
    const struct etwas_recorder_options *options = &recorder->options;
    uint64_t held_bytes =
        (uint64_t)etwas_pool_allocated(session->buffers.pool) * session->buffers.pool->buffer_bytes;

    return (options->maximum_files != 0 && session->trigger.files >= options->maximum_files) ||
           (options->maximum_bytes != 0 &&
            session->trigger.bytes + held_bytes > options->maximum_bytes);
}

/* ---- pins ------------------------------------------------------------------------------------ */

static int candidate_newest_first(const void *left, const void *right)
{
    int64_t one = ((const struct candidate *)left)->newest;
    int64_t other = ((const struct candidate *)right)->newest;

    return one > other ? -1 : one < other;
}

/*
 * Lists a slot's buffers that belong to the window and are not pinned. Buffers before a pinned one
 * were checked when it was pinned, unless the window has become wider.
 */
static uint32_t recorder_list_slot(const struct recorder *recorder, struct etwas_pool *pool,
                                   uint32_t slot, uint32_t count)
{
    bool is_rseq = etwas_pool_is_rseq_slot(pool, slot);
    struct etwas_chain chain;
    bool more;

    if (is_rseq) {
        etwas_rseq_close_previous(etwas_pool_slot(pool, slot), pool);
    }
    more = etwas_chain_begin(pool, slot, &chain);
    /* A buffer that moves from slot to slot meanwhile may be found twice. */
    while (more && count < recorder->most_candidates && chain.newest >= recorder->window.begin &&
           (recorder->is_wider || etwas_owner_state(chain.owner) != ETWAS_OWNER_PINNED)) {
        /*
         * The current one of an rseq slot cannot be pinned. It becomes full before the snapshot, or
         * is copied.
         */
        if (etwas_owner_state(chain.owner) == (is_rseq ? ETWAS_OWNER_CLOSED : ETWAS_OWNER_HELD)) {
            recorder->candidates[count++] =
                (struct candidate){{chain.owner, chain.buffer}, chain.newest};
        }
        more = etwas_chain_back(pool, &chain);
    }
    return count;
}

static uint32_t recorder_list_candidates(const struct recorder *recorder, struct etwas_pool *pool)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < etwas_pool_used_slots(pool); slot++) {
        count = recorder_list_slot(recorder, pool, slot, count);
    }
    qsort(recorder->candidates, count, sizeof *recorder->candidates, candidate_newest_first);
    return count;
}

/*
 * Whether another buffer can be pinned, so that the retention class still has within its quota what
 * its slots need.
 */
static bool recorder_row_has_room(const struct recorder *recorder, const struct etwas_pool *pool,
                                  uint32_t row)
{
    uint32_t quota = ck_pr_load_32(&pool->words->rows[row].quota);

    return !etwas_quota_has_rows(pool) || recorder->row_pins[row] + pool->row_least < quota;
}

static void recorder_pin(struct recorder *recorder, struct etwas_pool *pool,
                         const struct candidate *candidate, uint32_t most)
{
    bool is_extra =
        pool->rseq_slots != 0 && etwas_pool_is_of_shared_slot(pool, candidate->pin.owner);
    uint32_t row = etwas_quota_class_row(pool, etwas_owner_slot(candidate->pin.owner));

    if (recorder->verbs.pin_count < most &&
        !(is_extra && recorder->extra_pins >= recorder->most_extra_pins) &&
        recorder_row_has_room(recorder, pool, row) &&
        etwas_pool_pin(pool, candidate->pin.buffer, candidate->pin.owner)) {
        recorder->verbs.pins[recorder->verbs.pin_count++] = candidate->pin;
        recorder->extra_pins += is_extra ? 1 : 0;
        recorder->row_pins[row]++;
    }
}

/* All slots except guests', which take only free buffers (pool_claim.c). */
static uint32_t recorder_own_slots(const struct etwas_pool *pool)
{
    return pool->slot_count - pool->guest_slots;
}

/*
 * At the trigger, pins the newest buffers first. One pin for each slot is left, because the buffer
 * that contains the moment itself cannot be pinned before it is full.
 */
static void recorder_pin_held(struct recorder *recorder, struct etwas_pool *pool)
{
    uint32_t count = recorder_list_candidates(recorder, pool);
    uint32_t most = recorder->most_pins > recorder_own_slots(pool)
                        ? recorder->most_pins - recorder_own_slots(pool)
                        : 0;

    for (uint32_t index = 0; index < count; index++) {
        recorder_pin(recorder, pool, &recorder->candidates[index], most);
    }
}

/* Pins what was filled since then, the oldest first, because that is overwritten next. */
static void recorder_pin_new(struct recorder *recorder, struct etwas_pool *pool)
{
    for (uint32_t left = recorder_list_candidates(recorder, pool); left > 0; left--) {
        recorder_pin(recorder, pool, &recorder->candidates[left - 1], recorder->most_pins);
    }
    recorder->is_wider = false;
}

static void recorder_unpin(struct recorder *recorder, struct etwas_pool *pool)
{
    for (uint32_t index = 0; index < recorder->verbs.pin_count; index++) {
        etwas_pool_unpin(pool, recorder->verbs.pins[index].buffer,
                         recorder->verbs.pins[index].owner);
    }
    recorder->verbs.pin_count = 0;
    recorder->extra_pins = 0;
    memset(recorder->row_pins, 0, sizeof recorder->row_pins);
}

/* ---- a window -------------------------------------------------------------------------------- */

static bool window_is_open(const struct recorder *recorder)
{
    return recorder->window.trigger != 0;
}

static int64_t window_begin_for(const struct recorder *recorder, int64_t moment)
{
    int64_t before = recorder->options.before_ticks;

    return moment < INT64_MIN + before ? INT64_MIN : moment - before;
}

/*
 * How long the window stays open. A trigger from a payload comes after its moment. Because the two
 * clocks differ a little, RECHECK_NS is added: too long is better than too short.
 */
static uint64_t window_left_ns(const struct recorder *recorder, const struct etwas_session *session,
                               int64_t moment)
{
    uint32_t clock = session->configuration.clock;
    etwas_etl_wide age = (etwas_etl_wide)etwas_clock_now(clock) - moment;
    etwas_etl_wide left = (etwas_etl_wide)recorder->options.after_ns + RECHECK_NS -
                          age * NS_A_SECOND / (etwas_etl_wide)etwas_clock_frequency(clock);

    if (left > (etwas_etl_wide)recorder->options.after_ns) {
        return recorder->options.after_ns;
    }
    return left > 0 ? (uint64_t)left : 0;
}

/* Widens the window for a joined trigger with an earlier moment. */
static void window_widen(struct recorder *recorder, int64_t moment)
{
    int64_t wanted = window_begin_for(recorder, moment);

    if (moment != 0 && wanted < recorder->window.begin) {
        recorder->window.begin = wanted;
        recorder->is_wider = true;
    }
}

/* Makes the file name of the open window. */
static uint32_t window_file_name(const struct recorder *recorder,
                                 const struct etwas_session *session,
                                 etwas_wchar made[ETWAS_NAME_UNITS + 1])
{
    return etwas_file_name_make(
        recorder->options.file_name,
        (session->configuration.log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) |
            EVENT_TRACE_FILE_MODE_NEWFILE,
        recorder->window.number, (uint32_t)getpid(), made);
}

/* If the name cannot be made, that is reported when the file is written. */
static void window_notify_begun(const struct recorder *recorder,
                                const struct etwas_session *session)
{
    etwas_wchar made[ETWAS_NAME_UNITS + 1];

    if (recorder->options.begun != NULL &&
        window_file_name(recorder, session, made) == ERROR_SUCCESS) {
        recorder->options.begun(session, made, &recorder->window);
    }
}

static void window_begin(struct recorder *recorder, struct etwas_session *session)
{
    const struct etwas_recorder_options *options = &recorder->options;
    struct etwas_trigger *trigger = &session->trigger;
    const int64_t started =
        etwas_clock_reading_stamp(&session->started, session->configuration.clock);
    uint64_t now_ns = etwas_monotonic_ns();
    int64_t first;
    uint64_t came = recorder_take_triggers(recorder, trigger, &first);

    if (came == 0) {
        return;
    }
    if (recorder->began_ns != 0 && now_ns - recorder->began_ns < options->least_gap_ns) {
        recorder_count_triggers(session, &trigger->limited, came);
        return;
    }
    if (recorder_is_capped(recorder, session)) {
        recorder_count_triggers(session, &trigger->capped, came);
        return;
    }
    if (first == 0) {
        first = etwas_clock_now(session->configuration.clock);
    }
    first = first > started ? first : started;
    recorder->window = (struct etwas_snapshot_window){
        .begin = window_begin_for(recorder, first),
        .trigger = first,
        .number = (uint32_t)trigger->windows + 1,
        .triggers = (uint32_t)came,
        .lost_before = recorder_lost_events(session),
    };
    recorder->began_ns = now_ns;
    recorder->until_ns = now_ns + window_left_ns(recorder, session, first);
    recorder_pin_held(recorder, session->buffers.pool);
    /* A thread that sees the window counted knows that the buffers of the window are pinned. */
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    trigger->windows++;
    trigger->joined += came - 1;
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    ck_pr_store_32(&trigger->is_open, 1);
    window_notify_begun(recorder, session);
}

static uint32_t window_write(struct recorder *recorder, struct etwas_session *session)
{
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    uint32_t code = window_file_name(recorder, session, made);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (recorder->options.prepare != NULL) {
        recorder->options.prepare(session);
    }
    return etwas_snapshot_write_window(session, made, &recorder->window);
}

static void window_finish(struct recorder *recorder, struct etwas_session *session)
{
    struct etwas_trigger *trigger = &session->trigger;
    int64_t first;
    uint64_t came = recorder_take_triggers(recorder, trigger, &first);
    uint32_t code;

    recorder->window.triggers += (uint32_t)came;
    window_widen(recorder, first);
    recorder_count_triggers(session, &trigger->joined, came);
    recorder_pin_new(recorder, session->buffers.pool);
    code = window_write(recorder, session);
    recorder_unpin(recorder, session->buffers.pool);
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    trigger->files += code == ERROR_SUCCESS ? 1 : 0;
    trigger->failed += code == ERROR_SUCCESS ? 0 : 1;
    trigger->last_code = code == ERROR_SUCCESS ? trigger->last_code : code;
    trigger->bytes += recorder->window.bytes;
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    recorder->window.trigger = 0;
    ck_pr_store_32(&trigger->is_open, 0);
    /* pairs with the one in etwas_trigger_pull: before `first` is read */
    ck_pr_fence_memory();
}

/*
 * Ends the recorder with its session: writes what was requested until now. Nothing can be requested
 * afterwards.
 */
static void recorder_end(struct recorder *recorder, struct etwas_session *session)
{
    ck_pr_store_32(&session->trigger.armed, 0);
    ck_pr_fence_memory();
    if (!window_is_open(recorder)) {
        window_begin(recorder, session);
    }
    if (window_is_open(recorder)) {
        window_finish(recorder, session);
    }
    session->drain.recorder = NULL;
    free(recorder->verbs.pins);
    free(recorder->candidates);
    free(recorder);
}

static uint64_t recorder_pass(struct etwas_session *session, bool last)
{
    struct recorder *recorder = (struct recorder *)(void *)session->drain.recorder;
    uint64_t now_ns;

    if (last) {
        recorder_end(recorder, session);
        return UINT64_MAX;
    }
    if (!window_is_open(recorder)) {
        window_begin(recorder, session);
    }
    if (!window_is_open(recorder)) {
        return UINT64_MAX;
    }
    now_ns = etwas_monotonic_ns();
    if (now_ns >= recorder->until_ns) {
        window_finish(recorder, session);
        return ck_pr_load_64(&session->trigger.first) != 0 ? 0 : UINT64_MAX;
    }
    window_widen(recorder, (int64_t)ck_pr_load_64(&session->trigger.first));
    recorder_pin_new(recorder, session->buffers.pool);
    return recorder->until_ns - now_ns < RECHECK_NS ? recorder->until_ns - now_ns : RECHECK_NS;
}

/* ---- arming ---------------------------------------------------------------------------------- */

/* How many buffers must stay unpinned so that each writer always finds one. */
static uint32_t recorder_least_reserve(const struct etwas_pool *pool)
{
    return BUFFERS_A_SLOT * recorder_own_slots(pool) +
           (pool->rseq_slots != 0 ? pool->extra_buffers : 0);
}

static struct recorder *recorder_make(const struct etwas_pool *pool,
                                      const struct etwas_recorder_options *options,
                                      uint32_t allocated, uint32_t reserve)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);

    if (recorder == NULL) {
        return NULL;
    }
    recorder->verbs.pass = recorder_pass;
    recorder->options = *options;
    recorder->most_candidates = allocated;
    recorder->most_pins = allocated - reserve;
    recorder->most_extra_pins =
        pool->extra_buffers > BUFFERS_A_SLOT ? pool->extra_buffers - BUFFERS_A_SLOT : 0;
    recorder->verbs.pins = malloc(recorder->most_pins * sizeof *recorder->verbs.pins);
    recorder->candidates = malloc(allocated * sizeof *recorder->candidates);
    if (recorder->verbs.pins == NULL || recorder->candidates == NULL) {
        free(recorder->verbs.pins);
        free(recorder->candidates);
        free(recorder);
        return NULL;
    }
    return recorder;
}

/* The fewest buffers of which some can be pinned besides those left to writers. */
static uint64_t recorder_needed(const struct etwas_pool *pool, uint32_t reserve)
{
    return (uint64_t)reserve + recorder_own_slots(pool) + 1;
}

/*
 * Grows a pool that has too few buffers for a window, so that as many can be pinned as writers need
 * at least; if there is no room for that, at least one. Its new size becomes its maximum, as in any
 * recorder (R72). New buffers contain no events: writers take them before they overwrite one.
 * ERROR_INVALID_PARAMETER: the region has no room. Otherwise the errors of
 * etwas_shared_give_buffers_space. After an error nothing is changed.
 */
static uint32_t recorder_grow(struct etwas_session *session, uint32_t reserve)
{
    struct etwas_pool *pool = session->buffers.pool;
    uint64_t wanted = (uint64_t)reserve + recorder_least_reserve(pool);
    uint32_t most = ck_pr_load_32(&pool->region_buffers);
    uint32_t maximum = wanted < most ? (uint32_t)wanted : most;
    uint32_t code = ERROR_SUCCESS;

    if (recorder_needed(pool, reserve) > most) {
        return ERROR_INVALID_PARAMETER;
    }
    if (session->mapping != NULL) {
        code = etwas_shared_give_buffers_space(session->mapping, maximum, pool->buffer_bytes);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    maximum = etwas_pool_set_maximum(pool, maximum);
    while (etwas_pool_grow(pool)) {
    }
    etwas_control_lock();
    ck_pr_store_32(&session->configuration.maximum_buffers, maximum);
    etwas_control_unlock();
    return ERROR_SUCCESS;
}

uint32_t etwas_recorder_arm(struct etwas_session *session,
                            const struct etwas_recorder_options *options, uint32_t *needed)
{
    const struct etwas_pool *pool = session->buffers.pool;
    uint32_t allocated = etwas_pool_allocated(pool);
    uint32_t least = recorder_least_reserve(pool);
    uint32_t reserve = options->spare_buffers != 0 ? options->spare_buffers : allocated / 2;
    struct recorder *recorder;
    uint32_t code = ERROR_SUCCESS;

    *needed = 0;
    if (!etwas_configuration_is_buffering(&session->configuration) ||
        session->configuration.filtered_out || ck_pr_load_32(&session->flusher.thread_id) == 0) {
        return ERROR_NOT_SUPPORTED;
    }
    if (session->drain.recorder != NULL) {
        return ERROR_ALREADY_EXISTS;
    }
    reserve = reserve > least ? reserve : least;
    if (recorder_needed(pool, reserve) > allocated) {
        code = recorder_grow(session, reserve);
    }
    if (code == ERROR_INVALID_PARAMETER) {
        uint64_t buffers = recorder_needed(pool, reserve);

        *needed = buffers < UINT32_MAX ? (uint32_t)buffers : UINT32_MAX;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    recorder = recorder_make(pool, options, etwas_pool_allocated(pool), reserve);
    if (recorder == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    session->drain.recorder = &recorder->verbs;
    ck_pr_store_32(&session->trigger.clock, session->configuration.clock);
    ck_pr_fence_release(); /* pairs with the acquire in etwas_trigger_pull */
    ck_pr_store_32(&session->trigger.armed, session->entry.generation);
    return ERROR_SUCCESS;
}
