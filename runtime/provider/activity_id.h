/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The activity id of a thread (R196).
 *
 * A thread has room for two ids; the low bit of a count says which is in force. Setting fills the
 * other one, then raises the count, unless a signal handler has set an id meanwhile: then it fills
 * again. So a handler never sees half an id, nor leaves one behind.
 */
#ifndef ETWAS_PROVIDER_ACTIVITY_ID_H
#define ETWAS_PROVIDER_ACTIVITY_ID_H

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum {
    ETWAS_ACTIVITY_WORDS = 2
};

struct etwas_activity_ids {
    uint64_t ids[2][ETWAS_ACTIVITY_WORDS];
    uint32_t count;
};

extern _Thread_local struct etwas_activity_ids etwas_activity_ids;

/* The calling thread's id, all 0 at first. Async-signal-safe. */
static inline void etwas_activity_words(uint64_t words[ETWAS_ACTIVITY_WORDS])
{
    const struct etwas_activity_ids *own = &etwas_activity_ids;
    uint32_t count;

    do {
        count = ck_pr_load_32(&own->count);
        atomic_signal_fence(memory_order_seq_cst);
        words[0] = ck_pr_load_64(&own->ids[count % 2][0]);
        words[1] = ck_pr_load_64(&own->ids[count % 2][1]);
        atomic_signal_fence(memory_order_seq_cst);
    } while (__builtin_expect(ck_pr_load_32(&own->count) != count, 0));
}

static inline etwas_guid etwas_activity_id(void)
{
    uint64_t words[ETWAS_ACTIVITY_WORDS];
    etwas_guid id;

    etwas_activity_words(words);
    memcpy(&id, words, sizeof id);
    return id;
}

#endif
