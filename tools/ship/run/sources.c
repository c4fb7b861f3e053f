/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/sources.h"

#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_MARKS = 1024,
    UNSENT_MARK = 1, /* added to the mark of a file that was given up */
};

bool etwas_ship_sources_open(struct etwas_ship_sources *sources)
{
    *sources = (struct etwas_ship_sources){
        .list = calloc(ETWAS_SHIP_SOURCES, sizeof(struct etwas_ship_source *)),
        .marks = calloc(FIRST_MARKS, sizeof(uint64_t)),
        .mark_room = FIRST_MARKS,
    };
    return sources->list != NULL && sources->marks != NULL;
}

void etwas_ship_sources_close(struct etwas_ship_sources *sources)
{
    while (sources->count != 0) {
        sources->list[0]->in_flight = 0;
        etwas_ship_sources_drop(sources, sources->list[0]);
    }
    free(sources->list);
    free(sources->marks);
}

/* ---- marks ----------------------------------------------------------------------------------- */

uint64_t etwas_ship_mark(const char *path, const struct stat *facts)
{
    const uint64_t values[] = {(uint64_t)facts->st_dev, (uint64_t)facts->st_ino,
                               (uint64_t)facts->st_size, (uint64_t)facts->st_mtim.tv_sec,
                               (uint64_t)facts->st_mtim.tv_nsec};
    uint64_t mark = etwas_hash(ETWAS_HASH_OF_NOTHING, values, sizeof values);

    mark = etwas_hash(mark, path, strlen(path)) & ~(uint64_t)UNSENT_MARK;
    return mark != 0 ? mark : 2;
}

/* Returns the mark's place, or the free place where it belongs. There is always one. */
static uint64_t *place_of(const struct etwas_ship_sources *sources, uint64_t mark)
{
    uint32_t at = (uint32_t)(mark >> 32) & (sources->mark_room - 1);

    while (sources->marks[at] != 0 && sources->marks[at] != mark) {
        at = (at + 1) & (sources->mark_room - 1);
    }
    return &sources->marks[at];
}

bool etwas_ship_sources_has_arrived(const struct etwas_ship_sources *sources, uint64_t mark)
{
    return *place_of(sources, mark) == mark;
}

bool etwas_ship_sources_is_finished(const struct etwas_ship_sources *sources, uint64_t mark)
{
    return etwas_ship_sources_has_arrived(sources, mark) ||
           etwas_ship_sources_has_arrived(sources, mark | UNSENT_MARK);
}

/*
 * Forgets all marks if there is not enough memory, or there are too many. The cursors know what is
 * done.
 */
static void make_room(struct etwas_ship_sources *sources)
{
    uint32_t room = 2 * sources->mark_room;
    uint64_t *old = sources->marks;
    uint32_t old_room = sources->mark_room;
    uint64_t *larger = room <= 2 * ETWAS_SHIP_MARKS ? calloc(room, sizeof *larger) : NULL;

    if (larger == NULL) {
        memset(old, 0, old_room * sizeof *old);
        sources->mark_count = 0;
        return;
    }
    sources->marks = larger;
    sources->mark_room = room;
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i] != 0) {
            *place_of(sources, old[i]) = old[i];
        }
    }
    free(old);
}

void etwas_ship_sources_remember(struct etwas_ship_sources *sources, uint64_t mark)
{
    uint64_t *place;

    if (2 * (sources->mark_count + 1) > sources->mark_room) {
        make_room(sources);
    }
    place = place_of(sources, mark);
    sources->mark_count += *place == 0;
    *place = mark;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct etwas_ship_source *etwas_ship_sources_add(struct etwas_ship_sources *sources,
                                                 const char *path, const struct stat *facts)
{
    struct etwas_ship_source *source;

    if (sources->count == ETWAS_SHIP_SOURCES) {
        sources->is_full = true;
        return NULL;
    }
    source = calloc(1, sizeof *source);
    if (source == NULL || (source->path = strdup(path)) == NULL) {
        free(source);
        return NULL;
    }
    source->facts = *facts;
    source->mark = etwas_ship_mark(path, facts);
    source->is_seen = true;
    sources->list[sources->count++] = source;
    return source;
}

struct etwas_ship_source *etwas_ship_sources_find(const struct etwas_ship_sources *sources,
                                                  const char *path)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        if (!sources->list[i]->is_gone && strcmp(sources->list[i]->path, path) == 0) {
            return sources->list[i];
        }
    }
    return NULL;
}

struct etwas_ship_source *etwas_ship_sources_same(const struct etwas_ship_sources *sources,
                                                  const struct etwas_ship_source *source)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        struct etwas_ship_source *other = sources->list[i];

        if (other != source && other->cursor != NULL && other->session == source->session &&
            other->part == source->part) {
            return other;
        }
    }
    return NULL;
}

void etwas_ship_sources_shut(struct etwas_ship_sources *sources, struct etwas_ship_source *source)
{
    sources->open -= source->file != NULL;
    etwas_ship_file_close(source->file);
    free(source->cursor);
    source->file = NULL;
    source->cursor = NULL;
    source->phase = ETWAS_SHIP_CLOSED;
    source->behind_buffer = 0;
    source->blocks = 0;
    source->idle_since_ms = 0;
    source->must_look = source->is_left = false;
}

void etwas_ship_sources_drop(struct etwas_ship_sources *sources, struct etwas_ship_source *source)
{
    uint32_t at = 0;

    etwas_ship_sources_shut(sources, source);
    while (sources->list[at] != source) {
        at++;
    }
    sources->list[at] = sources->list[--sources->count];
    free(source->path);
    free(source);
}

void etwas_ship_sources_finish(struct etwas_ship_sources *sources, struct etwas_ship_source *source)
{
    if (!source->is_gone) {
        etwas_ship_sources_remember(sources, source->mark | (source->is_unsent ? UNSENT_MARK : 0));
    }
    etwas_ship_sources_drop(sources, source);
}
