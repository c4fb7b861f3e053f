/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "relog/relogger.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "platform/file.h"

enum {
    MEMORY_BYTES = 48 << 20,
    PLACES = 1 << 20,
    /* The largest entry, wherever it begins. */
    WINDOW_BYTES = 128 << 10,
};
_Static_assert(MEMORY_BYTES + PLACES * sizeof(struct etwas_relog_sort_place) == 64 << 20, "64 MiB");

static uint32_t sort_entry_bytes(const struct etwas_relog_entry *entry)
{
    return (uint32_t)(sizeof *entry + etwas_etl_round_up_8(entry->bytes));
}

static const struct etwas_relog_entry *sort_entry_at(const uint8_t *bytes)
{
    /* Memory and file are aligned, and each entry takes a multiple of 8. */
    return (const struct etwas_relog_entry *)(const void *)bytes;
}

uint32_t etwas_relog_sort_open(struct etwas_relog_sort *sort)
{
    /* Untouched memory costs address space only. */
    *sort = (struct etwas_relog_sort){
        .memory = malloc(MEMORY_BYTES),
        .places = malloc(PLACES * sizeof *sort->places),
        .is_in_order = true,
        .descriptor = -1,
    };
    return sort->memory != NULL && sort->places != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

void etwas_relog_sort_free(struct etwas_relog_sort *sort)
{
    for (size_t i = 0; i < sort->run_count; i++) {
        free(sort->runs[i].window);
    }
    if (sort->descriptor >= 0) {
        (void)etwas_file_close(sort->descriptor);
    }
    free(sort->runs);
    free(sort->heap);
    free(sort->memory);
    free(sort->places);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static int sort_compare_places(const void *left, const void *right)
{
    const struct etwas_relog_sort_place *a = left;
    const struct etwas_relog_sort_place *b = right;

    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->at > b->at) - (a->at < b->at);
}

static void sort_places(struct etwas_relog_sort *sort)
{
    if (!sort->is_in_order) {
        qsort(sort->places, sort->count, sizeof *sort->places, sort_compare_places);
        sort->is_in_order = true;
    }
}

static struct etwas_relog_run *sort_new_run(struct etwas_relog_sort *sort)
{
    struct etwas_relog_run *runs = realloc(sort->runs, (sort->run_count + 1) * sizeof *sort->runs);

    if (runs == NULL) {
        return NULL;
    }
    sort->runs = runs;
    sort->runs[sort->run_count] = (struct etwas_relog_run){0};
    return &sort->runs[sort->run_count++];
}

static uint32_t sort_write_bytes(struct etwas_relog_sort *sort, const uint8_t *bytes, size_t count)
{
    struct iovec vector = {(void *)(uintptr_t)bytes, count};
    int error = 0;

    if (etwas_file_write(sort->descriptor, &vector, 1, sort->written, NULL, &error) != count) {
        return etwas_file_write_error(error);
    }
    sort->written += count;
    return ERROR_SUCCESS;
}

/* Writes the piece in memory in its order. Neighbouring entries are written at once. */
static uint32_t sort_write_piece(struct etwas_relog_sort *sort)
{
    uint32_t code = ERROR_SUCCESS;
    uint32_t begin = 0;
    uint32_t end = 0;

    for (uint32_t i = 0; i < sort->count && code == ERROR_SUCCESS; i++) {
        uint32_t at = sort->places[i].at;

        if (at != end) {
            code = sort_write_bytes(sort, sort->memory + begin, end - begin);
            begin = at;
        }
        end = at + sort_entry_bytes(sort_entry_at(sort->memory + at));
    }
    return code == ERROR_SUCCESS ? sort_write_bytes(sort, sort->memory + begin, end - begin) : code;
}

static uint32_t sort_open_file(struct etwas_relog_sort *sort)
{
    const char *temporary = secure_getenv("TMPDIR");

    return sort->descriptor >= 0
               ? ERROR_SUCCESS
               : etwas_file_create_unnamed(temporary != NULL && *temporary != 0 ? temporary
                                                                                : "/var/tmp",
                                           &sort->descriptor);
}

static uint32_t sort_spill(struct etwas_relog_sort *sort)
{
    struct etwas_relog_run *run = sort->run_count > 0 ? &sort->runs[sort->run_count - 1] : NULL;
    uint32_t code = sort_open_file(sort);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    sort_places(sort);
    if (run == NULL || sort->places[0].key < run->last_key) {
        run = sort_new_run(sort);
        if (run == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        run->at = sort->written;
    }
    code = sort_write_piece(sort);
    run->end = sort->written;
    run->last_key = sort->places[sort->count - 1].key;
    sort->used = 0;
    sort->count = 0;
    return code;
}

uint32_t etwas_relog_sort_add(struct etwas_relog_sort *sort, const struct etwas_relog_entry *entry,
                              const void *record)
{
    uint32_t bytes = sort_entry_bytes(entry);

    if (sort->code == ERROR_SUCCESS &&
        (sort->count == PLACES || MEMORY_BYTES - sort->used < bytes)) {
        sort->code = sort_spill(sort);
    }
    if (sort->code != ERROR_SUCCESS) {
        return sort->code;
    }
    sort->is_in_order =
        sort->is_in_order && (sort->count == 0 || entry->key >= sort->places[sort->count - 1].key);
    sort->places[sort->count++] = (struct etwas_relog_sort_place){entry->key, sort->used};
    memcpy(sort->memory + sort->used, entry, sizeof *entry);
    if (entry->bytes > 0) {
        memset(sort->memory + sort->used + bytes - 8, 0, 8);
        memcpy(sort->memory + sort->used + sizeof *entry, record, entry->bytes);
    }
    sort->used += bytes;
    return ERROR_SUCCESS;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* Loads the run's first entry. The run is not empty. */
static uint32_t sort_load_window(struct etwas_relog_sort *sort, struct etwas_relog_run *run)
{
    uint32_t left = run->window_bytes - run->window_at;
    size_t wanted = run->end - run->at < WINDOW_BYTES ? (size_t)(run->end - run->at) : WINDOW_BYTES;

    if (run->window == NULL) {
        run->entry = sort_entry_at(sort->memory + sort->places[run->at].at);
        return ERROR_SUCCESS;
    }
    if (left < sizeof *run->entry ||
        left < sort_entry_bytes(sort_entry_at(run->window + run->window_at))) {
        if (etwas_file_read(sort->descriptor, run->window, wanted, run->at) != wanted) {
            return ERROR_WRITE_FAULT;
        }
        run->window_at = 0;
        run->window_bytes = (uint32_t)wanted;
    }
    run->entry = sort_entry_at(run->window + run->window_at);
    return ERROR_SUCCESS;
}

static void sort_run_advance(struct etwas_relog_run *run)
{
    uint32_t bytes = sort_entry_bytes(run->entry);

    run->at += run->window != NULL ? bytes : 1;
    run->window_at += run->window != NULL ? bytes : 0;
}

/* Compares two runs; of equal keys the run that came first wins. */
static bool sort_run_is_before(const struct etwas_relog_run *a, const struct etwas_relog_run *b)
{
    return a->entry->key != b->entry->key ? a->entry->key < b->entry->key : a < b;
}

/* Moves the first run of the heap to its place. */
static void sort_sift_down(struct etwas_relog_sort *sort)
{
    struct etwas_relog_run *run = sort->heap[0];
    size_t at = 0;

    for (size_t child = 1; child < sort->heap_count; child = 2 * at + 1) {
        if (child + 1 < sort->heap_count &&
            sort_run_is_before(sort->heap[child + 1], sort->heap[child])) {
            child++;
        }
        if (!sort_run_is_before(sort->heap[child], run)) {
            break;
        }
        sort->heap[at] = sort->heap[child];
        at = child;
    }
    sort->heap[at] = run;
}

static void sort_push_run(struct etwas_relog_sort *sort, struct etwas_relog_run *run)
{
    size_t at = sort->heap_count++;

    for (; at > 0 && sort_run_is_before(run, sort->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        sort->heap[at] = sort->heap[(at - 1) / 2];
    }
    sort->heap[at] = run;
}

uint32_t etwas_relog_sort_end(struct etwas_relog_sort *sort)
{
    struct etwas_relog_run *last;
    uint32_t code = sort->code;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    last = sort->count > 0 ? sort_new_run(sort) : NULL;
    if (last == NULL && sort->count > 0) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    sort_places(sort);
    sort->heap = calloc(sort->run_count + 1, sizeof(struct etwas_relog_run *));
    if (sort->heap == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    for (size_t i = 0; i < sort->run_count && code == ERROR_SUCCESS; i++) {
        struct etwas_relog_run *run = &sort->runs[i];

        if (run == last) {
            run->end = sort->count;
        } else {
            run->window = malloc(WINDOW_BYTES);
            if (run->window == NULL) {
                return ERROR_NOT_ENOUGH_MEMORY;
            }
        }
        code = sort_load_window(sort, run);
        if (code == ERROR_SUCCESS) {
            sort_push_run(sort, run);
        }
    }
    return code;
}

const struct etwas_relog_entry *etwas_relog_sort_first(const struct etwas_relog_sort *sort)
{
    return sort->heap_count > 0 ? sort->heap[0]->entry : NULL;
}

uint32_t etwas_relog_sort_next(struct etwas_relog_sort *sort)
{
    struct etwas_relog_run *run = sort->heap[0];
    uint32_t code = ERROR_SUCCESS;

    sort_run_advance(run);
    if (run->at < run->end) {
        code = sort_load_window(sort, run);
    } else {
        sort->heap[0] = sort->heap[--sort->heap_count];
    }
    if (code == ERROR_SUCCESS && sort->heap_count > 0) {
        sort_sift_down(sort);
    }
    return code;
}
