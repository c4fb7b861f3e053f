/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A list of providers as another process may have left it: u8, whether its length is put right
 * first; the list. What is understood is put again, to the same bytes.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "registry/guid_list.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TOTAL_BYTES_AT = 8,
};

static void walk_list(const struct etwas_registry_guid_list *list)
{
    struct etwas_registry_guid_list *again;
    void *bytes;
    size_t size;

    MUST(etwas_registry_encode_guids(list, &bytes, &size) == ERROR_SUCCESS);
    MUST(etwas_registry_decode_guids(bytes, size, &again) == ERROR_SUCCESS);
    free(bytes);
    MUST(list->count == again->count && list->process_start == again->process_start);
    MUST(list->unattached_count == again->unattached_count);
    MUST(memcmp(list->unattached, again->unattached,
                list->unattached_count * sizeof *list->unattached) == 0);
    for (uint32_t index = 0; index < list->count; index++) {
        MUST(strlen(list->guids[index].name) <= ETWAS_REGISTRY_PROVIDER_NAME_BYTES);
        MUST(strcmp(list->guids[index].name, again->guids[index].name) == 0);
        MUST(list->guids[index].is_group == again->guids[index].is_group);
        MUST(list->guids[index].group == again->guids[index].group);
        MUST(list->guids[index].group == 0 || (list->guids[index].group <= list->count &&
                                               list->guids[list->guids[index].group - 1].is_group));
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct etwas_registry_guid_list *list;
    bool is_put_right = take_u8(&input) % 2 != 0;
    uint16_t taken;
    uint8_t *bytes = take_bytes(&input, input.left, &taken);
    const uint32_t total = taken;

    if (is_put_right && taken >= TOTAL_BYTES_AT + sizeof total) {
        memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
    }
    if (etwas_registry_decode_guids(bytes, taken, &list) == ERROR_SUCCESS) {
        walk_list(list);
        free(list);
    }
    free(bytes);
    return 0;
}
