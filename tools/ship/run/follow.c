/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/follow.h"

#include "cli/files.h"
#include "ship/message.h"
#include "ship/run/written.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool etwas_ship_each_file(const char *folder,
                          bool (*take)(void *context, const char *path, const struct stat *facts),
                          void *context)
{
    DIR *names = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];
    struct stat facts;
    bool goes_on = true;

    if (names == NULL) {
        return false;
    }
    while (goes_on && (entry = readdir(names)) != NULL) {
        if (etwas_files_is_log(entry->d_name) &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path &&
            etwas_ship_is_file(path, &facts)) {
            goes_on = take(context, path, &facts);
        }
    }
    (void)closedir(names);
    return true;
}

/*
 * An empty file is being created, so it is not added yet. A file that replaced an open one is added
 * when that one is finished.
 */
static bool take_entry(void *context, const char *path, const struct stat *facts)
{
    struct etwas_ship_run *run = context;
    uint64_t mark = etwas_ship_mark(path, facts);
    struct etwas_ship_source *source = etwas_ship_sources_find(&run->sources, path);

    if (source != NULL) {
        source->is_seen = true;
        if (source->file == NULL || etwas_ship_is_same(&source->facts, facts)) {
            source->mark = mark;
            source->facts = *facts;
        }
    } else if (facts->st_size != 0 && !etwas_ship_sources_is_finished(&run->sources, mark)) {
        (void)etwas_ship_sources_add(&run->sources, path, facts);
    }
    return true;
}

static void drop_those_gone(struct etwas_ship_run *run)
{
    for (uint32_t i = run->sources.count; i-- != 0;) {
        struct etwas_ship_source *source = run->sources.list[i];

        if (!source->is_seen && !source->is_gone && source->phase == ETWAS_SHIP_CLOSED) {
            etwas_ship_sources_drop(&run->sources, source);
        }
    }
}

bool etwas_ship_follow_look(struct etwas_ship_run *run)
{
    for (uint32_t i = 0; i < run->sources.count; i++) {
        run->sources.list[i]->is_seen = false;
    }
    run->sources.is_full = false;
    if (!etwas_ship_each_file(run->folder, take_entry, run)) {
        if (run->look_error != errno) {
            run->look_error = errno;
            etwas_ship_message(run->folder, "the folder cannot be read: %s", strerror(errno));
        }
        return false;
    }
    run->look_error = 0;
    drop_those_gone(run);
    return true;
}
