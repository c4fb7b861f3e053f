/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EventActivityIdControl. How a thread keeps its id is in event_record.h.
 */
#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "provider/event_record.h"

enum {
    MAKER_TIME_BITS = 42,
    MAKER_TIME_SHIFT = 17,
};

_Thread_local uint64_t etwas_activity_words[2];

static uint64_t created; /* ids in this process */
static uint64_t maker;   /* the generator of this process's ids; 0: none has been created */

/*
 * Identifies the process, and the time of its first id, because process ids are reused. The time
 * counts steps of 13 ms and wraps after two millennia. The process id is read from the system,
 * because a fork's child must differ from its parent.
 */
static uint64_t activity_find_generator(void)
{
    uint64_t process = (uint64_t)getpid();
    uint64_t known = ck_pr_load_64(&maker);

    while (known >> MAKER_TIME_BITS != process) {
        uint64_t now = (uint64_t)etwas_clock_now(ETWAS_CLOCK_KIND_SYSTEM) >> MAKER_TIME_SHIFT;
        uint64_t made = process << MAKER_TIME_BITS | (now & ((UINT64_C(1) << MAKER_TIME_BITS) - 1));

        known = ck_pr_cas_64(&maker, known, made) ? made : ck_pr_load_64(&maker);
    }
    return known;
}

static etwas_guid activity_create_id(void)
{
    const uint64_t words[2] = {ck_pr_faa_64(&created, 1) + 1, activity_find_generator()};
    etwas_guid id;

    memcpy(&id, words, sizeof id);
    return id;
}

uint32_t EventActivityIdControl(uint32_t code, etwas_guid *id)
{
    etwas_guid before;

    if (id == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    switch (code) {
    case EVENT_ACTIVITY_CTRL_GET_ID:
        *id = etwas_activity_id();
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_SET_ID:
        etwas_activity_id_set(id);
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_CREATE_ID:
        *id = activity_create_id();
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_GET_SET_ID:
        before = etwas_activity_id();
        etwas_activity_id_set(id);
        *id = before;
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_CREATE_SET_ID: {
        const etwas_guid made = activity_create_id();

        *id = etwas_activity_id();
        etwas_activity_id_set(&made);
        return ERROR_SUCCESS;
    }
    default:
        return ERROR_INVALID_PARAMETER;
    }
}
