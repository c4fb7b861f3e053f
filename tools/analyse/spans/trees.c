/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The slowest spans, and the spans inside of them.
 */

#include "analyse/spans/spans.h"

#include <stdlib.h>
#include <string.h>

void etwas_spans_choose(struct etwas_spans_request *request, const etwas_span *span,
                        uint64_t duration_ns)
{
    uint32_t at = request->tree_count;

    while (at > 0 && request->trees[at - 1].duration_ns < duration_ns) {
        at--;
    }
    if (at == request->slowest) {
        return;
    }
    request->tree_count += request->tree_count < request->slowest;
    memmove(&request->trees[at + 1], &request->trees[at],
            (request->tree_count - at - 1) * sizeof *request->trees);
    request->trees[at] =
        (struct etwas_spans_tree){.number = span->number, .duration_ns = duration_ns};
}

/* Returns the number of the tree whose root is the span, from 1; 0 if there is none. */
static uint32_t tree_of(const struct etwas_spans_request *request, uint64_t number)
{
    for (uint32_t i = 0; i < request->tree_count; i++) {
        if (request->trees[i].number == number) {
            return i + 1;
        }
    }
    return 0;
}

static bool tree_grow(struct etwas_spans_request *request, struct etwas_spans_tree *tree)
{
    uint32_t capacity = tree->node_capacity > 0 ? 2 * tree->node_capacity : 8;
    struct etwas_spans_node *larger;

    if (tree->node_count == request->most_nodes) {
        return false;
    }
    if (tree->node_count < tree->node_capacity) {
        return true;
    }
    larger = realloc(tree->nodes, capacity * sizeof *larger);
    if (larger == NULL) {
        request->out_of_memory = true;
        return false;
    }
    tree->nodes = larger;
    tree->node_capacity = capacity;
    return true;
}

static void add_child(struct etwas_spans_tree *tree, uint32_t parent, uint32_t child)
{
    struct etwas_spans_node *above = &tree->nodes[parent];

    if (above->first_child == ETWAS_SPANS_NO_NODE) {
        above->first_child = child;
    } else {
        tree->nodes[above->last_child].next = child;
    }
    above->last_child = child;
}

void etwas_spans_grow(struct etwas_spans_request *request, const struct etwas_input *input,
                      const EVENT_RECORD *record, const etwas_span *span,
                      struct etwas_spans_open *open)
{
    struct etwas_spans_tree *tree;
    uint32_t number = tree_of(request, span->number);
    uint32_t parent = ETWAS_SPANS_NO_NODE;

    open->node = ETWAS_SPANS_NO_NODE;
    /* A root that is inside of another one has a tree of its own. */
    if (number == 0 && span->parent != 0) {
        const struct etwas_spans_open *above = &request->open[span->parent_place];

        number = above->number == span->parent ? above->tree : 0;
        parent = above->node;
    }
    open->tree = number;
    if (number == 0) {
        return;
    }
    tree = &request->trees[number - 1];
    if ((tree->node_count > 0 && parent == ETWAS_SPANS_NO_NODE) || !tree_grow(request, tree)) {
        tree->left_out++;
        return;
    }
    if (tree->node_count == 0) {
        tree->start_unix_ns = etwas_input_unix_ns(input, record);
    }
    open->node = tree->node_count++;
    tree->nodes[open->node] = (struct etwas_spans_node){
        .class_index = open->class_index,
        .parent = parent,
        .first_child = ETWAS_SPANS_NO_NODE,
        .last_child = ETWAS_SPANS_NO_NODE,
        .next = ETWAS_SPANS_NO_NODE,
        .instance = span->instance,
        .activity = span->activity,
        .process = span->process,
        .thread = span->thread,
        .start_ns = span->start,
    };
    if (parent != ETWAS_SPANS_NO_NODE) {
        add_child(tree, parent, open->node);
    }
}

struct etwas_spans_node *etwas_spans_node(const struct etwas_spans_request *request,
                                          const struct etwas_spans_open *open)
{
    return open->tree != 0 && open->node != ETWAS_SPANS_NO_NODE
               ? &request->trees[open->tree - 1].nodes[open->node]
               : NULL;
}

bool etwas_spans_next_node(const struct etwas_spans_tree *tree, uint32_t *node, uint32_t *depth)
{
    const struct etwas_spans_node *at = &tree->nodes[*node];

    if (at->first_child != ETWAS_SPANS_NO_NODE) {
        *node = at->first_child;
        ++*depth;
        return true;
    }
    while (at->next == ETWAS_SPANS_NO_NODE && at->parent != ETWAS_SPANS_NO_NODE) {
        at = &tree->nodes[at->parent];
        --*depth;
    }
    *node = at->next;
    return at->next != ETWAS_SPANS_NO_NODE;
}
