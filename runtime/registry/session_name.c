/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/sessions.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/name_case.h"
#include "registry/names.h"
#include "registry/session_entry.h"

#define MAGIC UINT32_C(0x4E575445) /* "ETWN" */

enum {
    VERSION = 1,
};

struct stored_name {
    uint32_t magic;
    uint16_t version;
    uint16_t name_units; /* the name follows; each unit is case-folded */
    etwas_guid session;
};
ETWAS_ASSERT_SIZE(struct stored_name, 24);

/* A case-folded name, as in the file that says which session has it. */
struct name {
    struct stored_name head;
    etwas_wchar folded[ETWAS_REGISTRY_NAME_UNITS];
    char stem[ETWAS_REGISTRY_FILE_BYTES];
};

static size_t session_name_size_of(const struct name *name)
{
    return sizeof name->head + name->head.name_units * sizeof(etwas_wchar);
}

/* FNV-1a. Names with the same hash are held at different places. */
static void session_name_add_hash(uint64_t *hash, etwas_wchar unit)
{
    *hash = (*hash ^ (unit & 0xFF)) * UINT64_C(0x100000001B3);
    *hash = (*hash ^ (unit >> 8)) * UINT64_C(0x100000001B3);
}

static uint32_t session_name_make(struct name *name, const etwas_wchar *given,
                                  const etwas_guid *session)
{
    struct etwas_file_name file = {.kind = ETWAS_REGISTRY_FILE_NAME,
                                   .nonce = UINT64_C(0xCBF29CE484222325)};
    size_t units = 0;

    for (; given[units] != 0; units++) {
        if (units == ETWAS_REGISTRY_NAME_UNITS) {
            return ERROR_INVALID_PARAMETER;
        }
        name->folded[units] = etwas_name_fold(given[units]);
        session_name_add_hash(&file.nonce, name->folded[units]);
    }
    name->head = (struct stored_name){
        .magic = MAGIC, .version = VERSION, .name_units = (uint16_t)units, .session = *session};
    etwas_file_name_format(&file, name->stem);
    return units == 0 ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}

static bool session_name_is_known(const void *bytes, size_t size)
{
    const struct stored_name *head = bytes;

    return size >= sizeof *head && head->magic == MAGIC && head->version == VERSION &&
           size == sizeof *head + head->name_units * sizeof(etwas_wchar);
}

static bool session_name_is_of_name(const void *bytes, const struct name *name)
{
    const struct stored_name *head = bytes;

    return head->name_units == name->head.name_units &&
           memcmp(head + 1, name->folded, head->name_units * sizeof(etwas_wchar)) == 0;
}

/* A file that cannot be decoded may have this name, so it counts as a match. It is living. */
static bool session_name_matches(const void *bytes, size_t size, void *what)
{
    return !session_name_is_known(bytes, size) || session_name_is_of_name(bytes, what);
}

uint32_t etwas_session_name_acquire(struct etwas_held_file *held, const etwas_wchar *given,
                                    const etwas_guid *session)
{
    struct name name;
    uint32_t code = session_name_make(&name, given, session);
    struct etwas_held_request request = {
        .stem = name.stem, .matches = session_name_matches, .what = &name};
    uint8_t bytes[sizeof name.head + sizeof name.folded];

    if (code != ERROR_SUCCESS) {
        return code;
    }
    memcpy(bytes, &name.head, sizeof name.head);
    memcpy(bytes + sizeof name.head, name.folded, session_name_size_of(&name) - sizeof name.head);
    request.bytes = bytes;
    request.size = session_name_size_of(&name);
    return etwas_held_acquire(held, &request);
}

/* ---- found ----------------------------------------------------------------------------------- */

struct search {
    const struct name *name;
    bool (*is_it)(const etwas_guid *session, void *context);
    void *context;
};

static bool session_name_is_found(const void *bytes, size_t size, void *what)
{
    const struct search *search = what;

    return session_name_is_known(bytes, size) && session_name_is_of_name(bytes, search->name) &&
           search->is_it(&((const struct stored_name *)bytes)->session, search->context);
}

uint32_t etwas_session_name_find(const etwas_wchar *given,
                                 bool (*is_it)(const etwas_guid *session, void *context),
                                 void *context)
{
    static const etwas_guid none;
    struct name name;
    struct search search = {.name = &name, .is_it = is_it, .context = context};
    struct etwas_held_request request = {
        .stem = name.stem, .matches = session_name_is_found, .what = &search};
    void *bytes;
    size_t size;
    uint32_t code = session_name_make(&name, given, &none);

    if (code != ERROR_SUCCESS) {
        return ERROR_NOT_FOUND; /* no session has such a name */
    }
    code = etwas_held_read(&request, &bytes, &size);
    free(bytes);
    return code;
}
