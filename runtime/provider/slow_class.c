/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/event_class.h"

#include <ck_pr.h>
#include <etwas/etwas.h>

#include "clock/clock.h"
#include "session/trigger.h"

enum {
    CLOCK_BITS = 2
};

struct slow_class_limit {
    uint64_t class_handle; /* a later class in this entry has another */
    uint64_t session;
    uint64_t limit; /* ticks above the clock; 0: not marked */
};

static struct slow_class_limit marks[ETWAS_CLASSES];

static struct slow_class_limit *slow_class_limit_of(etwas_handle class_handle)
{
    uint32_t index = (uint32_t)((uintptr_t)class_handle & ((1u << ETWAS_CLASS_INDEX_BITS) - 1)) - 1;

    return index < ETWAS_CLASSES ? &marks[index] : NULL;
}

bool etwas_slow_class_set_limit(etwas_handle class_handle, etwas_trace_handle session,
                                uint64_t ticks, uint32_t clock)
{
    struct slow_class_limit *entry = slow_class_limit_of(class_handle);
    const uint64_t most = UINT64_MAX >> CLOCK_BITS;
    etwas_guid guid;

    if (entry == NULL || !etwas_class_guid(class_handle, &guid)) {
        return false;
    }
    ck_pr_store_64(&entry->limit, 0);
    ck_pr_fence_store();
    ck_pr_store_64(&entry->class_handle, (uint64_t)(uintptr_t)class_handle);
    ck_pr_store_64(&entry->session, session);
    ck_pr_fence_store();
    if (ticks != 0) {
        ck_pr_store_64(&entry->limit, (ticks < most ? ticks : most) << CLOCK_BITS | clock);
    }
    return true;
}

bool etwas_trigger_if_slow(etwas_handle class_handle, int64_t start)
{
    const struct slow_class_limit *entry = slow_class_limit_of(class_handle);
    struct etwas_session_key key;
    uint64_t handle;
    uint64_t session;
    uint64_t limit;

    if (entry == NULL) {
        return false;
    }
    limit = ck_pr_load_64(&entry->limit);
    if (limit == 0) {
        return false;
    }
    ck_pr_fence_load();
    handle = ck_pr_load_64(&entry->class_handle);
    session = ck_pr_load_64(&entry->session);
    ck_pr_fence_load();
    if (ck_pr_load_64(&entry->limit) != limit || handle != (uint64_t)(uintptr_t)class_handle ||
        etwas_clock_now((uint32_t)limit & ((1u << CLOCK_BITS) - 1)) - start <=
            (int64_t)(limit >> CLOCK_BITS)) {
        return false;
    }
    return etwas_session_key_of(session, &key) && etwas_trigger_pull(key) == ERROR_SUCCESS;
}
