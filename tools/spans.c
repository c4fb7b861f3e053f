/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A hash table of what has begun and not ended: linear probing, at most half full. An entry that is
 * taken out is replaced by those behind it that would not be found otherwise.
 */

#include "spans.h"

#include <stdlib.h>
#include <string.h>

struct etwas_span {
    struct etwas_span_key key;
    bool used;
    int64_t start_ns;
};

_Static_assert(sizeof(struct etwas_span_key) == 40, "keys are compared as bytes, without padding");

/* FNV-1a, a word at a time. */
static size_t hash_of(const struct etwas_span_key *key)
{
    uint64_t words[5];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < 5; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

/* Where the key is, or the free slot where it belongs. */
static struct etwas_span *find(const struct etwas_spans *spans, const struct etwas_span_key *key)
{
    size_t mask = spans->capacity - 1;
    size_t at = hash_of(key) & mask;

    while (spans->slots[at].used && memcmp(&spans->slots[at].key, key, sizeof *key) != 0) {
        at = (at + 1) & mask;
    }
    return &spans->slots[at];
}

/* Twice as large; false without memory, or when it is as large as it may be. */
static bool grow(struct etwas_spans *spans)
{
    struct etwas_spans larger = {.capacity = spans->capacity > 0 ? 2 * spans->capacity : 1024};

    if (spans->open >= ETWAS_SPANS_OPEN) {
        return false;
    }
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < spans->capacity; i++) {
        if (spans->slots[i].used) {
            *find(&larger, &spans->slots[i].key) = spans->slots[i];
        }
    }
    free(spans->slots);
    spans->slots = larger.slots;
    spans->capacity = larger.capacity;
    return true;
}

void etwas_spans_start(struct etwas_spans *spans, const struct etwas_span_key *key, int64_t time_ns)
{
    struct etwas_span *span;

    if (2 * spans->open >= spans->capacity && !grow(spans)) {
        return;
    }
    span = find(spans, key);
    spans->open += span->used ? 0 : 1;
    *span = (struct etwas_span){.key = *key, .used = true, .start_ns = time_ns};
}

static void take_out(struct etwas_spans *spans, size_t hole)
{
    size_t mask = spans->capacity - 1;

    for (size_t at = (hole + 1) & mask; spans->slots[at].used; at = (at + 1) & mask) {
        size_t wanted = hash_of(&spans->slots[at].key) & mask;

        /* It may lie anywhere from where it belongs to where it is. */
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {
            spans->slots[hole] = spans->slots[at];
            hole = at;
        }
    }
    spans->slots[hole].used = false;
    spans->open--;
}

bool etwas_spans_end(struct etwas_spans *spans, const struct etwas_span_key *key, int64_t time_ns,
                     int64_t *duration_ns)
{
    struct etwas_span *span;

    if (spans->capacity == 0) {
        return false;
    }
    span = find(spans, key);
    if (!span->used) {
        return false;
    }
    *duration_ns = time_ns - span->start_ns;
    take_out(spans, (size_t)(span - spans->slots));
    return true;
}

void etwas_spans_free(struct etwas_spans *spans)
{
    free(spans->slots);
    *spans = (struct etwas_spans){NULL, 0, 0};
}
