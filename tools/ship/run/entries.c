/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/entries.h"

#include "ship/run/follow.h"

#include <stdlib.h>
#include <string.h>

static bool take_entry(void *context, const char *path, const struct stat *facts)
{
    struct etwas_ship_entries *entries = context;
    struct etwas_ship_entry *entry = &entries->list[entries->count];

    entries->bytes += (uint64_t)facts->st_size;
    if (entries->count < ETWAS_SHIP_ENTRIES && (entry->path = strdup(path)) != NULL) {
        entry->facts = *facts;
        if (entries->sources != NULL) {
            uint64_t mark = etwas_ship_mark(path, facts);

            entry->is_finished = etwas_ship_sources_is_finished(entries->sources, mark);
            entry->has_arrived = etwas_ship_sources_has_arrived(entries->sources, mark);
        }
        entries->count++;
    }
    return true;
}

static int in_order(const void *first, const void *second)
{
    const struct etwas_ship_entry *one = first;
    const struct etwas_ship_entry *other = second;
    const struct timespec *its = &one->facts.st_mtim;
    const struct timespec *others = &other->facts.st_mtim;

    if (one->has_arrived != other->has_arrived) {
        return one->has_arrived ? -1 : 1;
    }
    if (its->tv_sec != others->tv_sec) {
        return its->tv_sec < others->tv_sec ? -1 : 1;
    }
    return (its->tv_nsec > others->tv_nsec) - (its->tv_nsec < others->tv_nsec);
}

bool etwas_ship_entries_read(struct etwas_ship_entries *entries, const char *folder,
                             const struct etwas_ship_sources *sources)
{
    *entries = (struct etwas_ship_entries){
        .list = calloc(ETWAS_SHIP_ENTRIES + 1, sizeof *entries->list), .sources = sources};
    if (entries->list == NULL || !etwas_ship_each_file(folder, take_entry, entries)) {
        etwas_ship_entries_free(entries);
        return false;
    }
    qsort(entries->list, entries->count, sizeof *entries->list, in_order);
    return true;
}

void etwas_ship_entries_free(struct etwas_ship_entries *entries)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        free(entries->list[i].path);
    }
    free(entries->list);
    *entries = (struct etwas_ship_entries){0};
}
