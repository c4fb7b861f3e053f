/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/kernel_sources.h"

#include <etwas/evntrace.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "system/groups/length_probe.h"
#include "system/inventory/inventory.h"
#include "system/kernel_sources_events.h"
#include "system/names/exec_probe.h"
#include "system/names/kernel_symbols.h"
#include "system/names/path_probe.h"
#include "system/stream/source_tags.h"

/* ---- what comes in --------------------------------------------------------------------------- */

static void take_sample(struct etwas_board *board, const struct etwas_merged *merged)
{
    uint32_t number = etwas_tag_topic(merged->event->tag);
    uint32_t source = etwas_tag_source(merged->event->tag);
    const struct etwas_topic_use *use = &board->uses[number];
    const struct etwas_source *origin = &etwas_topics[number]->sources[source];
    struct etwas_taken taken = {.host = &board->host,
                                .state = use->state,
                                .sample = &merged->sample,
                                .fields = use->fields[source],
                                .thread = &use->thread[source],
                                .slot = merged->feed->processor};
    bool good = false;

    if (board->host.numbers.known != NULL && origin->tracepoint != NULL) {
        etwas_thread_numbers_learn(&board->host.numbers, etwas_taken_thread(&taken),
                                   merged->sample.origin.thread_id);
        taken.next_thread = etwas_feed_next_thread(merged->feed);
    }
    etwas_accounts_begin(&board->accounts, merged->event->tag);
    board->walker.sample = &merged->sample;
    /* A processor may have written it when its topic was closed already. */
    if (use->is_open) {
        etwas_board_speak_for(board, number);
        good = origin->take(&taken);
        etwas_board_speak_freely(board);
    }
    board->walker.sample = NULL;
    etwas_accounts_end(&board->accounts, merged->feed->processor, good);
}

/*
 * The own process's forks tell of their children, of whom nothing else is told. What ends, ends in the other order
 * than it began: threads and images before their process.
 */
static void give_sideband(struct etwas_board *board, uint32_t kind, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    if (board->host.own_process != 0 && sideband->process_id != board->host.own_process) {
        return;
    }
    etwas_record_filter_learn(&board->walker.filter, sideband);
    for (uint32_t index = 0; index < etwas_topic_count; index++) {
        uint32_t number =
            sideband->type == PERF_RECORD_EXIT ? etwas_topic_count - 1 - index : index;
        const struct etwas_topic *topic = etwas_topics[number];

        if (board->uses[number].is_open && (etwas_board_sideband(board, topic) & kind) != 0) {
            etwas_board_speak_for(board, number);
            topic->take_sideband(board->uses[number].state, &board->host, slot, sideband);
        }
    }
    etwas_board_speak_freely(board);
}

static bool decode(const struct etwas_merged *merged, uint32_t kind,
                   struct etwas_sideband *sideband)
{
    switch (kind) {
    case ETWAS_SIDEBAND_ARGUMENTS:
        return etwas_exec_decode(&merged->sample, sideband);
    case ETWAS_SIDEBAND_PATHS:
        return etwas_path_decode(&merged->sample, sideband);
    case ETWAS_SIDEBAND_LENGTHS:
        return etwas_length_decode(&merged->sample, sideband);
    default:
        return etwas_sideband_decode(merged->record, sideband);
    }
}

/*
 * Every event of the sideband tells of FORK and EXIT, so it is asked of which one a record is. A record of
 * another processor than its ring's makes no sense.
 */
static void take_sideband(struct etwas_board *board, const struct etwas_merged *merged)
{
    uint32_t kind = etwas_sideband_of(merged->record->type) & merged->event->tag;
    uint32_t slot = merged->feed->processor;
    struct etwas_sideband sideband;
    bool good;

    if (kind == 0) {
        return;
    }
    etwas_accounts_begin(&board->accounts, merged->event->tag);
    good = decode(merged, kind, &sideband);
    good = good && sideband.origin.processor == slot;
    if (good) {
        give_sideband(board, kind, slot, &sideband);
    }
    etwas_accounts_end(&board->accounts, slot, good);
}

void etwas_board_forget_slot(struct etwas_board *board, uint32_t slot)
{
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->take_loss != NULL) {
            etwas_topics[number]->take_loss(board->uses[number].state, slot);
        }
    }
}

/*
 * What other processors do until the feed's next record is joined with what may be no longer true: so it is
 * forgotten where the gap begins, too. A ring that was full says what it lost with its next record only.
 */
static void forget_in_gap(struct etwas_board *board, const struct etwas_merged *merged)
{
    const struct etwas_feed *feed = merged->feed;

    if (feed->ring.lost != feed->lost_told ||
        (merged->record == NULL && feed->ring.times_full != feed->full_told)) {
        etwas_board_forget_slot(board, feed->processor);
    }
}

static void forget_in_gaps(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        forget_in_gap(board, &board->merge.feeds[index]);
    }
}

/* What was lost stands in the ring before the record that is there now. */
static void tell_loss(struct etwas_board *board, const struct etwas_merged *merged)
{
    struct etwas_feed *feed = merged->feed;
    uint64_t lost = feed->ring.lost - feed->lost_told;

    if (feed->was_off) {
        feed->was_off = false;
        etwas_board_record_loss(board, feed->processor, 0, feed->read_ns,
                                merged->sample.origin.time_ns);
    }
    if (lost == 0) {
        return;
    }
    feed->lost_told = feed->ring.lost;
    etwas_board_record_loss(board, feed->processor, lost, feed->read_ns,
                            merged->sample.origin.time_ns);
    etwas_board_forget_slot(board, feed->processor);
}

/*
 * Where a ring has records yet, the gap is behind them; also if they were written while others were read. Until it is
 * read up to there what it says is forgotten again and again.
 */
static void settle(struct etwas_board *board, int64_t until_ns)
{
    forget_in_gaps(board);
    for (uint32_t index = 0; index < board->merge.count; index++) {
        const struct etwas_merged *merged = &board->merge.feeds[index];

        if (merged->record == NULL &&
            (int64_t)(merged->feed->ring.tail - merged->feed->ring.full_at) >= 0) {
            merged->feed->full_told = merged->feed->ring.times_full;
        }
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->settle != NULL) {
            etwas_board_speak_for(board, number);
            etwas_topics[number]->settle(board->uses[number].state, &board->host, until_ns);
        }
    }
    etwas_board_speak_freely(board);
}

static void take(struct etwas_board *board, const struct etwas_merged *merged)
{
    tell_loss(board, merged);
    merged->feed->read_ns = merged->sample.origin.time_ns;
    if (merged->event == NULL) {
        return;
    }
    if (merged->event->tag < ETWAS_FIRST_SOURCE_TAG) {
        take_sideband(board, merged);
    } else if (merged->record->type == PERF_RECORD_SAMPLE) {
        take_sample(board, merged);
    }
}

void etwas_board_drain(struct etwas_board *board, int64_t until_ns)
{
    uint32_t filtered_by = board->walker.filtered_by; /* of who pauses */
    const struct etwas_merged *merged;

    etwas_merge_begin(&board->merge);
    forget_in_gaps(board);
    merged = etwas_merge_next(&board->merge, until_ns);
    while (merged != NULL) {
        const struct etwas_merged *taken = merged;

        take(board, taken);
        merged = etwas_merge_next(&board->merge, until_ns);
        forget_in_gap(board, taken);
    }
    etwas_merge_end(&board->merge);
    settle(board, until_ns);
    board->walker.filtered_by = filtered_by;
}

void etwas_board_drain_to_now(struct etwas_board *board)
{
    const struct timespec settle_time = {.tv_nsec = ETWAS_BOARD_SETTLE_NS};
    int64_t until_ns = etwas_clock_qpc();

    (void)nanosleep(&settle_time, NULL);
    etwas_board_drain(board, until_ns);
}

static void tell_namespace(struct etwas_board *board)
{
    struct etwas_record *record = board->host.record;

    etwas_record_begin_class(record, &etwas_etl_own_class, ETWAS_ETL_NAMESPACE_TYPE,
                             ETWAS_ETL_NAMESPACE_VERSION);
    etwas_record_put_u32(record, ETWAS_ETL_NAMESPACE_VERSION);
    etwas_record_put_u32(record, (uint32_t)getpid());
    etwas_record_put_u64(record, board->host.numbers.namespace_id);
    etwas_emit_now(board->host.emitter, etwas_record_end(record));
}

void etwas_board_run_down(struct etwas_board *board, bool is_end)
{
    if (!is_end) {
        tell_namespace(board);
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->run_down != NULL) {
            etwas_board_speak_for(board, number);
            etwas_topics[number]->run_down(board->uses[number].state, &board->host, is_end);
        }
    }
    etwas_board_speak_freely(board);
    if (!is_end && (board->settings.flags & EVENT_TRACE_FLAG_NO_SYSCONFIG) == 0) {
        etwas_inventory_tell(ETWAS_INVENTORY_HERE, ETWAS_INVENTORY_ALL, board->host.record,
                             board->host.emitter, board->host.pause);
    }
    board->has_run_down = true;
}

void etwas_board_tell_symbols(struct etwas_board *board)
{
    etwas_kernel_symbols_tell(&board->addresses, "/proc/kallsyms", board->host.record,
                              board->host.emitter);
}
