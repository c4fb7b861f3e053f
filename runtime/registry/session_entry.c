/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/session_entry.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/cursor.h"
#include "platform/time_namespace.h"

#define MAGIC UINT32_C(0x53575445) /* "ETWS" */

enum {
    VERSION = 1,
    ALIGNMENT = 8, /* each part after the head begins on a multiple of it */
};

/* ---- the layout ------------------------------------------------------------------------------ */

struct stored_entry {
    uint32_t magic;
    uint16_t version;
    uint16_t head_bytes; /* of this structure; further fields of later builds are skipped */
    uint32_t total_bytes;
    uint32_t enablements;
    etwas_guid session;
    uint64_t number;
    uint64_t socket;
    uint64_t process_start;
    uint32_t process_id;
    uint32_t state;
    uint16_t kind;
    uint16_t layout;
    uint32_t log_file_mode;
    uint32_t clock;
    /* the name follows, then a TEMPLATE's struct etwas_registry_template, then the enablements */
    uint32_t name_units;
    uint32_t gate; /* the first build has no fields from here on; they are 0 then */
    uint32_t unshared;
    int64_t time_offset_ns;
};
ETWAS_ASSERT_SIZE(struct stored_entry, 96);

enum {
    LEAST_HEAD_BYTES = offsetof(struct stored_entry, gate),
};

struct stored_enablement {
    uint32_t bytes; /* with its filters; further data of later builds is skipped */
    uint32_t property;
    etwas_guid provider;
    etwas_guid source;
    uint64_t match_any;
    uint64_t match_all;
    uint64_t number;
    uint64_t captured;
    uint8_t level;
    uint8_t is_group;
    uint16_t filters;
    uint32_t reserved;
};
ETWAS_ASSERT_SIZE(struct stored_enablement, 80);

struct stored_filter {
    uint32_t type;
    uint32_t bytes; /* of the data, which follow */
};
ETWAS_ASSERT_SIZE(struct stored_filter, 8);

/*
 * Follows the filters. The first build does not write it; the time is 0 then. It is a time of the
 * first time namespace.
 */
struct stored_moment {
    uint64_t asked_ns;
};
ETWAS_ASSERT_SIZE(struct stored_moment, 8);

_Static_assert(sizeof(struct etwas_registry_template) % ALIGNMENT == 0,
               "the enablements stand behind it");

static size_t entry_aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- an enablement --------------------------------------------------------------------------- */

static uint32_t entry_measure(const struct etwas_registry_enablement *enablement, size_t *size)
{
    *size = sizeof(struct stored_enablement) + sizeof(struct stored_moment);
    if (enablement->filter_count > ETWAS_REGISTRY_FILTERS) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < enablement->filter_count; index++) {
        if (enablement->filters[index].bytes > ETWAS_REGISTRY_FILTER_BYTES) {
            return ERROR_INVALID_PARAMETER;
        }
        *size += sizeof(struct stored_filter) + entry_aligned(enablement->filters[index].bytes);
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_encode_enablement(const struct etwas_registry_enablement *enablement,
                                          void *bytes, size_t room, size_t *size)
{
    uint32_t code = entry_measure(enablement, size);
    struct stored_enablement head = {
        .bytes = (uint32_t)*size,
        .property = enablement->property,
        .provider = enablement->provider,
        .source = enablement->source,
        .match_any = enablement->match_any,
        .match_all = enablement->match_all,
        .number = enablement->number,
        .captured = enablement->captured,
        .level = enablement->level,
        .is_group = enablement->is_group,
        .filters = (uint16_t)enablement->filter_count,
    };
    const struct stored_moment moment = {
        .asked_ns = enablement->asked_ns != 0
                        ? enablement->asked_ns - (uint64_t)etwas_time_offset_known_ns()
                        : 0};
    uint8_t *at = bytes;

    if (code != ERROR_SUCCESS || *size > room) {
        return code != ERROR_SUCCESS ? code : ERROR_INSUFFICIENT_BUFFER;
    }
    memset(at, 0, *size);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (uint32_t index = 0; index < enablement->filter_count; index++) {
        const struct etwas_registry_filter *filter = &enablement->filters[index];
        struct stored_filter stored = {.type = filter->type, .bytes = filter->bytes};

        memcpy(at, &stored, sizeof stored);
        if (filter->bytes != 0) {
            memcpy(at + sizeof stored, filter->data, filter->bytes);
        }
        at += sizeof stored + entry_aligned(filter->bytes);
    }
    memcpy(at, &moment, sizeof moment);
    return ERROR_SUCCESS;
}

static bool entry_decode_filter(struct etwas_cursor *cursor, struct etwas_registry_filter *filter)
{
    struct stored_filter stored;

    if (!etwas_cursor_copy(cursor, &stored, sizeof stored) ||
        stored.bytes > ETWAS_REGISTRY_FILTER_BYTES ||
        entry_aligned(stored.bytes) > etwas_cursor_left(cursor)) {
        return false;
    }
    *filter = (struct etwas_registry_filter){
        .type = stored.type, .bytes = stored.bytes, .data = cursor->at};
    cursor->at += entry_aligned(stored.bytes);
    return true;
}

uint32_t etwas_registry_decode_enablement(const void *bytes, size_t size,
                                          struct etwas_registry_enablement *enablement,
                                          size_t *used)
{
    struct etwas_cursor cursor = {.at = bytes, .end = (const uint8_t *)bytes + size};
    struct stored_enablement head;
    struct stored_moment moment;

    if (!etwas_cursor_copy(&cursor, &head, sizeof head) || head.bytes < sizeof head ||
        head.bytes > size || head.bytes % ALIGNMENT != 0 || head.is_group > 1 ||
        head.filters > ETWAS_REGISTRY_FILTERS) {
        return ERROR_INVALID_DATA;
    }
    cursor.end = (const uint8_t *)bytes + head.bytes;
    *enablement = (struct etwas_registry_enablement){
        .provider = head.provider,
        .source = head.source,
        .match_any = head.match_any,
        .match_all = head.match_all,
        .number = head.number,
        .captured = head.captured,
        .property = head.property,
        .level = head.level,
        .is_group = head.is_group != 0,
        .filter_count = head.filters,
    };
    for (uint32_t index = 0; index < head.filters; index++) {
        if (!entry_decode_filter(&cursor, &enablement->filters[index])) {
            return ERROR_INVALID_DATA;
        }
    }
    if (etwas_cursor_copy(&cursor, &moment, sizeof moment)) {
        enablement->asked_ns =
            moment.asked_ns != 0 ? moment.asked_ns + (uint64_t)etwas_time_offset_known_ns() : 0;
    }
    *used = head.bytes;
    return ERROR_SUCCESS;
}

/* ---- an entry -------------------------------------------------------------------------------- */

static size_t entry_name_units(const etwas_wchar *name)
{
    size_t units = 0;

    while (units <= ETWAS_REGISTRY_NAME_UNITS && name[units] != 0) {
        units++;
    }
    return units;
}

static size_t entry_template_bytes(uint32_t kind)
{
    return kind == ETWAS_REGISTRY_TEMPLATE ? sizeof(struct etwas_registry_template) : 0;
}

static uint32_t measure_entry(const struct etwas_registry_entry *entry, size_t *size)
{
    size_t units = entry_name_units(entry->name);

    *size = sizeof(struct stored_entry) + entry_aligned(units * sizeof(etwas_wchar)) +
            entry_template_bytes(entry->kind);
    if (units == 0 || units > ETWAS_REGISTRY_NAME_UNITS || entry->state > ETWAS_REGISTRY_CLOSING ||
        (entry->kind == ETWAS_REGISTRY_TEMPLATE) != (entry->private != NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        size_t more;
        uint32_t code = entry_measure(&entry->enablements[index], &more);

        if (code != ERROR_SUCCESS) {
            return code;
        }
        *size += more;
        if (*size > ETWAS_REGISTRY_ENTRY_BYTES) {
            return ERROR_BUFFER_OVERFLOW;
        }
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_encode_entry(const struct etwas_registry_entry *entry, void **bytes,
                                     size_t *size)
{
    uint32_t code = measure_entry(entry, size);
    struct stored_entry head = {
        .magic = MAGIC,
        .version = VERSION,
        .head_bytes = sizeof head,
        .total_bytes = (uint32_t)*size,
        .enablements = entry->enablement_count,
        .session = entry->session,
        .number = entry->number,
        .socket = entry->socket,
        .process_start = entry->process_start,
        .process_id = entry->process_id,
        .state = entry->state,
        .kind = (uint16_t)entry->kind,
        .layout = (uint16_t)entry->layout,
        .log_file_mode = entry->log_file_mode,
        .clock = entry->clock,
        .name_units = (uint32_t)entry_name_units(entry->name),
        .gate = entry->gate,
        .unshared = entry->unshared,
        .time_offset_ns = entry->time_offset_ns,
    };
    uint8_t *at;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    at = calloc(1, *size);
    if (at == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *bytes = at;
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, entry->name, head.name_units * sizeof(etwas_wchar));
    at += sizeof head + entry_aligned(head.name_units * sizeof(etwas_wchar));
    if (entry->private != NULL) {
        memcpy(at, entry->private, sizeof *entry->private);
        at += sizeof *entry->private;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        size_t left = *size - (size_t)(at - (uint8_t *)*bytes);
        size_t used;

        (void)etwas_registry_encode_enablement(&entry->enablements[index], at, left, &used);
        at += used;
    }
    return ERROR_SUCCESS;
}

/* Reads the fields that the first build does not have; they stay 0 if they are missing. */
static void entry_complete_head(struct etwas_cursor *cursor, struct stored_entry *head)
{
    if (head->head_bytes >= sizeof *head) {
        memcpy(head, cursor->at - LEAST_HEAD_BYTES, sizeof *head);
    }
    cursor->at += head->head_bytes - LEAST_HEAD_BYTES;
}

/*
 * The cursor is behind the head of the first build, and is moved to what follows the name. Also
 * checks that the rest has room for as many enablements as the head says.
 */
static bool entry_decode_head(struct etwas_cursor *cursor, size_t size, struct stored_entry *head,
                              etwas_wchar name[ETWAS_REGISTRY_NAME_UNITS + 1])
{
    size_t name_bytes;

    if (head->head_bytes < LEAST_HEAD_BYTES || head->head_bytes % ALIGNMENT != 0 ||
        head->head_bytes > size || head->total_bytes != size ||
        head->state > ETWAS_REGISTRY_CLOSING || head->name_units == 0 ||
        head->name_units > ETWAS_REGISTRY_NAME_UNITS) {
        return false;
    }
    entry_complete_head(cursor, head);
    name_bytes = head->name_units * sizeof(etwas_wchar);
    if (entry_aligned(name_bytes) > etwas_cursor_left(cursor)) {
        return false;
    }
    memcpy(name, cursor->at, name_bytes);
    name[head->name_units] = 0;
    cursor->at += entry_aligned(name_bytes);
    return entry_name_units(name) == head->name_units &&
           head->enablements <= etwas_cursor_left(cursor) / sizeof(struct stored_enablement);
}

static bool entry_is_sound(const struct etwas_registry_template *private)
{
    return private->bytes == sizeof *private &&
           private->process_count <= ETWAS_REGISTRY_PROCESSES &&
           private->programs[ETWAS_REGISTRY_PROGRAM_UNITS - 1] == 0 &&
           private->file_name[ETWAS_REGISTRY_NAME_UNITS] == 0 &&
           private->snapshot_name[ETWAS_REGISTRY_NAME_UNITS] == 0;
}

/* Decodes the enablements. Their filters refer to the data in `bytes`, which is the entry's own. */
static bool entry_decode_enablements(const void *bytes, size_t size,
                                     struct etwas_registry_enablement *enablements, uint32_t count)
{
    const uint8_t *at = bytes;

    for (uint32_t index = 0; index < count; index++) {
        size_t used;

        if (etwas_registry_decode_enablement(at, size, &enablements[index], &used) !=
            ERROR_SUCCESS) {
            return false;
        }
        at += used;
        size -= used;
    }
    return size == 0;
}

uint32_t etwas_registry_decode_entry(const void *bytes, size_t size,
                                     struct etwas_registry_entry **entry)
{
    struct etwas_cursor cursor = {.at = bytes, .end = (const uint8_t *)bytes + size};
    struct etwas_registry_entry read = {0};
    struct etwas_registry_entry *made;
    struct stored_entry head = {0};
    uint8_t *behind;
    size_t own;
    size_t left;

    if (!etwas_cursor_copy(&cursor, &head, LEAST_HEAD_BYTES) || head.magic != MAGIC) {
        return ERROR_INVALID_DATA;
    }
    if (head.version != VERSION) {
        return ERROR_NOT_SUPPORTED;
    }
    if (!entry_decode_head(&cursor, size, &head, read.name)) {
        return ERROR_INVALID_DATA;
    }
    own = entry_template_bytes(head.kind);
    left = etwas_cursor_left(&cursor);
    made = malloc(sizeof *made + head.enablements * sizeof *made->enablements + left);
    if (made == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *made = read;
    made->session = head.session;
    made->number = head.number;
    made->socket = head.socket;
    made->process_start = head.process_start;
    made->process_id = head.process_id;
    made->state = head.state;
    made->kind = head.kind;
    made->layout = head.layout;
    made->log_file_mode = head.log_file_mode;
    made->clock = head.clock;
    made->gate = head.gate;
    made->unshared = head.unshared;
    made->time_offset_ns = head.time_offset_ns;
    made->enablement_count = head.enablements;
    made->enablements = (struct etwas_registry_enablement *)(made + 1);
    behind = (uint8_t *)(made->enablements + head.enablements);
    memcpy(behind, cursor.at, left);
    made->private = own != 0 ? (struct etwas_registry_template *)(void *)behind : NULL;
    if (left < own || (own != 0 && !entry_is_sound(made->private)) ||
        !entry_decode_enablements(behind + own, left - own, made->enablements, head.enablements)) {
        free(made);
        return ERROR_INVALID_DATA;
    }
    *entry = made;
    return ERROR_SUCCESS;
}
