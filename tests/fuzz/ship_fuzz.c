/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A trace file that is cut into blocks for ClickHouse: each of them made again from its bounds, and
 * all that is said of the file. The mutator is etl_mutate.c.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ship/read/block.h"
#include "ship/schema/columns.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_BLOCKS = 64,
};

struct scene {
    const char *path;
    struct etwas_columns events;
    struct etwas_columns buffers;
    struct etwas_ship_block block;
};

static struct etwas_ship_file *open_file(const struct scene *scene, bool is_left)
{
    const char *reason = NULL;
    struct etwas_ship_file *file = etwas_ship_file_open(scene->path, "host", &reason);

    MUST(file != NULL || strlen(reason) > 0);
    if (file != NULL && is_left) {
        etwas_ship_file_leave(file);
    }
    return file;
}

/* FNV-1a of what would be sent. */
static uint64_t hash_of(struct etwas_columns *columns)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    MUST(etwas_columns_finish(columns));
    for (uint32_t i = 0; i < columns->piece_count; i++) {
        const uint8_t *bytes = columns->pieces[i].iov_base;

        for (size_t k = 0; k < columns->pieces[i].iov_len; k++) {
            hash = (hash ^ bytes[k]) * UINT64_C(0x100000001B3);
        }
    }
    return hash;
}

static void make_again(struct scene *scene, bool is_left)
{
    struct etwas_ship_bounds bounds = scene->block.bounds;
    uint64_t events = hash_of(&scene->events);
    uint64_t buffers = hash_of(&scene->buffers);
    struct etwas_ship_file *file = open_file(scene, is_left);

    MUST(file != NULL);
    MUST(etwas_ship_block_again(file, &bounds, &scene->block) == ETWAS_SHIP_BLOCK);
    MUST(hash_of(&scene->events) == events && hash_of(&scene->buffers) == buffers);
    etwas_ship_file_close(file);
}

static void cut_all(struct scene *scene, struct etwas_ship_file *file, bool is_left)
{
    const struct etwas_ship_limits limits = {20, 20000};
    struct etwas_ship_position at = {0, 0};
    struct etwas_ship_unshipped rest;

    for (uint32_t blocks = 0;
         blocks < MOST_BLOCKS &&
         etwas_ship_block_next(file, &at, &limits, &scene->block) == ETWAS_SHIP_BLOCK;
         blocks++) {
        MUST(scene->block.bounds.rows == scene->events.rows && scene->events.rows <= limits.rows);
        at = scene->block.bounds.until;
        if (blocks % 8 == 1) {
            make_again(scene, is_left);
        }
    }
    (void)etwas_ship_block_end(file, &scene->block);
    if (etwas_ship_unshipped_count(file, &at, &rest)) {
        (void)etwas_ship_unshipped_row(&rest, &scene->buffers);
    }
    (void)etwas_ship_find_buffer(file, 1, &at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    int descriptor = memfd_create("trace", MFD_CLOEXEC);
    bool is_left = size > 0 && (data[size - 1] & 1) != 0;
    struct scene scene;
    struct etwas_ship_file *file;
    char path[64];

    MUST(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    scene.path = path;
    etwas_columns_open(&scene.events, ETWAS_SHIP_EVENTS, &dialect);
    etwas_columns_open(&scene.buffers, ETWAS_SHIP_BUFFERS, &dialect);
    scene.block = (struct etwas_ship_block){.events = &scene.events, .buffers = &scene.buffers};
    file = open_file(&scene, is_left);
    if (file != NULL) {
        cut_all(&scene, file, is_left);
    }
    etwas_ship_file_close(file);
    etwas_columns_close(&scene.events);
    etwas_columns_close(&scene.buffers);
    (void)close(descriptor);
    return 0;
}
