/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas ship`: what it is asked for, sent or not.
 */

#include "commands.h"
#include "ship/ddl.h"
#include "ship/prove.h"
#include "ship/run.h"
#include "ship/settings.h"

#include <stddef.h>

/*
 * Opens the target that is asked; NULL: statements are for a version, and no server is asked. False
 * after a message.
 */
static bool open_target(const struct etwas_ship_settings *settings,
                        struct etwas_ship_target **target)
{
    *target = NULL;
    return settings->target.shard_count == 0 ||
           etwas_ship_target_open(&settings->target, target) == ETWAS_SHIP_OPENED;
}

static int prove(struct etwas_ship_target *target, const struct etwas_ship_settings *settings)
{
    const struct etwas_ship_prove how = {.days = settings->days, .is_json = settings->is_json};

    return etwas_ship_prove(target, &how);
}

static int write_ddl(struct etwas_ship_target *target, const struct etwas_ship_settings *settings)
{
    const struct etwas_ship_ddl ddl = {
        .database = settings->target.database,
        .table = settings->target.table,
        .cluster = settings->cluster,
        .major = settings->major,
        .keep_days = settings->keep_days,
    };

    return etwas_ship_ddl(target, &ddl);
}

int etwas_command_ship(int argc, char **argv)
{
    static struct etwas_ship_settings settings;
    struct etwas_ship_target *target;
    int result;

    if (!etwas_ship_settings_read(argc, argv, &settings, &result)) {
        return result;
    }
    if (settings.task != ETWAS_SHIP_TASK_PROVE && settings.task != ETWAS_SHIP_TASK_DDL) {
        return etwas_ship_run(&settings);
    }
    if (!open_target(&settings, &target)) {
        return ETWAS_EXIT_OPEN;
    }
    result = settings.task == ETWAS_SHIP_TASK_PROVE ? prove(target, &settings)
                                                    : write_ddl(target, &settings);
    etwas_ship_target_close(target);
    return result;
}
