/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions for `etwas stat --hot`, by name and image.
 */

#include "analyse/hot/hot.h"

#include "math/array.h"
#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t add_text(uint64_t hash, const char *text)
{
    hash = text != NULL ? etwas_hash(hash, text, strlen(text)) : hash;
    return hash * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_function(const struct etwas_hot_function *function)
{
    return add_text(add_text(function->is_kernel, function->image), function->name);
}

static bool is_equal(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* Returns the number of a function, from 1; 0 if it is new. */
static uint32_t find_function(const struct etwas_hot *hot, const struct etwas_hot_function *wanted,
                              uint64_t hash)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&hot->places, hash, &place);

    for (; number != 0; number = etwas_hash_index_next(&hot->places, &place)) {
        const struct etwas_hot_function *function = &hot->functions[number - 1];

        if (function->is_kernel == wanted->is_kernel && is_equal(function->name, wanted->name) &&
            is_equal(function->image, wanted->image)) {
            break;
        }
    }
    return number;
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
    uint64_t hash = hash_function(&wanted);
    uint32_t number = find_function(hot, &wanted, hash);

    if (number != 0) {
        return &hot->functions[number - 1];
    }
    if (hot->function_count == ETWAS_HOT_FUNCTIONS) {
        return NULL;
    }
    if (!etwas_array_reserve(&hot->functions, &hot->function_capacity, hot->function_count + 1,
                             sizeof *hot->functions) ||
        !etwas_hash_index_add(&hot->places, hash, hot->function_count + 1)) {
        hot->out_of_memory = true;
        return NULL;
    }
    hot->functions[hot->function_count] = (struct etwas_hot_function){
        .name = copy_of(hot, wanted.name),
        .image = copy_of(hot, wanted.image),
        .is_kernel = is_kernel,
        .has_changed = place->has_changed,
        .hides_inlined = place->image != NULL && !is_kernel && !place->has_inlined};
    return &hot->functions[hot->function_count++];
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

static int compare_functions(const void *left, const void *right)
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
        qsort(hot->functions, hot->function_count, sizeof *hot->functions, compare_functions);
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
    etwas_hash_index_clear(&hot->places);
    if (hot->addresses.decoder != NULL) {
        etwas_addresses_close(&hot->addresses);
    }
    *hot = (struct etwas_hot){.counts = false};
}
