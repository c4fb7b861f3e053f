/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/unattached.h"

#include <ck_pr.h>
#include <unistd.h>

#include "buffer/slot.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/own_descriptor.h"

/* A whole page, which the file takes the place of. */
static union {
    uint64_t counts[ETWAS_GUEST_SESSIONS];
    uint8_t page[ETWAS_LARGEST_PAGE_BYTES];
} counted __attribute__((aligned(ETWAS_LARGEST_PAGE_BYTES)));

static uint32_t gates[ETWAS_GUEST_SESSIONS]; /* 0: nothing is counted */
static bool is_shared;                       /* with the file */
static int page_file = -1;

static uint32_t place_of(uint32_t entry)
{
    return entry - ETWAS_SESSION_ENTRIES;
}

/* Once it is there it stays, also if the program closes its descriptor: then no more hosts hear of it. */
int etwas_unattached_page(void)
{
    int file;

    if (is_shared) {
        return etwas_own_is(page_file) ? page_file : -1;
    }
    file = etwas_file_in_memory("etwas-unattached");
    if (file < 0) {
        return -1;
    }
    if (!etwas_file_truncate(file, sizeof counted) ||
        !etwas_memory_map_file(&counted, sizeof counted, file, 0)) {
        (void)close(file);
        return -1;
    }
    page_file = etwas_own_keep(file);
    is_shared = true;
    return page_file;
}

void etwas_unattached_begin(uint32_t entry, uint32_t gate)
{
    ck_pr_store_32(&gates[place_of(entry)], gate);
}

/* What is there of the session's slots is found by whoever does not find the gate. */
void etwas_unattached_end(uint32_t entry)
{
    ck_pr_fence_release();
    ck_pr_store_32(&gates[place_of(entry)], 0);
}

/* Nothing is attached in a child that no handler of a fork has seen, and it counts nothing of its parent's. */
bool etwas_unattached_is(uint32_t entry, uint32_t generation)
{
    bool is_noted = place_of(entry) < ETWAS_GUEST_SESSIONS && generation != 0 &&
                    ck_pr_load_32(&gates[place_of(entry)]) == generation;

    ck_pr_fence_acquire(); /* pairs with the end */
    return is_noted && etwas_slots_are_attached();
}

bool etwas_unattached_give_up(uint32_t entry)
{
    bool is_guests = place_of(entry) < ETWAS_GUEST_SESSIONS;

    if (is_guests) {
        ck_pr_inc_64(&counted.counts[place_of(entry)]);
    }
    return is_guests;
}

bool etwas_unattached_count(uint32_t entry, uint32_t generation)
{
    return etwas_unattached_is(entry, generation) && etwas_unattached_give_up(entry);
}

uint64_t etwas_unattached_counted(uint32_t entry)
{
    return ck_pr_load_64(&counted.counts[place_of(entry)]);
}

void etwas_unattached_forget(void)
{
    if (is_shared) {
        etwas_memory_map_zeroes(&counted, sizeof counted);
        etwas_own_close(page_file);
        page_file = -1;
        is_shared = false;
    }
    for (uint32_t place = 0; place < ETWAS_GUEST_SESSIONS; place++) {
        ck_pr_store_32(&gates[place], 0);
    }
}
