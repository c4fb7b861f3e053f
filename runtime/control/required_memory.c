/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/lifecycle.h"

#include <etwas/etwas.h>
#include <stdio.h>
#include <string.h>

#include "platform/cancel.h"
#include "session/session.h"

/* The last start that was refused for lack of a required property. Guarded by the control lock. */
static struct {
    uint32_t requirement;
    char sentence[ETWAS_MEMORY_TEXT_BYTES];
} last_refusal;

/* Huge pages are counted only if it matters: that may take long. */
static uint32_t required_memory_not_granted(const struct etwas_memory_grant *grant,
                                            const struct etwas_memory *memory,
                                            uint32_t requirements)
{
    uint64_t huge_bytes =
        (requirements & ETWAS_MEMORY_HUGE) != 0 ? etwas_memory_huge_bytes(memory) : 0;

    return requirements & grant->asked & ~etwas_memory_granted(grant, huge_bytes);
}

uint32_t etwas_required_memory_check(const struct etwas_pool *pool, uint32_t required)
{
    char sentence[ETWAS_MEMORY_TEXT_BYTES];
    uint32_t missing = required_memory_not_granted(&pool->grant, &pool->memory, required);

    missing &= ~missing + 1; /* one of them */
    if (missing == 0) {
        return ERROR_SUCCESS;
    }
    etwas_memory_grant_explain(&pool->grant, missing, pool->memory.is_file, sentence);
    etwas_control_lock();
    last_refusal.requirement = missing;
    (void)strcpy(last_refusal.sentence, sentence);
    etwas_control_unlock();
    return missing == ETWAS_MEMORY_LOCK ? ERROR_ACCESS_DENIED : ERROR_NOT_ENOUGH_MEMORY;
}

static void explain_last(uint32_t requirement, char sentence[ETWAS_MEMORY_TEXT_BYTES])
{
    etwas_control_lock();
    if (last_refusal.requirement == requirement) {
        (void)strcpy(sentence, last_refusal.sentence);
    }
    etwas_control_unlock();
}

static void required_memory_explain(etwas_trace_handle handle, uint32_t requirement,
                                    char sentence[ETWAS_MEMORY_TEXT_BYTES])
{
    struct etwas_memory_grant grant = {0};
    struct etwas_memory memory = {0};
    struct etwas_held_session held;

    if (etwas_session_hold(handle, &held) != ERROR_SUCCESS) {
        return;
    }
    if (held.session->buffers.pool != NULL) {
        grant = held.session->buffers.pool->grant;
        memory = held.session->buffers.pool->memory;
    }
    etwas_session_release(&held);
    if (required_memory_not_granted(&grant, &memory, requirement) != 0) {
        etwas_memory_grant_explain(&grant, requirement, memory.is_file, sentence);
    }
}

size_t etwas_memory_refusal(etwas_trace_handle handle, uint32_t requirement, char *text,
                            size_t room)
{
    char sentence[ETWAS_MEMORY_TEXT_BYTES] = "";
    ETWAS_UNCANCELLED_SCOPE; /* files are read */

    if (handle == 0) {
        explain_last(requirement, sentence);
    } else {
        required_memory_explain(handle, requirement, sentence);
    }
    if (text != NULL && room != 0) {
        (void)snprintf(text, room, "%s", sentence);
    }
    return strlen(sentence);
}
