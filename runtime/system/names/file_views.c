/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/names/proc_list.h"

enum {
    MINOR_BITS = 20,
    MOST_KEYS = 1 << 16,
};

bool etwas_file_view_parse(char *line, struct etwas_file_view *view)
{
    uint64_t end;
    uint64_t inode;
    uint32_t major;
    uint32_t minor;
    int path_at = 0;

    *view = (struct etwas_file_view){0};
    if (sscanf(line,
               "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
               &view->begin, &end, &view->offset, &major, &minor, &inode, &path_at) != 6 ||
        path_at == 0 || end <= view->begin || inode == 0) {
        return false;
    }
    view->bytes = end - view->begin;
    view->key = etwas_file_key(major << MINOR_BITS | minor, inode);
    line[path_at + (int)strcspn(line + path_at, "\n")] = 0;
    view->path = line + path_at;
    return true;
}

struct reading {
    void (*each)(void *context, const struct etwas_file_view *view);
    void *context;
};

static void file_views_parse_line(void *context, char *line)
{
    const struct reading *reading = context;
    struct etwas_file_view view;

    if (etwas_file_view_parse(line, &view)) {
        reading->each(reading->context, &view);
    }
}

void etwas_file_views_read(uint32_t process_id,
                           void (*each)(void *context, const struct etwas_file_view *view),
                           void *context)
{
    struct reading reading = {each, context};

    etwas_proc_list_mappings(process_id, file_views_parse_line, &reading);
}

/* ---- keys ------------------------------------------------------------------------------------ */

struct key_node {
    struct etwas_id_node node;
    uint64_t key;
};

static uint32_t file_views_id_of(uint64_t key)
{
    return (uint32_t)(key ^ key >> 32);
}

bool etwas_file_keys_init(struct etwas_file_keys *keys)
{
    return etwas_id_map_init(&keys->map);
}

void etwas_file_keys_free(struct etwas_file_keys *keys)
{
    struct etwas_id_node *node = etwas_id_map_after(&keys->map, NULL);

    while (node != NULL) {
        struct etwas_id_node *next = etwas_id_map_after(&keys->map, node);

        free(node);
        node = next;
    }
    etwas_id_map_free(&keys->map);
}

bool etwas_file_keys_has(const struct etwas_file_keys *keys, uint64_t key)
{
    const struct etwas_id_node *node = etwas_id_map_find(&keys->map, file_views_id_of(key));

    while (node != NULL && ((const struct key_node *)node)->key != key) {
        node = etwas_id_map_find_next(node);
    }
    return node != NULL;
}

bool etwas_file_keys_add(struct etwas_file_keys *keys, uint64_t key)
{
    struct key_node *node;

    if (etwas_file_keys_has(keys, key) || keys->map.count >= MOST_KEYS) {
        return false;
    }
    node = malloc(sizeof *node);
    if (node == NULL) {
        return false;
    }
    *node = (struct key_node){.node.id = file_views_id_of(key), .key = key};
    etwas_id_map_add(&keys->map, &node->node);
    return true;
}
