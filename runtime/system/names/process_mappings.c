/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The executable mappings of a process with their build ids. These are read from the mapped files
 * themselves, since another file may be at the path by now. A file that cannot be read in time has
 * no build id. Neither have other files of its device while a task waits for it.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/names/image_list.h"
#include "system/names/offload.h"
#include "system/names/proc_list.h"
#include "system/names/process_facts.h"

enum {
    LONGEST_PATH = 128,
    FIRST_ROOM = 32,
};

struct build {
    uint64_t begin; /* of the mapping */
    uint64_t end;
    uint64_t device;
    uint32_t bytes; /* 0: not known */
    uint8_t id[ETWAS_BUILD_ID_ROOM];
};

struct mapped {
    struct etwas_mapping mapping; /* its path is allocated */
    struct build build;
};

struct list {
    uint32_t count;
    uint32_t room;
    struct mapped *mapped;
};

/* ---- builds ---------------------------------------------------------------------------------- */

struct build_task {
    struct etwas_offload_task task;
    struct list *list;   /* the caller's: results are stored there before the task is abandoned */
    uint32_t *list_from; /* the caller's: the number of builds that are done */
    uint32_t from;       /* the first one in the list */
    uint32_t count;
    uint32_t done; /* builds that are done, which do not change any more */
    struct build builds[];
};

static void read_build(struct build_task *asked, struct build *build)
{
    char path[LONGEST_PATH];
    int place;

    if (etwas_offload_waits_for(build->device)) {
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64,
                   asked->task.process_id, build->begin, build->end);
    place = open(path, O_PATH | O_CLOEXEC);
    if (place >= 0) {
        ck_pr_store_64(&asked->task.device, build->device);
        build->bytes = etwas_build_id_of_path_file(place, build->id);
        (void)close(place);
        ck_pr_store_64(&asked->task.device, ETWAS_NO_DEVICE);
    }
}

static void read_builds(struct etwas_offload_task *task)
{
    struct build_task *asked = (void *)task;

    for (uint32_t index = 0; index < asked->count; index++) {
        read_build(asked, &asked->builds[index]);
        ck_pr_fence_release();
        ck_pr_store_32(&asked->done, index + 1);
    }
}

static uint32_t store_builds(const struct build_task *asked)
{
    uint32_t done = ck_pr_load_32(&asked->done);

    ck_pr_fence_acquire();
    for (uint32_t index = 0; index < done; index++) {
        asked->list->mapped[asked->from + index].build = asked->builds[index];
    }
    return done;
}

/* Saves the results so far, and skips the build that the task waits for. */
static void abandon_builds(struct etwas_offload_task *task)
{
    struct build_task *asked = (void *)task;

    *asked->list_from += store_builds(asked) + 1;
}

static void free_builds(struct etwas_offload_task *task)
{
    free(task);
}

/* Returns false if there is no memory or no task can run. */
static bool ask_builds(struct list *list, uint32_t process_id, uint32_t *from)
{
    uint32_t count = list->count - *from;
    uint32_t from_before = *from;
    struct build_task *asked = calloc(1, sizeof *asked + count * sizeof *asked->builds);

    if (asked == NULL) {
        return false;
    }
    asked->task = (struct etwas_offload_task){.run = read_builds,
                                              .free = free_builds,
                                              .abandon = abandon_builds,
                                              .process_id = process_id};
    asked->list = list;
    asked->list_from = from;
    asked->from = *from;
    asked->count = count;
    for (uint32_t index = 0; index < count; index++) {
        asked->builds[index] = list->mapped[*from + index].build;
    }
    if (etwas_offload_run(&asked->task)) {
        *from += store_builds(asked);
        free(asked);
    }
    return *from != from_before;
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool process_mappings_has_room(struct list *list)
{
    uint32_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    struct mapped *more;

    if (list->count < list->room) {
        return true;
    }
    more = reallocarray(list->mapped, room, sizeof *more);
    if (more == NULL) {
        return false;
    }
    list->mapped = more;
    list->room = room;
    return true;
}

static void handle_line(void *context, char *line)
{
    struct list *list = context;
    struct etwas_mapping mapping;
    uint64_t device = etwas_process_parse_device(line);

    if (!etwas_process_parse_mapping(line, &mapping) || !process_mappings_has_room(list)) {
        return;
    }
    mapping.path = strdup(mapping.path);
    if (mapping.path != NULL) {
        list->mapped[list->count++] =
            (struct mapped){.mapping = mapping,
                            .build = {.begin = mapping.address,
                                      .end = mapping.address + mapping.bytes,
                                      .device = device}};
    }
}

void etwas_process_mappings(uint32_t process_id,
                            void (*each)(void *context, const struct etwas_mapping *mapping),
                            void *context)
{
    struct list list = {0};
    uint32_t from = 0;

    etwas_proc_list_mappings(process_id, handle_line, &list);
    while (from < list.count && ask_builds(&list, process_id, &from)) {
    }
    for (uint32_t index = 0; index < list.count; index++) {
        struct mapped *mapped = &list.mapped[index];

        mapped->mapping.build_id = mapped->build.id;
        mapped->mapping.build_id_bytes = mapped->build.bytes;
        each(context, &mapped->mapping);
        free((char *)mapped->mapping.path);
    }
    free(list.mapped);
}
