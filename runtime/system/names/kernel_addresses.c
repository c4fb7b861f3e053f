/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/kernel_addresses.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"

enum {
    PLACES = 2 * ETWAS_KERNEL_ADDRESSES,
    PLACE_SHIFT = 64 - 16,
    GROUP_SHIFT = 8,
    /* Groups and types of records, whose payloads have addresses. */
    SAMPLE = 0x0F << GROUP_SHIFT | 46,
    STACK = 0x18 << GROUP_SHIFT | 32,
    THREADED_DPC = 0x0F << GROUP_SHIFT | 66,
    DPC = 0x0F << GROUP_SHIFT | 68,
    TIMER_DPC = 0x0F << GROUP_SHIFT | 69,
    SAMPLE_AT = sizeof(struct etwas_etl_perfinfo_header),
    ROUTINE_AT = SAMPLE_AT + 8,
    FRAMES_AT = SAMPLE_AT + 16,
};
_Static_assert(PLACES == 1 << (64 - PLACE_SHIFT), "a place for each hash");

#define KERNEL_HALF (UINT64_C(1) << 63)

static void add_new(struct etwas_kernel_addresses *addresses, uint64_t address, uint64_t *entry)
{
    if (addresses->count == ETWAS_KERNEL_ADDRESSES) {
        addresses->left_out += addresses->left_out != UINT32_MAX;
        return;
    }
    addresses->count++;
    *entry = address;
}

void etwas_kernel_addresses_add(struct etwas_kernel_addresses *addresses, uint64_t address)
{
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t *table = addresses->table;
    uint32_t entry = (uint32_t)(address * golden >> PLACE_SHIFT);

    if (address < KERNEL_HALF) {
        return;
    }
    if (table == NULL) {
        table = calloc(PLACES, sizeof *table);
        if (table == NULL) {
            addresses->left_out += addresses->left_out != UINT32_MAX;
            return;
        }
        addresses->table = table;
    }
    while (table[entry] != address) {
        if (table[entry] == 0) {
            add_new(addresses, address, &table[entry]);
            return;
        }
        entry = (entry + 1) & (PLACES - 1);
    }
}

/* Returns 0 if the record ends before it. */
static uint64_t address_at(const struct etwas_stamped_record *record, uint32_t at)
{
    uint64_t address = 0;

    if (record->size >= at + sizeof address) {
        memcpy(&address, (const uint8_t *)record->bytes + at, sizeof address);
    }
    return address;
}

/*
 * The kernel's part of a stack and the program's are separate records. Every frame but the
 * innermost is the address after a call, which may be the last instruction of its function.
 */
static void add_stack(struct etwas_kernel_addresses *addresses,
                      const struct etwas_stamped_record *record)
{
    uint64_t address = address_at(record, FRAMES_AT);

    for (uint32_t at = FRAMES_AT; address >= KERNEL_HALF; at += sizeof address) {
        etwas_kernel_addresses_add(addresses, address - (at != FRAMES_AT));
        address = address_at(record, at + sizeof address);
    }
}

static int64_t kernel_addresses_stamp_of(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return etwas_emit_stamp(((const struct etwas_kernel_addresses *)(const void *)emitter)->next,
                            time_ns);
}

static void note_addresses_of(struct etwas_emitter *emitter, uint32_t slot,
                              const struct etwas_stamped_record *record)
{
    struct etwas_kernel_addresses *addresses = (void *)emitter;
    struct etwas_etl_perfinfo_header header;

    addresses->next->receive(addresses->next, slot, record);
    memcpy(&header, record->bytes, sizeof header);
    if (header.header_type != ETWAS_ETL_PERFINFO64) {
        return;
    }
    switch (header.group << GROUP_SHIFT | header.type) {
    case SAMPLE:
        etwas_kernel_addresses_add(addresses, address_at(record, SAMPLE_AT));
        break;
    case STACK:
        add_stack(addresses, record);
        break;
    case THREADED_DPC:
    case DPC:
    case TIMER_DPC:
        etwas_kernel_addresses_add(addresses, address_at(record, ROUTINE_AT));
        break;
    default:
        break;
    }
}

void etwas_kernel_addresses_open(struct etwas_kernel_addresses *addresses,
                                 struct etwas_emitter *next)
{
    *addresses = (struct etwas_kernel_addresses){
        .emitter = {.receive = note_addresses_of, .stamp = kernel_addresses_stamp_of},
        .next = next};
}

static int compare(const void *left, const void *right)
{
    uint64_t one = *(const uint64_t *)left;
    uint64_t other = *(const uint64_t *)right;

    return one < other ? -1 : one > other;
}

uint64_t *etwas_kernel_addresses_sorted(const struct etwas_kernel_addresses *addresses)
{
    uint64_t *sorted = addresses->count != 0 ? calloc(addresses->count, sizeof *sorted) : NULL;
    uint32_t count = 0;

    for (uint32_t entry = 0; sorted != NULL && entry < PLACES; entry++) {
        if (addresses->table[entry] != 0) {
            sorted[count++] = addresses->table[entry];
        }
    }
    if (sorted != NULL) {
        qsort(sorted, count, sizeof *sorted, compare);
    }
    return sorted;
}

void etwas_kernel_addresses_free(struct etwas_kernel_addresses *addresses)
{
    free(addresses->table);
    addresses->table = NULL;
}
