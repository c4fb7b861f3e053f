/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What /proc and /sys say of a machine, which may be a container's made-up ones: files beneath a
 * folder, from which the inventory is told and the least limit of memory is found. Each: u8 which,
 * a text up to the next 0; all others are empty.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/layout.h"
#include "platform/memory.h"
#include "system/inventory/inventory.h"
#include "system/inventory_paths.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PATHS = sizeof inventory_paths / sizeof inventory_paths[0],
    MORE_PATHS = 4,
    FILES = PATHS + MORE_PATHS,
    SMALL_ROOM = 512,
    OPEN_FOLDERS = 16,
};

static const char *const more_paths[MORE_PATHS] = {"proc/self/cgroup", "memory.max",
                                                   "group/memory.max", "memory.limit_in_bytes"};
static char root[64];
static bool is_filled[FILES];

/* ---- the tree -------------------------------------------------------------------------------- */

static const char *path_of(uint32_t file)
{
    static char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", root,
                   file < PATHS ? inventory_paths[file] : more_paths[file - PATHS]);
    return path;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_tree(void)
{
    (void)nftw(root, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static void fill(uint32_t file, const void *text, size_t bytes)
{
    int descriptor = open(path_of(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(descriptor >= 0 && write(descriptor, text, bytes) == (ssize_t)bytes);
    MUST(close(descriptor) == 0);
    is_filled[file] = bytes != 0;
}

/* In memory where that is possible; every folder, and empty files. */
static void make_tree(void)
{
    (void)snprintf(root, sizeof root, "%s/etwas-fuzz-machine-%d",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    for (uint32_t file = 0; file < FILES; file++) {
        char path[256];

        (void)snprintf(path, sizeof path, "%s", path_of(file));
        for (char *slash = path + strlen(root); slash != NULL; slash = strchr(slash + 1, '/')) {
            *slash = 0;
            (void)mkdir(path, 0700);
            *slash = '/';
        }
        fill(file, "", 0);
    }
    (void)atexit(remove_tree);
}

static void fill_tree(const uint8_t *data, size_t size)
{
    bool was_filled[FILES];

    memcpy(was_filled, is_filled, sizeof was_filled);
    while (size > 1) {
        uint32_t file = data[0] % FILES;
        const uint8_t *text = data + 1;
        const uint8_t *end = memchr(text, 0, size - 1);
        size_t bytes = end != NULL ? (size_t)(end - text) : size - 1;

        fill(file, text, bytes);
        was_filled[file] = false;
        data = text + bytes + (end != NULL);
        size -= 1 + bytes + (end != NULL);
    }
    for (uint32_t file = 0; file < FILES; file++) {
        if (was_filled[file]) {
            fill(file, "", 0);
        }
    }
}

/* ---- what is told of it ---------------------------------------------------------------------- */

static uint32_t most_bytes;

static void take(struct etwas_emitter *emitter, uint32_t slot,
                 const struct etwas_stamped_record *stamped)
{
    struct etwas_etl_system_header header;

    (void)emitter;
    (void)slot;
    MUST(stamped->size >= sizeof header && stamped->size <= most_bytes);
    memcpy(&header, stamped->bytes, sizeof header);
    MUST(header.header_type == ETWAS_ETL_SYSTEM64 && header.size == stamped->size);
}

static void emit(uint32_t room)
{
    static struct etwas_record_builder record;
    struct etwas_emitter emitter = {.receive = take};

    record.room = room;
    most_bytes = room;
    etwas_inventory_emit(root, ETWAS_INVENTORY_ALL, &record, &emitter, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (root[0] == 0) {
        make_tree();
    }
    fill_tree(data, size);
    emit(size % 2 == 0 ? ETWAS_RECORD_MOST_BYTES : SMALL_ROOM);
    (void)etwas_control_group_limit_bytes(root);
    return 0;
}
