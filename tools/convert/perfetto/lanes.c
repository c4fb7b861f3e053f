/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tracks of spans that are not nested on their threads. Of the spans of one name of one process
 * there are as many as were open at once: one is free when its span has ended, for the next.
 */

#include "convert/perfetto/perfetto.h"

#include <stdlib.h>

struct group {
    uint64_t key;        /* 0: the entry is free */
    uint32_t first_free; /* lane, from 1 */
};

struct etwas_perfetto_lanes {
    struct etwas_perfetto_lane *lanes;
    uint32_t count;
    uint32_t capacity;
    struct group *groups; /* a hash table, at most half full */
    uint32_t group_count;
    uint32_t group_capacity;
};

enum {
    FIRST_GROUPS = 64,
    FIRST_LANES = 64,
};

static struct group *find_group(const struct etwas_perfetto_lanes *lanes, uint64_t key)
{
    uint32_t mask = lanes->group_capacity - 1;
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (lanes->groups[at].key != 0 && lanes->groups[at].key != key) {
        at = (at + 1) & mask;
    }
    return &lanes->groups[at];
}

static bool grow_groups(struct etwas_perfetto_lanes *lanes)
{
    struct etwas_perfetto_lanes larger = {
        .group_capacity = lanes->group_capacity > 0 ? 2 * lanes->group_capacity : FIRST_GROUPS};

    larger.groups = calloc(larger.group_capacity, sizeof *larger.groups);
    if (larger.groups == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < lanes->group_capacity; i++) {
        if (lanes->groups[i].key != 0) {
            *find_group(&larger, lanes->groups[i].key) = lanes->groups[i];
        }
    }
    free(lanes->groups);
    lanes->groups = larger.groups;
    lanes->group_capacity = larger.group_capacity;
    return true;
}

static bool grow_lanes(struct etwas_perfetto_lanes *lanes)
{
    uint32_t capacity = lanes->capacity > 0 ? 2 * lanes->capacity : FIRST_LANES;
    struct etwas_perfetto_lane *larger = realloc(lanes->lanes, capacity * sizeof *larger);

    if (larger != NULL) {
        lanes->lanes = larger;
        lanes->capacity = capacity;
    }
    return larger != NULL;
}

static bool make_room(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_lanes *lanes = perfetto->lanes;

    if (lanes == NULL) {
        lanes = perfetto->lanes = calloc(1, sizeof *lanes);
    }
    if (lanes == NULL || (2 * lanes->group_count >= lanes->group_capacity && !grow_groups(lanes)) ||
        (lanes->count == lanes->capacity && !grow_lanes(lanes))) {
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
    if (group->key == 0) {
        *group = (struct group){.key = key};
        perfetto->lanes->group_count++;
    }
    lane = group->first_free;
    /* Where a damaged file goes back in time, what is free now was not then. */
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
        free(perfetto->lanes);
    }
}
