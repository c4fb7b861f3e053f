/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An emitter that drops records that no filter passes. A record with a requested hook is followed
 * by the stack of its sample: StackWalk's Stack with the stamp of the record, one for the kernel's
 * part and one for the user's, from the innermost frame outwards. If requested, the registers and
 * the stack memory of the program follow, too (etl/own_record.h). ETWAS_STACK_CUT is the outermost
 * frame of a part that was cut.
 */
#ifndef ETWAS_SYSTEM_STACK_WALK_H
#define ETWAS_SYSTEM_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/system_providers.h"
#include "system/record_filter.h"
#include "system/stream/emit.h"
#include "system/stream/sample.h"

enum {
    ETWAS_STACK_HOOK_WORDS = 65536 / 64
};

struct etwas_stack_walker {
    struct etwas_emitter emitter;
    struct etwas_emitter *next;
    const struct etwas_sample *sample; /* the sample that records are being made of; NULL: none */
    uint32_t most_frames;              /* a sample with this many frames counts as cut */
    /* The providers whose filters apply, one bit each; 0: every record passes. */
    uint32_t filtered_by;
    struct etwas_record_filter filter;
    uint64_t hooks[ETWAS_STACK_HOOK_WORDS];
    uint8_t *user_stack; /* room for one record of a program's stack; NULL: not requested */
};

void etwas_stack_walker_open(struct etwas_stack_walker *walker, struct etwas_emitter *next);

/* Allocates what the settings need. Returns false without memory; nothing changes then. */
bool etwas_stack_walker_prepare(struct etwas_stack_walker *walker,
                                const struct etwas_system_settings *settings);

/*
 * Follows the hooks of these settings from now on; etwas_stack_walker_prepare has been called for
 * them.
 */
void etwas_stack_walker_choose(struct etwas_stack_walker *walker,
                               const struct etwas_system_settings *settings);

void etwas_stack_walker_free(struct etwas_stack_walker *walker);

/* Whether records with this hook (group and type) are followed by a stack. */
static inline bool etwas_stack_walker_needs(const struct etwas_stack_walker *walker, uint16_t hook)
{
    return (walker->hooks[hook / 64] >> hook % 64 & 1) != 0;
}

#endif
