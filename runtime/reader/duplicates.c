/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/event_step.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 64
};

/* ---- groups ---------------------------------------------------------------------------------- */

static int duplicates_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/*
 * Orders streams so that those of one group are neighbours. Parts of one set have no records in
 * common, but a part that is given twice has.
 */
static int duplicates_compare_groups(const struct etwas_stream *a, const struct etwas_stream *b)
{
    int order = duplicates_compare(a->set_number, b->set_number);

    order = order != 0 ? order
                       : duplicates_compare(a->trace->log.totals.part, b->trace->log.totals.part);
    return order != 0 ? order : duplicates_compare(a->next->processor, b->next->processor);
}

static int duplicates_compare_group_pointers(const void *left, const void *right)
{
    return duplicates_compare_groups(*(struct etwas_stream *const *)left,
                                     *(struct etwas_stream *const *)right);
}

bool etwas_duplicates_find_groups(struct etwas_stream **streams, size_t count,
                                  struct etwas_duplicates **groups, size_t *group_count)
{
    *group_count = 0;
    *groups = calloc(count / 2 + 1, sizeof **groups);
    if (*groups == NULL) {
        return false;
    }
    qsort(streams, count, sizeof(struct etwas_stream *), duplicates_compare_group_pointers);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && duplicates_compare_groups(streams[first], streams[end]) == 0) {
            end++;
        }
        for (size_t i = first; end - first > 1 && i < end; i++) {
            streams[i]->duplicates = &(*groups)[*group_count];
        }
        *group_count += end - first > 1;
    }
    return true;
}

void etwas_duplicates_free(struct etwas_duplicates *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(groups[i].records);
    }
    free(groups);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t duplicates_mix_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t duplicates_hash_of(const struct etwas_record *record)
{
    uint64_t hash = record->size;
    uint32_t at = 0;
    uint64_t word;

    for (; at + sizeof word <= record->size; at += (uint32_t)sizeof word) {
        memcpy(&word, record->bytes + at, sizeof word);
        hash = duplicates_mix_hash(hash, word);
    }
    word = 0;
    memcpy(&word, record->bytes + at, record->size - at);
    return duplicates_mix_hash(hash, word);
}

/* Finds the record's entry, or the free entry where it would be. The table is never full. */
static struct etwas_duplicates_record *duplicates_find(const struct etwas_duplicates *duplicates,
                                                       const struct etwas_duplicates_record *wanted)
{
    size_t at = wanted->hash & (duplicates->room - 1);

    while (duplicates->records[at].key == duplicates->key &&
           (duplicates->records[at].hash != wanted->hash ||
            duplicates->records[at].size != wanted->size ||
            duplicates->records[at].place != wanted->place)) {
        at = (at + 1) & (duplicates->room - 1);
    }
    return &duplicates->records[at];
}

/* Keeps half of the table free. Returns false without memory. */
static bool duplicates_make_room(struct etwas_duplicates *duplicates)
{
    struct etwas_duplicates larger = *duplicates;

    if (duplicates->count < duplicates->room / 2) {
        return true;
    }
    larger.room = duplicates->room == 0 ? FIRST_ROOM : duplicates->room * 2;
    larger.records = calloc(larger.room, sizeof *larger.records);
    if (larger.records == NULL) {
        duplicates->out_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < duplicates->room; i++) {
        if (duplicates->records[i].key == duplicates->key) {
            *duplicates_find(&larger, &duplicates->records[i]) = duplicates->records[i];
        }
    }
    free(duplicates->records);
    *duplicates = larger;
    return true;
}

bool etwas_duplicates_is_delivered(struct etwas_stream *stream)
{
    struct etwas_duplicates *duplicates = stream->duplicates;
    struct etwas_duplicates_record record = {
        .place = stream->record_at,
        .size = stream->record.size,
        .file = stream->file_number,
    };
    struct etwas_duplicates_record *found;

    /*
     * Records that a session writes about itself and about events are in each of its files, for
     * readers of that file.
     */
    if (!stream->record.has_stamp || stream->record.stamp <= stream->trace->log.first_raw) {
        return false;
    }
    if (duplicates->key == 0 || duplicates->raw != stream->key_raw) {
        duplicates->raw = stream->key_raw;
        duplicates->key++;
        duplicates->count = 0;
    }
    if (!duplicates_make_room(duplicates)) {
        return false;
    }
    record.key = duplicates->key;
    record.hash = duplicates_hash_of(&stream->record);
    found = duplicates_find(duplicates, &record);
    if (found->key == duplicates->key) {
        return found->file != stream->file_number;
    }
    *found = record;
    duplicates->count++;
    return false;
}
