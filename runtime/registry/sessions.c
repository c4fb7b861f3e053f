/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/sessions.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/name_case.h"
#include "platform/wait.h"
#include "registry/held_file.h"
#include "registry/names.h"

#define ROOM_TIMEOUT_NS UINT64_C(1000000000)

enum {
    PAUSE_NS = 1000000,
};

static bool sessions_is_same(const etwas_guid *left, const etwas_guid *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

/* ---- one ------------------------------------------------------------------------------------- */

struct reading {
    const etwas_guid *session;
    bool with_starting;
    struct etwas_registry_entry *entry;
    uint32_t code; /* why the entry that was found is not the requested one */
};

/* A STARTING session may still be refused, and its host does not listen yet. */
static bool sessions_is_named(const void *bytes, size_t size, void *what)
{
    struct reading *reading = what;
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_decode_entry(bytes, size, &entry);

    if (code == ERROR_SUCCESS && sessions_is_same(&entry->session, reading->session) &&
        (reading->with_starting || entry->state != ETWAS_REGISTRY_STARTING)) {
        reading->entry = entry;
        return true;
    }
    if (code == ERROR_SUCCESS) {
        code = sessions_is_same(&entry->session, reading->session) ? ERROR_NOT_FOUND
                                                                   : ERROR_INVALID_DATA;
        free(entry);
    }
    reading->code = reading->code == ERROR_NOT_FOUND ? code : reading->code;
    return false;
}

static uint32_t sessions_read_entry(const etwas_guid *session, bool with_starting,
                                    struct etwas_registry_entry **entry)
{
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION, .session = *session};
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct reading reading = {
        .session = session, .with_starting = with_starting, .code = ERROR_NOT_FOUND};
    struct etwas_held_request request = {
        .stem = stem, .matches = sessions_is_named, .what = &reading};
    void *bytes;
    size_t size;
    uint32_t code;

    etwas_file_name_format(&name, stem);
    code = etwas_held_read(&request, &bytes, &size);
    free(bytes);
    *entry = reading.entry;
    return code == ERROR_NOT_FOUND ? reading.code : code;
}

uint32_t etwas_registry_read(const etwas_guid *session, struct etwas_registry_entry **entry)
{
    return sessions_read_entry(session, false, entry);
}

struct finding {
    const etwas_wchar *name;
    struct etwas_registry_entry *entry;
};

static bool sessions_has_name(const etwas_guid *session, void *context)
{
    struct finding *finding = context;

    if (etwas_registry_read(session, &finding->entry) != ERROR_SUCCESS) {
        return false;
    }
    if (etwas_names_equal(finding->entry->name, finding->name)) {
        return true;
    }
    free(finding->entry);
    finding->entry = NULL;
    return false;
}

uint32_t etwas_registry_find(const etwas_wchar *name, struct etwas_registry_entry **entry)
{
    struct finding finding = {.name = name};
    uint32_t code = etwas_session_name_find(name, sessions_has_name, &finding);

    *entry = finding.entry;
    return code;
}

uint32_t etwas_registry_folder_of(const etwas_guid *session, char path[ETWAS_FOLDER_BYTES])
{
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION, .session = *session};
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct etwas_held_request request = {.stem = stem};
    struct etwas_registry_walk walk;
    uint32_t code = etwas_registry_walk(&walk);
    bool goes_on = code == ERROR_SUCCESS;
    void *bytes;
    size_t size;

    etwas_file_name_format(&name, stem);
    while (goes_on) {
        code = etwas_held_read_in(walk.folder, &request, &bytes, &size);
        if (code == ERROR_SUCCESS) {
            free(bytes);
            etwas_registry_path(walk.folder, path);
        }
        goes_on = code != ERROR_SUCCESS && etwas_registry_walk_on(&walk);
    }
    etwas_registry_walk_end(&walk);
    return code == ERROR_NOT_FOUND && walk.code != ERROR_SUCCESS ? walk.code : code;
}

/* ---- all ------------------------------------------------------------------------------------- */

struct listing {
    bool with_starting;
    etwas_guid *sessions;
    uint32_t count;
    uint32_t room;
    uint32_t code;
};

static bool sessions_is_listed(const struct listing *listing, const etwas_guid *session)
{
    for (uint32_t index = 0; index < listing->count; index++) {
        if (sessions_is_same(&listing->sessions[index], session)) {
            return true;
        }
    }
    return false;
}

static bool sessions_add(struct listing *listing, const etwas_guid *session)
{
    if (listing->count == listing->room) {
        uint32_t room = 2 * listing->room + 8;
        etwas_guid *more = realloc(listing->sessions, room * sizeof *more);

        if (more == NULL) {
            listing->code = ERROR_NOT_ENOUGH_MEMORY;
            return false;
        }
        listing->sessions = more;
        listing->room = room;
    }
    listing->sessions[listing->count++] = *session;
    return true;
}

/* A session whose entry cannot be read is listed, too. */
static bool sessions_list_name(int folder, const char *text, void *context)
{
    struct listing *listing = context;
    struct etwas_file_name name = etwas_file_name_parse(text);
    struct etwas_registry_entry *entry;

    (void)folder;
    if (name.kind != ETWAS_REGISTRY_FILE_SESSION || sessions_is_listed(listing, &name.session) ||
        sessions_read_entry(&name.session, listing->with_starting, &entry) == ERROR_NOT_FOUND) {
        return true;
    }
    free(entry);
    return sessions_add(listing, &name.session);
}

uint32_t etwas_registry_list(etwas_guid **sessions, uint32_t *count)
{
    struct listing listing = {.code = ERROR_SUCCESS};
    uint32_t code = etwas_registry_each(sessions_list_name, &listing);

    code = code == ERROR_SUCCESS ? listing.code : code;
    if (code != ERROR_SUCCESS) {
        free(listing.sessions);
        listing = (struct listing){0};
    }
    *sessions = listing.sessions;
    *count = listing.count;
    return code;
}

/* ---- how many -------------------------------------------------------------------------------- */

/*
 * Returns how many shared sessions there are. *refusable receives how many of them are STARTING and
 * will be refused before this one.
 */
static uint32_t sessions_count_shared(const etwas_guid *session, uint32_t *refusable)
{
    struct listing listing = {.with_starting = true, .code = ERROR_SUCCESS};
    struct etwas_registry_entry *entry;
    uint32_t count = 0;

    *refusable = 0;
    (void)etwas_registry_each(sessions_list_name, &listing);
    for (uint32_t index = 0; index < listing.count; index++) {
        if (sessions_read_entry(&listing.sessions[index], true, &entry) == ERROR_SUCCESS) {
            count += entry->kind == ETWAS_REGISTRY_SHARED;
            *refusable += entry->kind == ETWAS_REGISTRY_SHARED &&
                          entry->state == ETWAS_REGISTRY_STARTING &&
                          memcmp(&entry->session, session, sizeof *session) > 0;
            free(entry);
        }
    }
    free(listing.sessions);
    return count;
}

/*
 * A starting session makes its entry before it counts the others. So of two that start, the later
 * one counts the earlier one.
 */
bool etwas_registry_has_room(const etwas_guid *session, uint32_t most)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t deadline_ns = etwas_monotonic_ns() + ROOM_TIMEOUT_NS;
    uint32_t refusable;

    while (sessions_count_shared(session, &refusable) > most) {
        if (refusable == 0 || etwas_monotonic_ns() >= deadline_ns) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}
