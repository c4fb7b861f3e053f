/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/processors.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "buffer/publish.h"
#include "buffer/retention.h"
#include "support/start.h"

enum {
    GATE = 1,
    MARKER = 0x40000000, /* nobody walks over these records */
    LARGEST_RECORD = 65528,
};

uint32_t __wrap_etwas_processor_count(void);

uint32_t __wrap_etwas_processor_count(void)
{
    return PROCESSORS;
}

struct etwas_pool *processors_open(uint32_t session, uint32_t buffer_bytes, uint32_t buffers)
{
    struct etwas_pool *pool;

    assert_true(etwas_slots_prepare());
    pool = etwas_pool_create(&(struct etwas_pool_options){
        .session = session,
        .buffer_bytes = buffer_bytes,
        .minimum_buffers = buffers,
        .maximum_buffers = buffers,
        .slots = PROCESSORS,
        .buffering = true,
    });
    assert_non_null(pool);
    for (uint32_t index = 0; index < PROCESSORS; index++) {
        struct etwas_slot *slot = etwas_pool_slot(pool, index);

        etwas_pool_set_slot_local(pool, index, 0);
        slot->newest = 0;
        slot->word = etwas_word_empty(slot->word);
        slot->gate = GATE;
    }
    return pool;
}

static const struct etwas_attachment *attachment_of(const struct etwas_pool *pool)
{
    uint32_t session = 0;

    while (etwas_attachment_of(session)->pool != pool) {
        session++;
    }
    return etwas_attachment_of(session);
}

void processors_log(const struct etwas_pool *pool, uint32_t processor, int64_t stamp,
                    uint32_t bytes)
{
    static uint32_t record[LARGEST_RECORD / sizeof(uint32_t)] = {MARKER};
    const struct etwas_stamped_record stamped = {
        .bytes = record, .size = bytes, .stamp_at = 8, .stamp = stamp};

    assert_int_equal(etwas_publish_stamped(attachment_of(pool), processor, GATE, &stamped),
                     ERROR_SUCCESS);
}

int64_t processors_lost(const struct etwas_pool *pool, uint32_t processor)
{
    int64_t since;

    return etwas_retention_of(pool, processor, &since) ? since : 0;
}

uint32_t processors_held(const struct etwas_pool *pool, uint32_t processor)
{
    uint32_t held = 0;

    for (uint32_t buffer = 0; buffer < pool->words->allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        held +=
            etwas_owner_state(owner) != ETWAS_OWNER_FREE && etwas_owner_slot(owner) == processor;
    }
    return held;
}

void processors_close(struct etwas_pool *pool)
{
    for (uint32_t index = 0; index < PROCESSORS; index++) {
        etwas_pool_slot(pool, index)->gate = 0;
    }
    etwas_pool_destroy(pool);
}
