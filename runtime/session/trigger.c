/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "session/trigger.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>

#include "buffer/pool.h"
#include "clock/clock.h"
#include "etl/clock_convert.h"
#include "session/session.h"

void etwas_trigger_reset(struct etwas_trigger *trigger)
{
    ck_pr_store_32(&trigger->armed, 0);
    ck_pr_fence_store();
    ck_pr_store_64(&trigger->asked, 0);
    ck_pr_store_64(&trigger->first, 0);
    ck_pr_store_32(&trigger->is_open, 0);
    trigger->windows = 0;
    trigger->joined = 0;
    trigger->limited = 0;
    trigger->capped = 0;
    trigger->files = 0;
    trigger->failed = 0;
    trigger->bytes = 0;
    trigger->passed_on = 0;
    trigger->last_code = ERROR_SUCCESS;
}

/* Reads both clocks for each conversion, because clocks that are set change their difference. */
int64_t etwas_trigger_stamp(uint32_t from, int64_t stamp, uint32_t to)
{
    int64_t now = etwas_clock_now(to);
    etwas_etl_wide age;

    if (from == to) {
        return stamp < now ? stamp : now;
    }
    age = (etwas_etl_wide)etwas_clock_now(from) - stamp;
    if (age <= 0) {
        return now;
    }
    return etwas_etl_saturate(now - age * (etwas_etl_wide)etwas_clock_frequency(to) /
                                        (etwas_etl_wide)etwas_clock_frequency(from));
}

static void trigger_offer_stamp(uint64_t *first, int64_t stamp)
{
    uint64_t was = ck_pr_load_64(first);

    stamp = stamp != 0 ? stamp : 1;
    while ((was == 0 || stamp < (int64_t)was) &&
           !ck_pr_cas_64_value(first, was, (uint64_t)stamp, &was)) {
    }
}

/* Requests a window; `from` NULL: for now. */
static uint32_t trigger_pull(struct etwas_session_key key, const uint32_t *from, int64_t stamp)
{
    struct etwas_trigger *trigger = &etwas_sessions[key.index].trigger;
    struct etwas_pool *pool = ck_pr_load_ptr(&etwas_attachment_of(key.index)->pool);
    int error = errno;
    uint32_t clock;

    /* In a fork's child nothing is attached. The pool's bookkeeping outlives its session. */
    if (!etwas_slots_are_attached() || pool == NULL ||
        ck_pr_load_32(&trigger->armed) != key.generation) {
        return ERROR_INVALID_HANDLE;
    }
    ck_pr_fence_acquire(); /* pairs with the release of the thread that armed it */
    clock = ck_pr_load_32(&trigger->clock);
    stamp = from == NULL ? etwas_clock_now(clock) : etwas_trigger_stamp(*from, stamp, clock);
    ck_pr_fence_memory(); /* stamped before it is counted */
    ck_pr_inc_64(&trigger->asked);
    trigger_offer_stamp(&trigger->first, stamp);
    ck_pr_fence_memory(); /* either this sees that the window has ended, or its end sees `first` */
    if (ck_pr_load_32(&trigger->is_open) == 0) {
        etwas_pool_wake_flusher(pool);
    }
    errno = error;
    return ERROR_SUCCESS;
}

uint32_t etwas_trigger_pull(struct etwas_session_key key)
{
    return trigger_pull(key, NULL, 0);
}

uint32_t etwas_trigger_pull_at(struct etwas_session_key key, uint32_t clock, int64_t stamp)
{
    return trigger_pull(key, &clock, stamp);
}
