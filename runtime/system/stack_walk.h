/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records pass through here on their way, if the filters let them, and those whose hooks are asked for are followed
 * by the stack of the sample that they were made of: StackWalk's Stack, with their stamp, of the kernel's part and of the
 * user's one each, from the innermost outwards; and where they are asked for by the registers and the
 * stack of the program (etl/own_record.h). Of what goes on the outermost frame is ETWAS_STACK_CUT.
 */
#ifndef ETWAS_SYSTEM_STACK_WALK_H
#define ETWAS_SYSTEM_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "system/record_filter.h"
#include "system/settings.h"
#include "system/stream/emit.h"
#include "system/stream/sample.h"

enum {
    ETWAS_STACK_HOOK_WORDS = 65536 / 64
};

struct etwas_stack_walker {
    struct etwas_emitter emitter;
    struct etwas_emitter *next;
    const struct etwas_sample *sample; /* that records are being made of; NULL: none */
    uint32_t most_frames;              /* of a sample's; where it has so many, it goes on */
    uint32_t filtered_by;              /* providers of the filter; 0: every record passes */
    struct etwas_record_filter filter;
    uint64_t hooks[ETWAS_STACK_HOOK_WORDS];
    uint8_t *user_stack; /* room for the record of one; NULL: they are not asked for */
};

void etwas_stack_walker_open(struct etwas_stack_walker *walker, struct etwas_emitter *next);

/* Has room for what the settings ask for. False: there is no memory. */
bool etwas_stack_walker_prepare(struct etwas_stack_walker *walker,
                                const struct etwas_system_settings *settings);

/* From now on of these alone, which it was prepared for. */
void etwas_stack_walker_choose(struct etwas_stack_walker *walker,
                               const struct etwas_system_settings *settings);

void etwas_stack_walker_free(struct etwas_stack_walker *walker);

/* `hook`: group, type. */
static inline bool etwas_stack_walker_needs(const struct etwas_stack_walker *walker, uint16_t hook)
{
    return (walker->hooks[hook / 64] >> hook % 64 & 1) != 0;
}

#endif
