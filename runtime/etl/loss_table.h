/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Losses over time, with a limited number of entries. The losses found by one check of the counts
 * have the same interval and lie together. Intervals follow one another as they were added:
 *
 *     from until cause processor class │ from until … │ …
 *     └──────────── interval ─────────┘
 *
 * A check that comes soon after another extends the other's interval. When there is no more room,
 * the two neighbours that are shortest together are merged. So what was lost in a burst stays apart
 * from what was lost long before. When a single interval is left, its processors and classes are
 * merged. No lost event is forgotten.
 */
#ifndef ETWAS_ETL_LOSS_TABLE_H
#define ETWAS_ETL_LOSS_TABLE_H

#include <stdint.h>

#include <etwas/etwas.h>

#include "etl/own_record.h"

enum {
    ETWAS_LOSSES = 1024, /* the most losses of a table */
    ETWAS_LOSSES_LEAST = ETWAS_LOST_CAUSES + 1,
};

struct etwas_loss_table {
    struct etwas_etl_loss losses[ETWAS_LOSSES + 1]; /* one more, for the one being added */
    uint32_t count;
    uint32_t limit;       /* ETWAS_LOSSES_LEAST to ETWAS_LOSSES */
    int64_t joined_ticks; /* the least length of an interval while losses follow each other */
};

/* Begins an empty table with all its room. */
void etwas_loss_table_begin(struct etwas_loss_table *table, int64_t joined_ticks);

/* Empties the table and keeps its limit. */
void etwas_loss_table_clear(struct etwas_loss_table *table);

/*
 * Adds a loss that a check found; the losses of one check are added one after the other, with the
 * same interval.
 */
void etwas_loss_table_add(struct etwas_loss_table *table, const struct etwas_etl_loss *loss);

/* Limits the table to `limit` losses, at least ETWAS_LOSSES_LEAST. */
void etwas_loss_table_limit(struct etwas_loss_table *table, uint32_t limit);

#endif
