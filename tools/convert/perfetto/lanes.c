/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Lanes: tracks of spans that are not nested on their threads. Each span name of a process has as
 * many lanes as such spans are open at once. A lane is free for the next span when its span has
 * ended.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "math/hash_index.h"

#include <stdlib.h>

struct group {
    uint64_t key;
    uint32_t first_free; /* lane, from 1; 0: none */
};

struct etwas_perfetto_lanes {
    struct etwas_perfetto_lane *lanes;
    uint32_t count;
    size_t capacity;
    struct group *groups;
    uint32_t group_count;
    size_t group_capacity;
    struct etwas_hash_index group_places;
};

/* Returns NULL if the group is new. */
static struct group *find_group(const struct etwas_perfetto_lanes *lanes, uint64_t key)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&lanes->group_places, key, &place);

    while (number != 0 && lanes->groups[number - 1].key != key) {
        number = etwas_hash_index_next(&lanes->group_places, &place);
    }
    return number != 0 ? &lanes->groups[number - 1] : NULL;
}

/* Returns NULL if memory runs out. */
static struct group *add_group(struct etwas_perfetto *perfetto, uint64_t key)
{
    struct etwas_perfetto_lanes *lanes = perfetto->lanes;

    if (!etwas_array_reserve(&lanes->groups, &lanes->group_capacity, lanes->group_count + 1,
                             sizeof *lanes->groups) ||
        !etwas_hash_index_add(&lanes->group_places, key, lanes->group_count + 1)) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    lanes->groups[lanes->group_count] = (struct group){.key = key};
    return &lanes->groups[lanes->group_count++];
}

static bool make_room(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_lanes *lanes = perfetto->lanes;

    if (lanes == NULL) {
        lanes = perfetto->lanes = calloc(1, sizeof *lanes);
    }
    if (lanes == NULL || !etwas_array_reserve(&lanes->lanes, &lanes->capacity, lanes->count + 1,
                                              sizeof *lanes->lanes)) {
        perfetto->convert->out_of_memory = true;
        return false;
    }
    return true;
}

static uint32_t make_lane(struct etwas_perfetto *perfetto, uint64_t group, uint64_t process_track,
                          uint32_t span_class)
{
    struct etwas_perfetto_lanes *lanes = perfetto->lanes;
    const struct etwas_perfetto_name *name = perfetto->classes[span_class];
    size_t began;

    lanes->lanes[lanes->count] =
        (struct etwas_perfetto_lane){.uuid = ++perfetto->uuid, .group = group};
    began = etwas_perfetto_begin_track(perfetto, perfetto->uuid, process_track);
    etwas_wire_bytes(&perfetto->packet, DESCRIPTOR_NAME, name->text, name->bytes);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_write_packet(perfetto);
    return ++lanes->count;
}

uint32_t etwas_perfetto_take_lane(struct etwas_perfetto *perfetto, uint64_t process_track,
                                  uint32_t span_class, int64_t time_ns)
{
    uint64_t key = (process_track << 32 | span_class) + 1;
    struct group *group;
    uint32_t lane;

    if (!make_room(perfetto)) {
        return 0;
    }
    group = find_group(perfetto->lanes, key);
    group = group != NULL ? group : add_group(perfetto, key);
    if (group == NULL) {
        return 0;
    }
    lane = group->first_free;
    /*
     * Where times of a damaged file go back, a lane that is free now may not have been free then.
     */
    if (lane == 0 || perfetto->lanes->lanes[lane - 1].free_ns > time_ns) {
        return make_lane(perfetto, key, process_track, span_class);
    }
    group->first_free = perfetto->lanes->lanes[lane - 1].next_free;
    return lane;
}

uint64_t etwas_perfetto_lane_uuid(const struct etwas_perfetto *perfetto, uint32_t lane)
{
    return perfetto->lanes->lanes[lane - 1].uuid;
}

void etwas_perfetto_leave_lane(struct etwas_perfetto *perfetto, uint32_t number, int64_t time_ns)
{
    struct etwas_perfetto_lane *lane = &perfetto->lanes->lanes[number - 1];
    struct group *group = find_group(perfetto->lanes, lane->group);

    lane->free_ns = time_ns;
    lane->next_free = group->first_free;
    group->first_free = number;
}

void etwas_perfetto_lanes_close(struct etwas_perfetto *perfetto)
{
    if (perfetto->lanes != NULL) {
        free(perfetto->lanes->lanes);
        free(perfetto->lanes->groups);
        etwas_hash_index_clear(&perfetto->lanes->group_places);
        free(perfetto->lanes);
    }
}
