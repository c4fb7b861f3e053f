/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stack_walk.h"

#include <stddef.h>
#include <string.h>

#include "etl/layout.h"
#include "platform/processor.h"

enum {
    GROUP_STACK_WALK = 0x18,
    TYPE_STACK = 32,
    CLASS_VERSION = 2,
    FRAMES = 192,
    HOOK_GROUP_SHIFT = 8,
};

struct stack_record {
    struct etwas_etl_perfinfo_header header;
    int64_t event_stamp;
    uint32_t process_id;
    uint32_t thread_id;
    uint64_t frames[FRAMES];
};
_Static_assert(sizeof(struct stack_record) == 16 + 16 + 8 * FRAMES, "Stack, version 2");

static void emit_part(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp,
                      struct stack_record *record, uint32_t count)
{
    struct etwas_stamped_record stamped = {
        .bytes = record,
        .stamp_at = offsetof(struct stack_record, header) +
                    offsetof(struct etwas_etl_perfinfo_header, time_stamp),
        .stamp = stamp};

    if (count == 0) {
        return;
    }
    record->header = (struct etwas_etl_perfinfo_header){
        .version = CLASS_VERSION,
        .header_type = ETWAS_ETL_PERFINFO64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)(sizeof *record - sizeof record->frames + count * sizeof *record->frames),
        .type = TYPE_STACK,
        .group = GROUP_STACK_WALK,
    };
    record->event_stamp = stamp;
    record->process_id = walker->sample->origin.process_id;
    record->thread_id = walker->sample->origin.thread_id;
    stamped.size = record->header.size;
    walker->next->take(walker->next, slot, &stamped);
}

/* Where another part begins stands a PERF_CONTEXT_* among the frames. */
static void emit_stack(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp)
{
    const struct etwas_sample *sample = walker->sample;
    struct stack_record record;
    uint32_t count = 0;

    for (uint64_t index = 0; index < sample->frame_count; index++) {
        uint64_t frame;

        memcpy(&frame, sample->frames + index * sizeof frame, sizeof frame);
        if (frame >= (uint64_t)PERF_CONTEXT_MAX) {
            emit_part(walker, slot, stamp, &record, count);
            count = 0;
        } else if (count < FRAMES) {
            record.frames[count++] = frame;
        }
    }
    emit_part(walker, slot, stamp, &record, count);
}

static int64_t stamp_of(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return etwas_emit_stamp(((const struct etwas_stack_walker *)(const void *)emitter)->next,
                            time_ns);
}

static void take(struct etwas_emitter *emitter, uint32_t slot,
                 const struct etwas_stamped_record *record)
{
    const struct etwas_stack_walker *walker = (const void *)emitter;
    struct etwas_etl_perfinfo_header header; /* SYSTEM has group and type at the same place */

    walker->next->take(walker->next, slot, record);
    if (walker->sample == NULL || walker->sample->frame_count == 0 || slot == etwas_slot_count) {
        return;
    }
    memcpy(&header, record->bytes, sizeof header);
    if (etwas_stack_walker_wants(walker,
                                 (uint16_t)(header.group << HOOK_GROUP_SHIFT | header.type))) {
        emit_stack(walker, slot, record->stamp);
    }
}

void etwas_stack_walker_open(struct etwas_stack_walker *walker, struct etwas_emitter *next)
{
    *walker =
        (struct etwas_stack_walker){.emitter = {.take = take, .stamp = stamp_of}, .next = next};
}

void etwas_stack_walker_choose(struct etwas_stack_walker *walker,
                               const struct etwas_system_settings *settings)
{
    memset(walker->hooks, 0, sizeof walker->hooks);
    for (uint32_t index = 0; index < settings->stack_count; index++) {
        uint16_t hook = settings->stack_hooks[index];

        walker->hooks[hook / 64] |= 1ULL << hook % 64;
    }
}
