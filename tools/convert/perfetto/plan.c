/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decides on which track each span goes, before anything is written.
 *
 * A track of Perfetto is a stack: the slice that began last ends first. A span goes on its thread's
 * track if it ends on the thread where it began. Spans that began there after it and are still open
 * then go on tracks of their own. So do spans that end on another thread, or never.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"

#include <stdlib.h>

enum {
    HIGHEST = 250, /* limit of nested spans on a track; readers drop slices deeper than 512 */
    CHUNK = 1 << 16,
    CHUNKS = ETWAS_PERFETTO_SPANS / CHUNK,
};

/* A fate in one byte. The remaining bits count flows. */
enum {
    ON_THREAD = 0x80,
    WANTED = 0x40,
    FLOWS = 0x3F, /* the largest number of flows */
};

/* An open span; entries are indexed by etwas_span.place. */
struct node {
    uint64_t number; /* 0: none */
    uint64_t parent;
    uint32_t parent_place;
    uint32_t track;  /* of its thread, from 1; 0: not on it */
    uint32_t thread; /* likewise, but kept when it leaves the track */
    uint32_t below;  /* place + 1 of the previous open span on the thread */
    uint32_t above;  /* likewise of the next one */
    uint32_t height;
    uint32_t children; /* on the same thread's track */
};

struct etwas_perfetto_plan {
    uint8_t *fates[CHUNKS];
    struct node *nodes;
    size_t capacity;
};

/* ---- fates ----------------------------------------------------------------------------------- */

/* Returns NULL if there are too many spans, or memory runs out. */
static uint8_t *fate_at(struct etwas_perfetto *perfetto, uint64_t number)
{
    struct etwas_perfetto_plan *plan = perfetto->plan;

    if (number >= ETWAS_PERFETTO_SPANS) {
        return NULL;
    }
    if (plan->fates[number / CHUNK] == NULL) {
        plan->fates[number / CHUNK] = calloc(CHUNK, 1);
    }
    if (plan->fates[number / CHUNK] == NULL) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    return &plan->fates[number / CHUNK][number % CHUNK];
}

static void add_flows(struct etwas_perfetto *perfetto, uint64_t number, uint32_t count)
{
    uint8_t *fate = fate_at(perfetto, number);
    uint32_t flows;

    if (fate != NULL) {
        flows = (*fate & FLOWS) + count;
        *fate = (uint8_t)((*fate & (ON_THREAD | WANTED)) | (flows < FLOWS ? flows : FLOWS));
    }
}

struct etwas_perfetto_fate etwas_perfetto_fate_of(const struct etwas_perfetto *perfetto,
                                                  uint64_t span)
{
    const struct etwas_perfetto_plan *plan = perfetto->plan;
    uint8_t fate = span < ETWAS_PERFETTO_SPANS && plan->fates[span / CHUNK] != NULL
                       ? plan->fates[span / CHUNK][span % CHUNK]
                       : WANTED;

    return (struct etwas_perfetto_fate){(fate & WANTED) != 0, (fate & ON_THREAD) != 0,
                                        fate & FLOWS};
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static struct node *node_at(struct etwas_perfetto *perfetto, uint32_t place)
{
    struct etwas_perfetto_plan *plan = perfetto->plan;

    if (!etwas_array_reach(&plan->nodes, &plan->capacity, place, sizeof *plan->nodes)) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    return &plan->nodes[place];
}

/* Removes a span from anywhere in its thread's stack. */
static void leave_stack(struct etwas_perfetto *perfetto, struct node *node)
{
    struct node *nodes = perfetto->plan->nodes;

    if (node->above != 0) {
        nodes[node->above - 1].below = node->below;
    } else {
        perfetto->tracks[node->track - 1].top = node->below;
    }
    if (node->below != 0) {
        struct node *below = &nodes[node->below - 1];

        below->above = node->above;
        below->height = node->height > below->height ? node->height : below->height;
    }
    node->track = 0;
}

/* Counts an arrow from the parent to the span, unless both are on the track of one thread. */
static void count_flow(struct etwas_perfetto *perfetto, const struct node *node, bool is_on_thread)
{
    struct node *parent = &perfetto->plan->nodes[node->parent_place];

    if (node->parent == 0) {
        return;
    }
    if (is_on_thread && parent->number == node->parent && parent->track == node->thread) {
        parent->children++;
    } else {
        add_flows(perfetto, node->parent, 1);
    }
}

static void go_apart(struct etwas_perfetto *perfetto, struct node *node)
{
    if (node->track != 0) {
        leave_stack(perfetto, node);
        add_flows(perfetto, node->number, node->children);
        count_flow(perfetto, node, false);
    }
}

static void stay_on_thread(struct etwas_perfetto *perfetto, struct node *node)
{
    uint8_t *fate = fate_at(perfetto, node->number);

    if (fate == NULL || node->height >= HIGHEST) {
        go_apart(perfetto, node);
        return;
    }
    node->height++;
    leave_stack(perfetto, node);
    count_flow(perfetto, node, true);
    *fate |= ON_THREAD;
}

/* Marks the current event's span as wanted if --where holds for the event. */
static void note_wanted(struct etwas_perfetto *perfetto)
{
    uint8_t *fate =
        perfetto->convert->is_wanted ? fate_at(perfetto, perfetto->convert->span->number) : NULL;

    if (fate != NULL) {
        *fate |= WANTED;
    }
}

/*
 * Returns whether the event goes back in time, as in damaged files. Then it has no place in the
 * order of its thread.
 */
static bool goes_back(struct etwas_perfetto *perfetto, struct etwas_perfetto_track *track)
{
    const struct etwas_convert *convert = perfetto->convert;

    if (track->top_file == convert->current.input->number && convert->time_ns < track->top_ns) {
        return true;
    }
    track->top_file = convert->current.input->number;
    track->top_ns = convert->time_ns;
    return false;
}

void etwas_perfetto_plan_start(struct etwas_perfetto *perfetto, uint32_t index)
{
    const etwas_span *span = perfetto->convert->span;
    struct etwas_perfetto_track *track = &perfetto->tracks[index];
    struct node *node = node_at(perfetto, span->place);

    note_wanted(perfetto);
    if (node == NULL) {
        return;
    }
    go_apart(perfetto, node); /* an earlier span without END has the same place */
    *node = (struct node){.number = span->number,
                          .parent = span->parent,
                          .parent_place = span->parent_place,
                          .thread = index + 1};
    if (track->thread == ETWAS_EVENT_UNKNOWN_ID || goes_back(perfetto, track)) {
        count_flow(perfetto, node, false);
        return;
    }
    node->track = node->thread;
    node->below = track->top;
    if (track->top != 0) {
        perfetto->plan->nodes[track->top - 1].above = span->place + 1;
    }
    track->top = span->place + 1;
}

void etwas_perfetto_plan_end(struct etwas_perfetto *perfetto, uint32_t index)
{
    struct etwas_perfetto_track *track = &perfetto->tracks[index];
    struct node *node = node_at(perfetto, perfetto->convert->span->place);

    note_wanted(perfetto);
    if (node == NULL || node->number != perfetto->convert->span->number) {
        return;
    }
    if (node->track != index + 1 || goes_back(perfetto, track)) {
        go_apart(perfetto, node);
    } else {
        while (node->above != 0) {
            go_apart(perfetto, &perfetto->plan->nodes[track->top - 1]);
        }
        stay_on_thread(perfetto, node);
    }
    node->number = 0;
}

void etwas_perfetto_plan_finish(struct etwas_perfetto *perfetto)
{
    for (uint32_t place = 0; place < perfetto->plan->capacity; place++) {
        go_apart(perfetto, &perfetto->plan->nodes[place]);
    }
}

bool etwas_perfetto_plan_open(struct etwas_perfetto *perfetto)
{
    perfetto->plan = calloc(1, sizeof *perfetto->plan);
    return perfetto->plan != NULL;
}

void etwas_perfetto_plan_close(struct etwas_perfetto *perfetto)
{
    if (perfetto->plan != NULL) {
        for (uint32_t i = 0; i < CHUNKS; i++) {
            free(perfetto->plan->fates[i]);
        }
        free(perfetto->plan->nodes);
        free(perfetto->plan);
    }
}
