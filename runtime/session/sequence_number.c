/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "session/sequence_number.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>

static struct {
    uint32_t last;
} __attribute__((aligned(64))) process;

static uint64_t local_word(uint32_t generation, uint32_t last)
{
    return (uint64_t)generation << 32 | last;
}

void etwas_sequence_numbers_begin(struct etwas_sequence_numbers *numbers, uint32_t generation,
                                  uint32_t log_file_mode)
{
    bool local = (log_file_mode & EVENT_TRACE_USE_LOCAL_SEQUENCE) != 0;
    bool global = (log_file_mode & EVENT_TRACE_USE_GLOBAL_SEQUENCE) != 0;

    /*
     * The release that opens the gates follows this store. Writers read this only after an open
     * gate.
     */
    ck_pr_store_64(&numbers->local, local ? local_word(generation, 0) : 0);
    ck_pr_store_32(&numbers->global, global ? generation : 0);
}

static bool word_is_of_generation(uint64_t word, uint32_t generation)
{
    return (uint32_t)(word >> 32) == generation;
}

bool etwas_sequence_numbers_has(const struct etwas_sequence_numbers *numbers, uint32_t generation)
{
    return word_is_of_generation(ck_pr_load_64(&numbers->local), generation) ||
           ck_pr_load_32(&numbers->global) == generation;
}

static uint32_t sequence_next_of_process(void)
{
    uint32_t number;

    do {
        number = ck_pr_faa_32(&process.last, 1) + 1;
    } while (number == 0);
    return number;
}

uint32_t etwas_sequence_numbers_next(struct etwas_sequence_numbers *numbers, uint32_t generation)
{
    uint64_t word = ck_pr_load_64(&numbers->local);

    if (ck_pr_load_32(&numbers->global) == generation) {
        return sequence_next_of_process();
    }
    while (word_is_of_generation(word, generation)) {
        uint32_t number = (uint32_t)word == UINT32_MAX ? 1 : (uint32_t)word + 1;

        /* Relaxed: a number publishes nothing. */
        if (ck_pr_cas_64_value(&numbers->local, word, local_word(generation, number), &word)) {
            return number;
        }
    }
    return 0;
}

void etwas_sequence_numbers_forget(void)
{
    ck_pr_store_32(&process.last, 0);
}

#ifdef ETWAS_TESTPOINTS
void etwas_sequence_numbers_set(struct etwas_sequence_numbers *numbers, uint32_t last)
{
    uint32_t generation = (uint32_t)(ck_pr_load_64(&numbers->local) >> 32);

    ck_pr_store_64(&numbers->local, local_word(generation, last));
    ck_pr_store_32(&process.last, last);
}
#endif
