/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_places.h"

#include <stddef.h>
#include <stdlib.h>

bool etwas_log_places_begin(struct etwas_log_places *places, uint32_t limit, bool circular)
{
    *places = (struct etwas_log_places){.limit = limit};
    if (!circular) {
        return true;
    }
    /* Zeroes that were never touched cost address space only. */
    places->records = calloc((size_t)limit + 1, sizeof *places->records);
    return places->records != NULL;
}

void etwas_log_places_end(struct etwas_log_places *places)
{
    free(places->records);
}

uint32_t etwas_log_places_next(const struct etwas_log_places *places)
{
    uint64_t number = places->records != NULL ? places->written % places->limit : places->written;

    return 1 + (uint32_t)number;
}

uint32_t etwas_log_places_room(const struct etwas_log_places *places, uint32_t wanted)
{
    uint32_t next = etwas_log_places_next(places);
    uint32_t left;

    if (places->limit == 0) {
        return wanted;
    }
    left = next <= places->limit ? places->limit - next + 1 : 0;
    return wanted < left ? wanted : left;
}

uint32_t etwas_log_places_used(const struct etwas_log_places *places)
{
    return 1 + (uint32_t)(etwas_log_places_replaces(places) ? places->limit : places->written);
}

bool etwas_log_places_replaces(const struct etwas_log_places *places)
{
    return places->records != NULL && places->written >= places->limit;
}

/* What lay in the next place; from here on `now` does. */
static uint32_t exchange(struct etwas_log_places *places, uint32_t now)
{
    uint32_t *records;
    uint32_t before;

    if (places->records == NULL) {
        return 0;
    }
    records = &places->records[etwas_log_places_next(places)];
    before = *records;
    *records = now;
    return before;
}

uint32_t etwas_log_places_take(struct etwas_log_places *places, uint32_t records)
{
    uint32_t before = exchange(places, records);

    places->written++;
    return before;
}

void etwas_log_places_clear(struct etwas_log_places *places, uint32_t place)
{
    if (places->records != NULL) {
        places->records[place] = 0;
    }
}

uint32_t etwas_log_places_lose(struct etwas_log_places *places)
{
    return exchange(places, 0);
}
