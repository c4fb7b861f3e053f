/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stack_walk.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/stack.h"
#include "system/keywords.h"
#include "system/record_filter.h"
#include "system/stream/event_group.h"
#include "system/stream/kernel_record.h"
#include "system/stream/pseudo_file.h"

enum {
    FRAMES = 192,
    LEAST_CODE = 4096, /* no process has code below this address */
    HOOK_GROUP_SHIFT = 8,
};

ETWAS_KERNEL_RECORD(stack_head, etwas_etl_perfinfo_header, STACK);

struct stack_record {
    struct stack_head head;
    uint64_t frames[FRAMES];
};
_Static_assert(sizeof(struct stack_record) == sizeof(struct stack_head) + 8 * FRAMES, "no padding");

static void emit_part(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp,
                      struct stack_record *record, uint32_t count)
{
    struct etwas_stamped_record stamped = {
        .bytes = record,
        .size = (uint32_t)(sizeof record->head + count * sizeof *record->frames),
        .stamp_at = offsetof(struct etwas_etl_perfinfo_header, time_stamp),
        .stamp = stamp};

    if (count == 0) {
        return;
    }
    record->head = (struct stack_head){
        .header = {ETWAS_HEADER_OF(STACK, ETWAS_STACK, record->head)},
        .EventTimeStamp = stamp,
        .StackProcess = walker->sample->origin.process_id,
        .StackThread = walker->sample->origin.thread_id,
    };
    record->head.header.size = (uint16_t)stamped.size;
    walker->next->receive(walker->next, slot, &stamped);
}

/* Emits a part of a stack. If it was cut, its outermost frame becomes ETWAS_STACK_CUT. */
static void end_part(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp,
                     struct stack_record *record, uint32_t count, bool is_cut)
{
    if (count != 0 && is_cut) {
        count += count < FRAMES;
        record->frames[count - 1] = ETWAS_STACK_CUT;
    }
    emit_part(walker, slot, stamp, record, count);
}

/*
 * A PERF_CONTEXT_* among the frames begins another part. When the kernel has delivered the most
 * frames that it may, it does not report whether there are more. A record has room for FRAMES. A
 * caller at an address without code means that a function has no frame pointer; the true caller is
 * not known.
 */
static void emit_stack(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp)
{
    const struct etwas_sample *sample = walker->sample;
    struct stack_record record;
    uint32_t count = 0;
    uint32_t all = 0;
    bool is_cut = false;
    bool is_lost = false;

    for (uint64_t index = 0; index < sample->frame_count; index++) {
        uint64_t frame;

        memcpy(&frame, sample->frames + index * sizeof frame, sizeof frame);
        if (frame >= (uint64_t)PERF_CONTEXT_MAX) {
            end_part(walker, slot, stamp, &record, count, is_cut);
            count = 0;
            is_cut = false;
            is_lost = false;
        } else {
            all++;
            is_lost = is_lost || (count != 0 && frame < LEAST_CODE);
            is_cut = is_lost || count == FRAMES;
            if (!is_cut) {
                record.frames[count++] = frame;
            }
        }
    }
    end_part(walker, slot, stamp, &record, count, is_cut || all >= walker->most_frames);
}

/* ---- the program's stack and registers ------------------------------------------------------- */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

struct user_stack_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_user_stack stack;
    uint8_t bytes[8 * 64 + ETWAS_USER_STACK_MOST_BYTES];
};

static void emit_user_stack(const struct etwas_stack_walker *walker, uint32_t slot, int64_t stamp)
{
    const size_t registers = 8 * (size_t)__builtin_popcountll(ETWAS_SAMPLE_REGISTERS);
    const struct etwas_sample *sample = walker->sample;
    struct user_stack_record *record = (void *)walker->user_stack;
    struct etwas_stamped_record stamped = {.bytes = record,
                                           .stamp_at =
                                               offsetof(struct etwas_etl_full_header, time_stamp),
                                           .stamp = stamp};

    if (sample->stack_bytes > ETWAS_USER_STACK_MOST_BYTES) {
        return;
    }
    stamped.size =
        (uint32_t)(offsetof(struct user_stack_record, bytes) + registers + sample->stack_bytes);
    record->header = (struct etwas_etl_full_header){.size = (uint16_t)stamped.size,
                                                    .header_type = ETWAS_ETL_FULL_HEADER64,
                                                    .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                                    .type = ETWAS_ETL_USER_STACK_TYPE,
                                                    .version = ETWAS_ETL_USER_STACK_VERSION,
                                                    .thread_id = sample->origin.thread_id,
                                                    .process_id = sample->origin.process_id,
                                                    .guid = etwas_etl_own_class};
    record->stack = (struct etwas_etl_user_stack){.version = ETWAS_ETL_USER_STACK_VERSION,
                                                  .machine = MACHINE,
                                                  .process_id = sample->origin.process_id,
                                                  .thread_id = sample->origin.thread_id,
                                                  .event_stamp = stamp,
                                                  .mask = ETWAS_SAMPLE_REGISTERS};
    memcpy(record->bytes, sample->registers, registers);
    if (sample->stack_bytes != 0) {
        memcpy(record->bytes + registers, sample->stack, sample->stack_bytes);
    }
    walker->next->receive(walker->next, slot, &stamped);
}

/* ---- records --------------------------------------------------------------------------------- */

static int64_t stack_walk_stamp_of(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return etwas_emit_stamp(((const struct etwas_stack_walker *)(const void *)emitter)->next,
                            time_ns);
}

static void emit_with_stack(struct etwas_emitter *emitter, uint32_t slot,
                            const struct etwas_stamped_record *record)
{
    struct etwas_stack_walker *walker = (void *)emitter;
    struct etwas_etl_perfinfo_header header; /* SYSTEM has group and type at the same place */
    struct etwas_stamped_record event = *record;
    int64_t stamp = record->stamp;

    if (walker->filtered_by != 0 &&
        !etwas_record_filter_passes(&walker->filter, walker->filtered_by, walker->sample,
                                    record->bytes, slot == etwas_slot_count)) {
        return;
    }
    event.recorded_stamp = &stamp;
    walker->next->receive(walker->next, slot, &event);
    if (walker->sample == NULL || walker->sample->frame_count == 0 || slot == etwas_slot_count) {
        return;
    }
    memcpy(&header, record->bytes, sizeof header);
    if (etwas_stack_walker_needs(walker,
                                 (uint16_t)(header.group << HOOK_GROUP_SHIFT | header.type))) {
        emit_stack(walker, slot, stamp);
        if (walker->sample->registers != NULL && walker->user_stack != NULL) {
            emit_user_stack(walker, slot, stamp);
        }
    }
}

/* The most frames of a stack that the kernel delivers. */
static uint32_t most_frames(void)
{
    char text[16] = "";
    unsigned long most = 0;

    if (etwas_pseudo_file_read(open("/proc/sys/kernel/perf_event_max_stack", O_RDONLY | O_CLOEXEC),
                               text, sizeof text - 1) > 0) {
        most = strtoul(text, NULL, 10);
    }
    return most != 0 && most <= UINT32_MAX ? (uint32_t)most : PERF_MAX_STACK_DEPTH;
}

void etwas_stack_walker_open(struct etwas_stack_walker *walker, struct etwas_emitter *next)
{
    *walker = (struct etwas_stack_walker){
        .emitter = {.receive = emit_with_stack, .stamp = stack_walk_stamp_of},
        .next = next,
        .most_frames = most_frames()};
}

static void choose_hook(struct etwas_stack_walker *walker, uint16_t hook)
{
    walker->hooks[hook / 64] |= 1ULL << hook % 64;
}

static void choose_source(struct etwas_stack_walker *walker,
                          const struct etwas_event_source *source,
                          const struct etwas_id_filter *filter)
{
    for (uint32_t index = 0; index < ETWAS_SOURCE_HOOKS; index++) {
        if (source->hooks[index] != 0 && etwas_hook_passes(filter, source->hooks[index])) {
            choose_hook(walker, source->hooks[index]);
        }
    }
}

/* Chooses the hooks of what a system provider requests with stacks. */
static void choose_provider(struct etwas_stack_walker *walker,
                            const struct etwas_system_settings *settings, uint32_t provider)
{
    uint64_t requested = etwas_system_provider_requested(settings, provider);

    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        const struct etwas_event_group *group = etwas_event_groups[number];

        for (uint32_t index = 0; (group->flags & requested) != 0 && index < group->source_count;
             index++) {
            choose_source(walker, &group->sources[index], &settings->providers[provider].stacks);
        }
    }
}

void etwas_stack_walker_choose(struct etwas_stack_walker *walker,
                               const struct etwas_system_settings *settings)
{
    memset(walker->hooks, 0, sizeof walker->hooks);
    for (uint32_t index = 0; index < settings->stack_count; index++) {
        choose_hook(walker, settings->stack_hooks[index]);
    }
    for (uint32_t provider = 0; provider < ETWAS_SYSTEM_PROVIDERS; provider++) {
        if (settings->providers[provider].has_stacks) {
            choose_provider(walker, settings, provider);
        }
    }
}

bool etwas_stack_walker_prepare(struct etwas_stack_walker *walker,
                                const struct etwas_system_settings *settings)
{
    if (settings->user_stack_bytes != 0 && walker->user_stack == NULL) {
        walker->user_stack = calloc(1, sizeof(struct user_stack_record));
    }
    return settings->user_stack_bytes == 0 || walker->user_stack != NULL;
}

void etwas_stack_walker_free(struct etwas_stack_walker *walker)
{
    etwas_record_filter_free(&walker->filter);
    free(walker->user_stack);
    walker->user_stack = NULL;
}
