/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/followed_session.h"

#include "ship/message.h"
#include "ship/read/file.h"
#include "steer/running.h"

#include <stdio.h>
#include <string.h>

/* Returns why the session cannot be shipped while it runs, or NULL. */
static const char *refusal(const struct etwas_steer_block *block)
{
    if (block->file_name[0] == '\0' ||
        (block->properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0) {
        return "it has no log file; one in buffering mode is shipped by its snapshots, one in real "
               "time when it has a file, too";
    }
    return block->file_name[0] != '/' ? "its log file's folder is not known here" : NULL;
}

static bool read_number(struct etwas_ship_followed_session *session, const char *path,
                        const char *host)
{
    const char *reason;
    struct etwas_ship_file *file = etwas_ship_file_open(path, host, &reason);

    if (file == NULL) {
        etwas_ship_message(path, "it is not sent: %s", reason);
        return false;
    }
    session->number = etwas_ship_file_facts(file)->session;
    etwas_ship_file_close(file);
    return true;
}

bool etwas_ship_followed_session_find(struct etwas_ship_followed_session *session, const char *name,
                                      const char *host)
{
    static struct etwas_steer_found_session found;
    const char *wrong;
    char *slash;

    *session = (struct etwas_ship_followed_session){.name = name};
    if (!etwas_steer_find_session("etwas ship", name, &found)) {
        return false;
    }
    wrong = refusal(&found.block);
    if (wrong != NULL) {
        etwas_ship_message(name, "%s", wrong);
        return false;
    }
    session->guid = found.block.properties.Wnode.Guid;
    (void)snprintf(session->folder, sizeof session->folder, "%s", found.block.file_name);
    slash = strrchr(session->folder, '/');
    slash[slash == session->folder] = '\0';
    return read_number(session, found.block.file_name, host);
}

bool etwas_ship_followed_session_runs(const struct etwas_ship_followed_session *session)
{
    static struct etwas_steer_found_session found;

    return etwas_steer_find_session_quietly(session->name, &found) &&
           memcmp(&found.block.properties.Wnode.Guid, &session->guid, sizeof session->guid) == 0;
}
