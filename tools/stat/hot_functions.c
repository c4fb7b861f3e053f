/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions of `etwas stat --hot`: by name and image.
 */

#include "stat/hot.h"

#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 256,
};

static uint64_t add_text(uint64_t hash, const char *text)
{
    hash = text != NULL ? etwas_hash(hash, text, strlen(text)) : hash;
    return hash * UINT64_C(0x9E3779B97F4A7C15);
}

static size_t hash_of(const struct etwas_hot_function *function)
{
    uint64_t hash = add_text(add_text(function->is_kernel, function->image), function->name);

    return hash ^ hash >> 32;
}

static bool is_equal(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static uint32_t *place_of(const struct etwas_hot *hot, const struct etwas_hot_function *wanted)
{
    size_t mask = 2 * (size_t)hot->function_capacity - 1;
    size_t at = hash_of(wanted) & mask;

    for (; hot->places[at] != 0; at = (at + 1) & mask) {
        const struct etwas_hot_function *function = &hot->functions[hot->places[at] - 1];

        if (function->is_kernel == wanted->is_kernel && is_equal(function->name, wanted->name) &&
            is_equal(function->image, wanted->image)) {
            break;
        }
    }
    return &hot->places[at];
}

static bool grow(struct etwas_hot *hot)
{
    uint32_t capacity = hot->function_capacity == 0 ? FIRST_ROOM : 2 * hot->function_capacity;
    struct etwas_hot_function *functions =
        reallocarray(hot->functions, capacity, sizeof *functions);
    uint32_t *places = calloc(2 * (size_t)capacity, sizeof *places);

    hot->functions = functions != NULL ? functions : hot->functions;
    if (functions == NULL || places == NULL) {
        hot->out_of_memory = true;
        free(places);
        return false;
    }
    free(hot->places);
    hot->places = places;
    hot->function_capacity = capacity;
    for (uint32_t i = 0; i < hot->function_count; i++) {
        *place_of(hot, &hot->functions[i]) = i + 1;
    }
    return true;
}

static char *copy_of(struct etwas_hot *hot, const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    hot->out_of_memory |= text != NULL && copy == NULL;
    return copy;
}

struct etwas_hot_function *etwas_hot_function(struct etwas_hot *hot,
                                              const struct etwas_place *place, bool is_kernel)
{
    const struct etwas_hot_function wanted = {
        .name = place->has_function ? (char *)(uintptr_t)place->function.function : NULL,
        .image = (char *)(uintptr_t)place->image,
        .is_kernel = is_kernel};
    uint32_t *found;

    if (hot->function_count == hot->function_capacity && !grow(hot)) {
        return NULL;
    }
    found = place_of(hot, &wanted);
    if (*found == 0) {
        if (hot->function_count == ETWAS_HOT_FUNCTIONS) {
            return NULL;
        }
        hot->functions[hot->function_count++] = (struct etwas_hot_function){
            .name = copy_of(hot, wanted.name),
            .image = copy_of(hot, wanted.image),
            .is_kernel = is_kernel,
            .has_changed = place->has_changed,
            .hides_inlined = place->image != NULL && !is_kernel && !place->has_inlined};
        *found = hot->function_count;
    }
    return &hot->functions[*found - 1];
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

static int compare(const void *left, const void *right)
{
    const struct etwas_hot_function *one = left;
    const struct etwas_hot_function *other = right;
    int order = compare_numbers(one->self, other->self);

    order = order != 0 ? order : compare_numbers(one->total, other->total);
    if (order == 0 && one->name != NULL && other->name != NULL) {
        order = strcmp(one->name, other->name);
    }
    return order;
}

void etwas_hot_sort(struct etwas_hot *hot)
{
    if (hot->function_count > 0) {
        qsort(hot->functions, hot->function_count, sizeof *hot->functions, compare);
    }
}

void etwas_hot_clear(struct etwas_hot *hot)
{
    for (uint32_t i = 0; i < hot->function_count; i++) {
        free(hot->functions[i].name);
        free(hot->functions[i].image);
    }
    for (uint32_t i = 0; hot->open != NULL && i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        free(hot->open[i]);
    }
    free((void *)hot->open);
    free(hot->functions);
    free(hot->places);
    if (hot->addresses.decoder != NULL) {
        etwas_addresses_close(&hot->addresses);
    }
    *hot = (struct etwas_hot){.counts = false};
}
