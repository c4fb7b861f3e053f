/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session's entry as another process may have left it: u8, whether its length is put right first;
 * the entry. What is understood is put again, and understood in the same way. What is behind its
 * head is an enablement, too.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "registry/session_entry.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TOTAL_BYTES_AT = 8,
};

static void check_same(const struct etwas_registry_enablement *left,
                       const struct etwas_registry_enablement *right)
{
    MUST(left->filter_count == right->filter_count && left->filter_count <= ETWAS_REGISTRY_FILTERS);
    MUST(memcmp(&left->provider, &right->provider, sizeof left->provider) == 0);
    MUST(left->match_all == right->match_all && left->is_group == right->is_group);
    for (uint32_t index = 0; index < left->filter_count; index++) {
        MUST(left->filters[index].bytes == right->filters[index].bytes);
        MUST(memcmp(left->filters[index].data, right->filters[index].data,
                    left->filters[index].bytes) == 0);
    }
}

static void walk_entry(const struct etwas_registry_entry *entry)
{
    struct etwas_registry_entry *again;
    void *bytes;
    size_t size;

    MUST(etwas_registry_encode_entry(entry, &bytes, &size) == ERROR_SUCCESS);
    MUST(etwas_registry_decode_entry(bytes, size, &again) == ERROR_SUCCESS);
    free(bytes);
    MUST(memcmp(entry->name, again->name, sizeof entry->name) == 0);
    MUST(entry->enablement_count == again->enablement_count);
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        check_same(&entry->enablements[index], &again->enablements[index]);
    }
    free(again);
}

static void walk_enablement(const void *bytes, size_t size)
{
    struct etwas_registry_enablement enablement;
    struct etwas_registry_enablement again;
    uint8_t copy[4096];
    size_t used;

    if (etwas_registry_decode_enablement(bytes, size, &enablement, &used) == ERROR_SUCCESS) {
        MUST(used <= size);
        if (etwas_registry_encode_enablement(&enablement, copy, sizeof copy, &used) ==
            ERROR_SUCCESS) {
            MUST(etwas_registry_decode_enablement(copy, used, &again, &used) == ERROR_SUCCESS);
            check_same(&enablement, &again);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct etwas_registry_entry *entry;
    bool is_put_right = take_u8(&input) % 2 != 0;
    uint16_t taken;
    uint8_t *bytes = take_bytes(&input, input.left, &taken);
    const uint32_t total = taken;

    walk_enablement(bytes, taken);
    if (is_put_right && taken >= TOTAL_BYTES_AT + sizeof total) {
        memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
    }
    if (etwas_registry_decode_entry(bytes, taken, &entry) == ERROR_SUCCESS) {
        walk_entry(entry);
        free(entry);
    }
    free(bytes);
    return 0;
}
