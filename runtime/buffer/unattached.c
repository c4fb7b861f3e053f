/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/unattached.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <unistd.h>

#include "buffer/slot.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/own_descriptor.h"

/* A whole page, which the file replaces. */
static union {
    uint64_t counts[ETWAS_UNATTACHED_WORDS];
    uint8_t page[ETWAS_LARGEST_PAGE_BYTES];
} counted __attribute__((aligned(ETWAS_LARGEST_PAGE_BYTES)));

/*
 * Indexed by entry: the word and, in the lower bits, the gate; gate 0: nothing is counted; word 0:
 * nothing was counted.
 */
static uint64_t places[ETWAS_GUEST_SESSIONS];
static uint32_t next_word = 1;
static bool is_shared; /* with the file */
static int page_file = -1;

static uint32_t unattached_place_of(uint32_t entry)
{
    return entry - ETWAS_SESSION_ENTRIES;
}

static uint32_t unattached_word_of(uint64_t place)
{
    return (uint32_t)(place >> 32);
}

/*
 * A page that was created stays, even if the program closes its descriptor. No further hosts
 * receive it then.
 */
int etwas_unattached_page(void)
{
    int file;

    if (is_shared) {
        return etwas_descriptor_is_own(page_file) ? page_file : -1;
    }
    file = etwas_file_create_in_memory("etwas-unattached");
    if (file < 0) {
        return -1;
    }
    if (!etwas_file_truncate(file, sizeof counted) ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        !etwas_memory_map_file(&counted, sizeof counted, file, 0)) {
        (void)close(file);
        return -1;
    }
    page_file = etwas_descriptor_protect(file);
    is_shared = true;
    return page_file;
}

uint32_t etwas_unattached_word(uint32_t entry)
{
    const uint64_t place = ck_pr_load_64(&places[unattached_place_of(entry)]);

    if ((uint32_t)place != 0) {
        return unattached_word_of(place);
    }
    ck_pr_store_64(&counted.counts[next_word], 0);
    return next_word;
}

static bool unattached_word_is_taken(uint32_t word)
{
    for (uint32_t place = 0; place < ETWAS_GUEST_SESSIONS; place++) {
        if (unattached_word_of(ck_pr_load_64(&places[place])) == word) {
            return true;
        }
    }
    return false;
}

/* There are more words than places, so one is free. */
void etwas_unattached_begin(uint32_t entry, uint32_t gate)
{
    ck_pr_store_64(&places[unattached_place_of(entry)], (uint64_t)next_word << 32 | gate);
    do {
        next_word = next_word + 1 < ETWAS_UNATTACHED_WORDS ? next_word + 1 : 1;
    } while (unattached_word_is_taken(next_word));
}

/* Ends counting. A writer that does not find the gate here looks up the slots again. */
void etwas_unattached_end(uint32_t entry)
{
    uint64_t *place = &places[unattached_place_of(entry)];

    ck_pr_fence_release();
    ck_pr_store_64(place, (uint64_t)unattached_word_of(ck_pr_load_64(place)) << 32);
}

/*
 * Adds events to a count. Returns false if the host has closed it: afterwards it is not read any
 * more.
 */
static bool unattached_add(uint32_t word, uint32_t events)
{
    return word != 0 &&
           (ck_pr_faa_64(&counted.counts[word], events) & ETWAS_UNATTACHED_CLOSED) == 0;
}

/* Returns 0 if events with this generation are not counted. */
static uint32_t unattached_counting_word(uint32_t entry, uint32_t generation)
{
    uint64_t place = 0;

    if (unattached_place_of(entry) < ETWAS_GUEST_SESSIONS && generation != 0) {
        place = ck_pr_load_64(&places[unattached_place_of(entry)]);
    }
    ck_pr_fence_acquire(); /* pairs with the end */
    return (uint32_t)place == generation && etwas_slots_are_attached() ? unattached_word_of(place)
                                                                       : 0;
}

/*
 * Nothing is attached in a child that no fork handler has seen, and it counts nothing of its
 * parent's.
 */
bool etwas_unattached_is_counting(uint32_t entry, uint32_t generation)
{
    return unattached_counting_word(entry, generation) != 0;
}

bool etwas_unattached_count_unresolved(uint32_t entry, uint32_t events)
{
    return unattached_place_of(entry) < ETWAS_GUEST_SESSIONS &&
           unattached_add(unattached_word_of(ck_pr_load_64(&places[unattached_place_of(entry)])),
                          events);
}

bool etwas_unattached_count(uint32_t entry, uint32_t generation, uint32_t events)
{
    return unattached_add(unattached_counting_word(entry, generation), events);
}

void etwas_unattached_forget(void)
{
    if (is_shared) {
        etwas_memory_map_zeroes(&counted, sizeof counted);
        etwas_descriptor_close(page_file);
        page_file = -1;
        is_shared = false;
    }
    for (uint32_t place = 0; place < ETWAS_GUEST_SESSIONS; place++) {
        ck_pr_store_64(&places[place], 0);
    }
}
