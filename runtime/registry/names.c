/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    GUID_TEXT_BYTES = 37,
};

static void file_name_format_guid(const etwas_guid *guid, char text[GUID_TEXT_BYTES])
{
    (void)snprintf(text, GUID_TEXT_BYTES, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                   guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1],
                   guid->Data4[2], guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6],
                   guid->Data4[7]);
}

void etwas_file_name_format(const struct etwas_file_name *name,
                            char text[ETWAS_REGISTRY_FILE_BYTES])
{
    const size_t room = ETWAS_REGISTRY_FILE_BYTES;
    char guid[GUID_TEXT_BYTES];

    file_name_format_guid(&name->session, guid);
    switch (name->kind) {
    case ETWAS_REGISTRY_FILE_NAME:
        (void)snprintf(text, room, "n.%016" PRIx64, name->nonce);
        break;
    case ETWAS_REGISTRY_FILE_SESSION:
        (void)snprintf(text, room, "s.%s", guid);
        break;
    case ETWAS_REGISTRY_FILE_SESSION_SOCKET:
        (void)snprintf(text, room, "s.%s.%016" PRIx64 ".sock", guid, name->nonce);
        break;
    case ETWAS_REGISTRY_FILE_PROCESS:
    case ETWAS_REGISTRY_FILE_PROCESS_SOCKET:
        (void)snprintf(text, room, "p.%" PRIu32 ".%" PRIu64 ".%016" PRIx64 "%s", name->process_id,
                       name->process_start, name->nonce,
                       name->kind == ETWAS_REGISTRY_FILE_PROCESS ? ".guids" : "");
        break;
    case ETWAS_REGISTRY_FILE_TEMPORARY:
        (void)snprintf(text, room, "t.%016" PRIx64, name->nonce);
        break;
    case ETWAS_REGISTRY_FILE_OTHER:
        text[0] = 0;
        break;
    }
}

/* ---- taken apart ----------------------------------------------------------------------------- */

static bool file_name_parse_text(const char **at, const char *text)
{
    size_t length = strlen(text);
    bool is_there = strncmp(*at, text, length) == 0;

    *at += is_there ? length : 0;
    return is_there;
}

/* Parses exactly `digits` digits of the base; if `digits` is 0, one to twenty. */
static bool file_name_parse_number(const char **at, unsigned base, int digits, uint64_t *value)
{
    static const char known[] = "0123456789abcdef";
    int count = 0;

    *value = 0;
    while (count < (digits != 0 ? digits : 20) && **at != 0) {
        const char *digit = memchr(known, **at, base);

        if (digit == NULL || *value > (UINT64_MAX - 15) / base) {
            break;
        }
        *value = *value * base + (uint64_t)(digit - known);
        (*at)++;
        count++;
    }
    return digits != 0 ? count == digits : count > 0;
}

static bool file_name_parse_guid(const char **at, etwas_guid *guid)
{
    uint64_t first;
    uint64_t second;
    uint64_t third;

    if (!file_name_parse_number(at, 16, 8, &first) || !file_name_parse_text(at, "-") ||
        !file_name_parse_number(at, 16, 4, &second) || !file_name_parse_text(at, "-") ||
        !file_name_parse_number(at, 16, 4, &third)) {
        return false;
    }
    guid->Data1 = (uint32_t)first;
    guid->Data2 = (uint16_t)second;
    guid->Data3 = (uint16_t)third;
    for (int index = 0; index < 8; index++) {
        if (((index == 0 || index == 2) && !file_name_parse_text(at, "-")) ||
            !file_name_parse_number(at, 16, 2, &first)) {
            return false;
        }
        guid->Data4[index] = (uint8_t)first;
    }
    return true;
}

/* Whether the name ends here, optionally after the place of a held file. */
static bool file_name_is_end(const char *at)
{
    return at[0] == 0 || (at[0] == '.' && at[1] >= '1' && at[1] <= '9' && at[2] == 0);
}

static enum etwas_registry_file_kind file_name_parse_session(const char *at,
                                                             struct etwas_file_name *name)
{
    if (!file_name_parse_guid(&at, &name->session)) {
        return ETWAS_REGISTRY_FILE_OTHER;
    }
    if (file_name_is_end(at)) {
        return ETWAS_REGISTRY_FILE_SESSION;
    }
    return file_name_parse_text(&at, ".") && file_name_parse_number(&at, 16, 16, &name->nonce) &&
                   strcmp(at, ".sock") == 0
               ? ETWAS_REGISTRY_FILE_SESSION_SOCKET
               : ETWAS_REGISTRY_FILE_OTHER;
}

static enum etwas_registry_file_kind file_name_parse_process(const char *at,
                                                             struct etwas_file_name *name)
{
    uint64_t process;

    if (!file_name_parse_number(&at, 10, 0, &process) || process > UINT32_MAX ||
        !file_name_parse_text(&at, ".") ||
        !file_name_parse_number(&at, 10, 0, &name->process_start) ||
        !file_name_parse_text(&at, ".") || !file_name_parse_number(&at, 16, 16, &name->nonce)) {
        return ETWAS_REGISTRY_FILE_OTHER;
    }
    name->process_id = (uint32_t)process;
    return at[0] == 0                  ? ETWAS_REGISTRY_FILE_PROCESS_SOCKET
           : strcmp(at, ".guids") == 0 ? ETWAS_REGISTRY_FILE_PROCESS
                                       : ETWAS_REGISTRY_FILE_OTHER;
}

struct etwas_file_name etwas_file_name_parse(const char *text)
{
    struct etwas_file_name name = {0};
    const char *at = text;

    if (file_name_parse_text(&at, "s.")) {
        name.kind = file_name_parse_session(at, &name);
    } else if (file_name_parse_text(&at, "p.")) {
        name.kind = file_name_parse_process(at, &name);
    } else if (file_name_parse_text(&at, "n.") &&
               file_name_parse_number(&at, 16, 16, &name.nonce) && file_name_is_end(at)) {
        name.kind = ETWAS_REGISTRY_FILE_NAME;
    } else if (file_name_parse_text(&at, "t.") &&
               file_name_parse_number(&at, 16, 16, &name.nonce) && at[0] == 0) {
        name.kind = ETWAS_REGISTRY_FILE_TEMPORARY;
    }
    if (name.kind == ETWAS_REGISTRY_FILE_OTHER) {
        name = (struct etwas_file_name){0};
    }
    return name;
}
