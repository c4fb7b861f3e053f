/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/sessions.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/name_case.h"
#include "registry/file_name.h"
#include "registry/held_file.h"
#include "registry/session_name.h"

static bool is_same(const etwas_guid *left, const etwas_guid *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

/* ---- one ------------------------------------------------------------------------------------- */

struct reading {
    const etwas_guid *session;
    struct etwas_registry_entry *entry;
    uint32_t code; /* why what was found is not it */
};

/* STARTING: it may be refused its name yet, and nobody listens. */
static bool is_it(const void *bytes, size_t size, void *what)
{
    struct reading *reading = what;
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_get_entry(bytes, size, &entry);

    if (code == ERROR_SUCCESS && is_same(&entry->session, reading->session) &&
        entry->state != ETWAS_REGISTRY_STARTING) {
        reading->entry = entry;
        return true;
    }
    if (code == ERROR_SUCCESS) {
        code = is_same(&entry->session, reading->session) ? ERROR_NOT_FOUND : ERROR_INVALID_DATA;
        free(entry);
    }
    reading->code = reading->code == ERROR_NOT_FOUND ? code : reading->code;
    return false;
}

uint32_t etwas_registry_read(const etwas_guid *session, struct etwas_registry_entry **entry)
{
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION, .session = *session};
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct reading reading = {.session = session, .code = ERROR_NOT_FOUND};
    struct etwas_held_wish wish = {.stem = stem, .matches = is_it, .what = &reading};
    void *bytes;
    size_t size;
    uint32_t code;

    etwas_file_name_put(&name, stem);
    code = etwas_held_read(&wish, &bytes, &size);
    free(bytes);
    *entry = reading.entry;
    return code == ERROR_NOT_FOUND ? reading.code : code;
}

struct finding {
    const etwas_wchar *name;
    struct etwas_registry_entry *entry;
};

static bool has_name(const etwas_guid *session, void *context)
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
    uint32_t code = etwas_session_name_find(name, has_name, &finding);

    *entry = finding.entry;
    return code;
}

/* ---- all ------------------------------------------------------------------------------------- */

struct listing {
    etwas_guid *sessions;
    uint32_t count;
    uint32_t room;
    uint32_t code;
};

static bool is_listed(const struct listing *listing, const etwas_guid *session)
{
    for (uint32_t index = 0; index < listing->count; index++) {
        if (is_same(&listing->sessions[index], session)) {
            return true;
        }
    }
    return false;
}

static bool add(struct listing *listing, const etwas_guid *session)
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

/* One whose entry cannot be read is there all the same. */
static bool look(const char *text, void *context)
{
    struct listing *listing = context;
    struct etwas_file_name name = etwas_file_name_get(text);
    struct etwas_registry_entry *entry;

    if (name.kind != ETWAS_REGISTRY_FILE_SESSION || is_listed(listing, &name.session) ||
        etwas_registry_read(&name.session, &entry) == ERROR_NOT_FOUND) {
        return true;
    }
    free(entry);
    return add(listing, &name.session);
}

uint32_t etwas_registry_list(etwas_guid **sessions, uint32_t *count)
{
    struct listing listing = {.code = ERROR_SUCCESS};
    uint32_t code = etwas_registry_each(look, &listing);

    code = code == ERROR_SUCCESS ? listing.code : code;
    if (code != ERROR_SUCCESS) {
        free(listing.sessions);
        listing = (struct listing){0};
    }
    *sessions = listing.sessions;
    *count = listing.count;
    return code;
}
