/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "etl/loss_table.h"

#include <string.h>

void etwas_loss_table_begin(struct etwas_loss_table *table, int64_t joined_ticks)
{
    table->count = 0;
    table->limit = ETWAS_LOSSES;
    table->joined_ticks = joined_ticks;
}

void etwas_loss_table_clear(struct etwas_loss_table *table)
{
    table->count = 0;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static bool loss_has_interval_of(const struct etwas_etl_loss *one,
                                 const struct etwas_etl_loss *other)
{
    return one->from_raw == other->from_raw && one->until_raw == other->until_raw;
}

/* Returns where the interval begins that ends before `end`, which is not 0. */
static uint32_t interval_begin(const struct etwas_loss_table *table, uint32_t end)
{
    uint32_t begin = end - 1;

    while (begin > 0 && loss_has_interval_of(&table->losses[begin - 1], &table->losses[end - 1])) {
        begin--;
    }
    return begin;
}

/* Widens an interval to include another one. */
static void interval_widen(struct etwas_loss_table *table, uint32_t begin, uint32_t end,
                           const struct etwas_etl_loss *other)
{
    int64_t from = table->losses[begin].from_raw;
    int64_t until = table->losses[begin].until_raw;

    for (uint32_t index = begin; index < end; index++) {
        struct etwas_etl_loss *loss = &table->losses[index];

        loss->from_raw = other->from_raw < from ? other->from_raw : from;
        loss->until_raw = other->until_raw > until ? other->until_raw : until;
    }
}

static bool loss_is_alike(const struct etwas_etl_loss *one, const struct etwas_etl_loss *other)
{
    return one->cause == other->cause && one->processor == other->processor &&
           one->retention_class == other->retention_class;
}

static struct etwas_etl_loss *interval_find_alike(struct etwas_loss_table *table, uint32_t begin,
                                                  uint32_t end, const struct etwas_etl_loss *loss)
{
    for (uint32_t index = begin; index < end; index++) {
        if (loss_is_alike(&table->losses[index], loss)) {
            return &table->losses[index];
        }
    }
    return NULL;
}

/* ---- making room ----------------------------------------------------------------------------- */

/* Merges losses of the same kind in the interval from `begin` to `end`. */
static void intervals_unite(struct etwas_loss_table *table, uint32_t begin, uint32_t end)
{
    uint32_t kept = begin;

    for (uint32_t index = begin; index < end; index++) {
        const struct etwas_etl_loss loss = table->losses[index];
        struct etwas_etl_loss *alike = interval_find_alike(table, begin, kept, &loss);

        if (alike != NULL) {
            alike->events += loss.events;
        } else {
            table->losses[kept++] = loss;
        }
    }
    memmove(&table->losses[kept], &table->losses[end],
            (table->count - end) * sizeof *table->losses);
    table->count -= end - kept;
}

/*
 * Finds the two neighbouring intervals that are shortest together: where the second begins, and
 * where it ends. Returns false if there is only one.
 */
static bool intervals_find_shortest(const struct etwas_loss_table *table, uint32_t *middle,
                                    uint32_t *end)
{
    uint64_t shortest = UINT64_MAX;
    bool found = false;

    for (uint32_t behind = table->count, begin; behind > 0; behind = begin) {
        begin = interval_begin(table, behind);
        if (begin > 0) {
            uint64_t ticks = (uint64_t)table->losses[begin].until_raw -
                             (uint64_t)table->losses[begin - 1].from_raw;

            if (!found || ticks <= shortest) { /* the oldest, if several are equally short */
                shortest = ticks;
                *middle = begin;
                *end = behind;
            }
            found = true;
        }
    }
    return found;
}

/* Merges two intervals; if there is only one, merges its processors and classes. */
static void loss_table_coarsen(struct etwas_loss_table *table)
{
    uint32_t middle;
    uint32_t end;

    if (intervals_find_shortest(table, &middle, &end)) {
        uint32_t begin = interval_begin(table, middle);
        const struct etwas_etl_loss before = table->losses[begin];

        interval_widen(table, begin, middle, &table->losses[middle]);
        interval_widen(table, middle, end, &before);
        intervals_unite(table, begin, end);
        return;
    }
    for (uint32_t index = 0; index < table->count; index++) {
        table->losses[index].processor = ETWAS_LOST_ANYWHERE;
        table->losses[index].retention_class = 0;
    }
    intervals_unite(table, 0, table->count);
}

void etwas_loss_table_limit(struct etwas_loss_table *table, uint32_t limit)
{
    table->limit = limit;
    while (table->count > limit) {
        loss_table_coarsen(table);
    }
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Whether the loss is in the last interval, or follows so soon that it joins that interval. */
static bool loss_joins_last(const struct etwas_loss_table *table, const struct etwas_etl_loss *loss)
{
    const struct etwas_etl_loss *last;

    if (table->count == 0) {
        return false;
    }
    last = &table->losses[table->count - 1];
    return loss->from_raw >= last->from_raw &&
           (loss->until_raw <= last->until_raw ||
            loss->until_raw - last->from_raw < table->joined_ticks);
}

void etwas_loss_table_add(struct etwas_loss_table *table, const struct etwas_etl_loss *loss)
{
    struct etwas_etl_loss added = *loss;

    if (loss_joins_last(table, loss)) {
        uint32_t begin = interval_begin(table, table->count);
        struct etwas_etl_loss *alike = interval_find_alike(table, begin, table->count, loss);

        interval_widen(table, begin, table->count, loss);
        if (alike != NULL) {
            alike->events += loss->events;
            return;
        }
        added.from_raw = table->losses[begin].from_raw;
        added.until_raw = table->losses[begin].until_raw;
    }
    table->losses[table->count++] = added;
    etwas_loss_table_limit(table, table->limit);
}
