/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/guid_list.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/cursor.h"
#include "etl/utf16.h"

#define MAGIC UINT32_C(0x47575445) /* "ETWG" */

enum {
    VERSION = 1,
    IS_GROUP = 1,
    IS_CLASSIC = 2,
    LEAST_HEAD_BYTES = 32, /* lists of earlier builds, which have no sessions */
};

struct stored_list {
    uint32_t magic;
    uint16_t version;
    uint16_t head_bytes; /* this structure, further fields of later builds, and the sessions */
    uint32_t total_bytes;
    uint32_t count;
    uint64_t process_start;
    uint32_t process_id;
    uint32_t layout;
    uint32_t unattached; /* number of sessions, whose GUIDs end the head */
    uint32_t reserved;
};
ETWAS_ASSERT_SIZE(struct stored_list, 40);

struct stored_guid {
    etwas_guid guid;
    uint16_t flags;
    uint16_t name_bytes; /* without the 0; the name and its 0 follow */
    uint32_t group;
};
ETWAS_ASSERT_SIZE(struct stored_guid, 24);

static bool guid_list_is_text(const char *text, size_t bytes)
{
    uint32_t point;

    for (size_t at = 0, length; at < bytes; at += length) {
        length = etwas_utf8_decode((const unsigned char *)text + at, bytes - at, &point);
        if (length == 0) {
            return false;
        }
    }
    return true;
}

static const char *guid_list_name_of(const struct etwas_registry_guid *guid)
{
    return guid->name != NULL ? guid->name : "";
}

static uint32_t guid_list_measure(const struct etwas_registry_guid_list *list, size_t *size)
{
    *size = sizeof(struct stored_list) + list->unattached_count * sizeof *list->unattached;
    if (list->unattached_count > ETWAS_REGISTRY_UNATTACHED) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < list->count; index++) {
        const char *name = guid_list_name_of(&list->guids[index]);
        size_t bytes = strnlen(name, ETWAS_REGISTRY_PROVIDER_NAME_BYTES + 1);

        if (bytes > ETWAS_REGISTRY_PROVIDER_NAME_BYTES || !guid_list_is_text(name, bytes)) {
            return ERROR_INVALID_PARAMETER;
        }
        *size += sizeof(struct stored_guid) + bytes + 1;
        if (*size > ETWAS_REGISTRY_GUID_LIST_BYTES) {
            return ERROR_BUFFER_OVERFLOW;
        }
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_encode_guids(const struct etwas_registry_guid_list *list, void **bytes,
                                     size_t *size)
{
    uint32_t code = guid_list_measure(list, size);
    struct stored_list head = {
        .magic = MAGIC,
        .version = VERSION,
        .head_bytes = (uint16_t)(sizeof head + list->unattached_count * sizeof *list->unattached),
        .total_bytes = (uint32_t)*size,
        .count = list->count,
        .process_start = list->process_start,
        .process_id = list->process_id,
        .layout = list->layout,
        .unattached = list->unattached_count,
    };
    uint8_t *at;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    at = malloc(*size);
    if (at == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *bytes = at;
    memcpy(at, &head, sizeof head);
    if (list->unattached_count != 0) {
        memcpy(at + sizeof head, list->unattached, head.head_bytes - sizeof head);
    }
    at += head.head_bytes;
    for (uint32_t index = 0; index < list->count; index++) {
        const struct etwas_registry_guid *guid = &list->guids[index];
        struct stored_guid stored = {
            .guid = guid->guid,
            .flags =
                (uint16_t)((guid->is_group ? IS_GROUP : 0) | (guid->is_classic ? IS_CLASSIC : 0)),
            .name_bytes = (uint16_t)strlen(guid_list_name_of(guid)),
            .group = guid->group,
        };

        memcpy(at, &stored, sizeof stored);
        memcpy(at + sizeof stored, guid_list_name_of(guid), stored.name_bytes + 1u);
        at += sizeof stored + stored.name_bytes + 1;
    }
    return ERROR_SUCCESS;
}

/* Further flags of later builds are ignored. */
static bool guid_list_decode_guid(struct etwas_cursor *cursor, struct etwas_registry_guid *guid)
{
    struct stored_guid stored;
    const char *name;
    size_t bytes;

    if (!etwas_cursor_copy(cursor, &stored, sizeof stored) ||
        !etwas_cursor_name(cursor, &name, &bytes) || bytes != stored.name_bytes ||
        bytes > ETWAS_REGISTRY_PROVIDER_NAME_BYTES || !guid_list_is_text(name, bytes)) {
        return false;
    }
    *guid = (struct etwas_registry_guid){
        .guid = stored.guid,
        .is_group = (stored.flags & IS_GROUP) != 0,
        .is_classic = (stored.flags & IS_CLASSIC) != 0,
        .group = stored.group,
        .name = name,
    };
    return true;
}

/* Clears each group index that does not refer to a group in the list. */
static void guid_list_check_groups(struct etwas_registry_guid_list *list)
{
    for (uint32_t index = 0; index < list->count; index++) {
        uint32_t *group = &list->guids[index].group;

        if (*group > list->count || (*group != 0 && !list->guids[*group - 1].is_group)) {
            *group = 0;
        }
    }
}

uint32_t etwas_registry_decode_guids(const void *bytes, size_t size,
                                     struct etwas_registry_guid_list **list)
{
    struct etwas_cursor cursor = {.at = bytes, .end = (const uint8_t *)bytes + size};
    struct etwas_registry_guid_list *made;
    struct stored_list head = {0};
    size_t unattached_bytes;
    size_t left;

    if (!etwas_cursor_copy(&cursor, &head, LEAST_HEAD_BYTES) || head.magic != MAGIC) {
        return ERROR_INVALID_DATA;
    }
    if (head.version != VERSION) {
        return ERROR_NOT_SUPPORTED;
    }
    if (head.head_bytes < LEAST_HEAD_BYTES || head.head_bytes > size || head.total_bytes != size) {
        return ERROR_INVALID_DATA;
    }
    if (head.head_bytes >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
    }
    unattached_bytes = head.unattached * sizeof *made->unattached;
    if (head.unattached > ETWAS_REGISTRY_UNATTACHED ||
        (head.unattached != 0 && unattached_bytes > head.head_bytes - sizeof head)) {
        return ERROR_INVALID_DATA;
    }
    cursor.at = (const uint8_t *)bytes + head.head_bytes;
    left = etwas_cursor_left(&cursor);
    if (head.count > left / sizeof(struct stored_guid)) {
        return ERROR_INVALID_DATA;
    }
    made = malloc(sizeof *made + head.count * sizeof *made->guids + unattached_bytes + left);
    if (made == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *made = (struct etwas_registry_guid_list){
        .process_id = head.process_id,
        .process_start = head.process_start,
        .layout = head.layout,
        .count = head.count,
        .guids = (struct etwas_registry_guid *)(made + 1),
        .unattached_count = head.unattached,
    };
    /* The sessions end the head, after any further fields of a later build. */
    made->unattached =
        memcpy(made->guids + head.count,
               (const uint8_t *)bytes + head.head_bytes - unattached_bytes, unattached_bytes);
    /* The names stay in the copy. */
    cursor.at = memcpy(made->unattached + head.unattached, cursor.at, left);
    cursor.end = cursor.at + left;
    for (uint32_t index = 0; index < head.count; index++) {
        if (!guid_list_decode_guid(&cursor, &made->guids[index])) {
            free(made);
            return ERROR_INVALID_DATA;
        }
    }
    if (cursor.at != cursor.end) {
        free(made);
        return ERROR_INVALID_DATA;
    }
    guid_list_check_groups(made);
    *list = made;
    return ERROR_SUCCESS;
}
