/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/instance_id.h"

#include <ck_pr.h>
#include <string.h>

#include "platform/processor.h"

enum {
    BLOCK_IDS = 1024,
    CELLS = 64, /* processors above this share; a shared cell is only slower */
};

/* High half: ids left in the block; low half: the next one. */
struct cell {
    uint64_t word;
} __attribute__((aligned(64)));

static struct cell cells[CELLS];
static uint32_t next_block = 1;

#ifdef ETWAS_TESTPOINTS
void etwas_instance_id_restart(uint32_t first)
{
    memset(cells, 0, sizeof cells);
    ck_pr_store_32(&next_block, first);
}
#endif

/* One id from the cell. Blocks may run over the end of the numbers; the id 0 is passed over. */
static uint32_t take(struct cell *cell)
{
    uint64_t word = ck_pr_load_64(&cell->word);

    for (;;) {
        uint32_t left = (uint32_t)(word >> 32);
        uint32_t id = (uint32_t)word;
        uint64_t next;

        if (left == 0) {
            id = ck_pr_faa_32(&next_block, BLOCK_IDS);
            left = BLOCK_IDS;
        }
        next = (uint64_t)(left - 1) << 32 | (uint32_t)(id + 1);
        /* Relaxed: an id is a number and publishes nothing. A lost race wastes at most a block. */
        if (ck_pr_cas_64_value(&cell->word, word, next, &word)) {
            return id;
        }
    }
}

uint32_t etwas_instance_id_next(void)
{
    struct cell *cell = &cells[etwas_processor_current() % CELLS];
    uint32_t id;

    do {
        id = take(cell);
    } while (id == 0);
    return id;
}
