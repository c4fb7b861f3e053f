/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * CreateTraceInstanceId: the numbers of instances. Each processor allocates ids from a block of its
 * own, so that no counter is contended. A cell holds the next id and how many are left.
 * Async-signal-safe; lock-free. It is one function, because each cache line of code costs time in a
 * program whose caches hold other code.
 */
#include "provider/trace_event.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "platform/processor.h"
#include "provider/event_class.h"

enum {
    BLOCK_IDS = 1024,
    CELLS = 64, /* processors above this share; a shared cell is only slower */
};

/* High half: ids left in the block; low half: the next one. */
struct id_block {
    uint64_t word;
} __attribute__((aligned(64)));

static struct id_block cells[CELLS];
static uint32_t next_block = 1;

#ifdef ETWAS_TESTPOINTS
void etwas_instance_id_restart(uint32_t first)
{
    memset(cells, 0, sizeof cells);
    ck_pr_store_32(&next_block, first);
}
#endif

/* Takes one id from the cell. Blocks may run over the end of the numbers; the id 0 is skipped. */
static uint32_t instance_id_take_block(struct id_block *cell)
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

static uint32_t instance_id_next(void)
{
    struct id_block *cell = &cells[etwas_processor_current() % CELLS];
    uint32_t id;

    do {
        id = instance_id_take_block(cell);
    } while (id == 0);
    return id;
}

/* etwas_class_look_up does not find a counted class. */
static bool instance_class_is_registered(etwas_handle class_handle)
{
    etwas_pair words;
    etwas_guid guid;

    return etwas_class_look_up(class_handle, &words) || etwas_class_guid(class_handle, &guid);
}

uint32_t CreateTraceInstanceId(etwas_handle class_handle, EVENT_INSTANCE_INFO *instance)
{
    if (instance == NULL || !instance_class_is_registered(class_handle)) {
        return ERROR_INVALID_PARAMETER;
    }
    instance->RegHandle = class_handle;
    instance->InstanceId = instance_id_next();
    return ERROR_SUCCESS;
}
