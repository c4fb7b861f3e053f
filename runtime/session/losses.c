/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/losses.h"

#include <ck_pr.h>
#include <stdlib.h>

#include "buffer/quota.h"
#include "clock/clock.h"
#include "session/session.h"

enum {
    INTERVALS_A_SECOND = 10, /* at most */
};

static const uint32_t slot_causes[ETWAS_SLOT_LOSSES] = {
    [ETWAS_SLOT_NO_BUFFER] = ETWAS_LOST_NO_BUFFER,
    [ETWAS_SLOT_BACKLOG_FULL] = ETWAS_LOST_BACKLOG_FULL,
    [ETWAS_SLOT_TOO_LARGE] = ETWAS_LOST_TOO_LARGE,
    [ETWAS_SLOT_WITHHELD] = ETWAS_LOST_WITHHELD,
};

/* The interval of one check. */
struct interval {
    struct etwas_loss_table *table;
    int64_t from;
    int64_t until;
};

void etwas_losses_begin(struct etwas_session *session)
{
    uint32_t clock = session->configuration.clock;
    int64_t ticks = (int64_t)(etwas_clock_frequency(clock) / INTERVALS_A_SECOND);

    session->drain.losses =
        calloc(1, sizeof *session->drain.losses +
                      session->slot_count * sizeof *session->drain.losses->slots);
    if (session->drain.losses != NULL) {
        etwas_loss_table_begin(&session->drain.losses->table, ticks);
        session->drain.losses->checked_at = etwas_clock_now(clock);
    }
}

void etwas_losses_end(struct etwas_session *session)
{
    free(session->drain.losses);
    session->drain.losses = NULL;
}

/* ---- checking -------------------------------------------------------------------------------- */

/*
 * Reports a count that has grown. A count that includes unfinished writers may temporarily be less
 * than before.
 */
static void losses_report(const struct interval *interval, uint64_t *reported, uint64_t found,
                          struct etwas_etl_loss loss)
{
    if (found > *reported) {
        loss.version = ETWAS_ETL_LOSS_VERSION;
        loss.events = found - *reported;
        loss.from_raw = interval->from;
        loss.until_raw = interval->until;
        etwas_loss_table_add(interval->table, &loss);
        *reported = found;
    }
}

static void losses_read_slots(const struct etwas_session *session)
{
    for (uint32_t index = 0; index < session->slot_count; index++) {
        const struct etwas_slot_counters *counters =
            &etwas_pool_slot(session->buffers.pool, index)->counters;
        struct etwas_slot_losses *slot = &session->drain.losses->slots[index];

        for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
            slot->found[cause] = ck_pr_load_64(&counters->lost[cause]);
        }
    }
}

/* The processor of a slot; for an extra slot the number of processors. */
static uint32_t losses_processor_of(const struct etwas_session *session, uint32_t slot)
{
    uint32_t row_slots = session->buffers.pool->row_slots;

    if (etwas_configuration_has_one_slot(&session->configuration)) {
        return ETWAS_LOST_ANYWHERE;
    }
    return slot < session->buffers.pool->rows * row_slots ? slot % row_slots : row_slots;
}

static void losses_report_slots(const struct etwas_session *session,
                                const struct interval *interval)
{
    for (uint32_t index = 0; index < session->slot_count; index++) {
        struct etwas_slot_losses *slot = &session->drain.losses->slots[index];
        struct etwas_etl_loss loss = {
            .processor = losses_processor_of(session, index),
            .retention_class = etwas_quota_class_row(session->buffers.pool, index),
        };

        for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
            loss.cause = slot_causes[cause];
            losses_report(interval, &slot->reported[cause], slot->found[cause], loss);
        }
    }
}

/* `without_slot` has the counts of the causes that no slot counts. */
static void losses_check(struct etwas_session *session, const uint64_t *without_slot)
{
    struct etwas_losses *losses = session->drain.losses;
    uint32_t clock = session->configuration.clock;
    struct interval interval = {.table = &losses->table, .from = losses->checked_at};

    losses->checked_at = etwas_clock_now(clock);
    ck_pr_fence_memory(); /* what is not found now is lost after that stamp … */
    losses_read_slots(session);
    ck_pr_fence_memory(); /* … and what is found was lost before this one */
    interval.until = etwas_clock_now(clock);
    interval.until = interval.until > interval.from ? interval.until
                                                    : interval.from; /* the clock was set back */
    losses_report_slots(session, &interval);
    for (uint32_t cause = ETWAS_LOST_WRITE_ERROR; cause <= ETWAS_LOST_CAUSES; cause++) {
        const struct etwas_etl_loss loss = {.cause = cause, .processor = ETWAS_LOST_ANYWHERE};

        losses_report(&interval, &losses->without_slot[cause], without_slot[cause], loss);
    }
}

void etwas_losses_check(struct etwas_session *session)
{
    if (session->drain.losses != NULL) {
        const uint64_t *accounted = session->buffers.pool->accounted;
        const uint64_t without_slot[ETWAS_LOST_CAUSES + 1] = {
            [ETWAS_LOST_WRITE_ERROR] = ck_pr_load_64(&accounted[ETWAS_DISPOSITION_WRITE_ERROR]),
            [ETWAS_LOST_FILE_FULL] = ck_pr_load_64(&accounted[ETWAS_DISPOSITION_FILE_FULL]),
            [ETWAS_LOST_ABANDONED] = ck_pr_load_64(&accounted[ETWAS_DISPOSITION_ABANDONED]),
            [ETWAS_LOST_UNDELIVERED] = ck_pr_load_64(&accounted[ETWAS_DISPOSITION_UNDELIVERED]),
            [ETWAS_LOST_UNATTACHED] = ck_pr_load_64(&session->totals.lost_unattached),
        };

        losses_check(session, without_slot);
    }
}

static uint64_t losses_reported_of_slots(const struct etwas_session *session,
                                         enum etwas_slot_loss cause)
{
    uint64_t reported = 0;

    for (uint32_t index = 0; index < session->slot_count; index++) {
        reported += session->drain.losses->slots[index].reported[cause];
    }
    return reported;
}

/* Replaces the counts of losses by those reported, so that both agree whatever was lost since. */
static void losses_count_reported(const struct etwas_session *session, etwas_session_counts *counts)
{
    const struct etwas_losses *losses = session->drain.losses;

    counts->lost_no_buffer = losses_reported_of_slots(session, ETWAS_SLOT_NO_BUFFER);
    counts->lost_backlog_full = losses_reported_of_slots(session, ETWAS_SLOT_BACKLOG_FULL);
    counts->lost_too_large = losses_reported_of_slots(session, ETWAS_SLOT_TOO_LARGE);
    counts->lost_withheld = losses_reported_of_slots(session, ETWAS_SLOT_WITHHELD);
    counts->lost_write_error = losses->without_slot[ETWAS_LOST_WRITE_ERROR];
    counts->lost_file_full = losses->without_slot[ETWAS_LOST_FILE_FULL];
    counts->lost_abandoned = losses->without_slot[ETWAS_LOST_ABANDONED];
    counts->lost_undelivered = losses->without_slot[ETWAS_LOST_UNDELIVERED];
    counts->lost_unattached = losses->without_slot[ETWAS_LOST_UNATTACHED];
    etwas_session_add_losses(counts);
}

void etwas_losses_check_and_count(struct etwas_session *session, etwas_session_counts *counts)
{
    etwas_session_count(session, counts);
    if (session->drain.losses != NULL) {
        const uint64_t without_slot[ETWAS_LOST_CAUSES + 1] = {
            [ETWAS_LOST_WRITE_ERROR] = counts->lost_write_error,
            [ETWAS_LOST_FILE_FULL] = counts->lost_file_full,
            [ETWAS_LOST_ABANDONED] = counts->lost_abandoned,
            [ETWAS_LOST_UNDELIVERED] = counts->lost_undelivered,
            [ETWAS_LOST_UNATTACHED] = counts->lost_unattached,
        };

        losses_check(session, without_slot);
        losses_count_reported(session, counts);
    }
}
