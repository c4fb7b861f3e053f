/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a file for `etwas stat --hot`.
 */

#include "analyse/hot/hot.h"

#include "analyse/choice.h"
#include "event/event.h"
#include "event/names.h"
#include "exit.h"

#include <stdlib.h>
#include <string.h>

/* Types of PerfInfo, and the layout of their payloads. */
enum {
    INTERVAL_SET = 72,
    INTERVAL_AT_BEGIN = 73,
    INTERVAL_AT = 4,
    INTERVAL_BYTES = 8,
};

/* ---- counting -------------------------------------------------------------------------------- */

struct etwas_place etwas_hot_place(struct etwas_hot *hot, const struct etwas_hot_sample *sample,
                                   uint64_t value, bool is_return)
{
    const struct etwas_address address = {.value = value,
                                          .time = sample->stamp,
                                          .process =
                                              sample->has_process ? sample->process : UINT32_MAX,
                                          .is_return = is_return};

    return etwas_addresses_find(&hot->addresses, &address);
}

static void count_total(struct etwas_hot *hot, struct etwas_hot_function *function)
{
    if (function != NULL && function->newest != hot->samples) {
        function->newest = hot->samples;
        function->total++;
    }
}

/*
 * Counts the functions of an address. Inlining makes them several, all of which were on the
 * stack. The processor was in the innermost one.
 */
static void count_address(struct etwas_hot *hot, const struct etwas_hot_sample *sample,
                          uint64_t value, bool is_return, bool is_self)
{
    const struct etwas_place place = etwas_hot_place(hot, sample, value, is_return);

    for (uint32_t i = 0; i < etwas_place_functions(&place); i++) {
        const struct etwas_place its = etwas_place_function(&place, i);
        struct etwas_hot_function *function =
            etwas_hot_function(hot, &its, etwas_address_is_kernel(value));

        count_total(hot, function);
        if (is_self && i == 0) {
            hot->other += function == NULL;
            if (function != NULL) {
                function->self++;
            }
        }
    }
}

static void count_sample(struct etwas_hot *hot, const struct etwas_hot_sample *sample)
{
    count_address(hot, sample, sample->address, false, true);
    for (uint32_t i = 0; i < sample->frame_count; i++) {
        count_address(hot, sample, sample->frames[i], sample->is_return[i], false);
    }
}

static bool is_cut(const struct etwas_hot_sample *sample)
{
    return sample->frame_count > 0 && sample->frames[sample->frame_count - 1] == ETWAS_EVENT_CUT;
}

static void give_sample(struct etwas_hot *hot, struct etwas_hot_sample *sample)
{
    sample->is_open = false;
    sample->has_process =
        sample->has_process ||
        etwas_addresses_process(&hot->addresses, sample->thread, &sample->process);
    hot->samples++;
    hot->with_stack += sample->frame_count > 0;
    hot->cut += is_cut(sample);
    hot->give(hot, sample);
}

/* ---- records --------------------------------------------------------------------------------- */

static struct etwas_hot_sample *open_on(struct etwas_hot *hot, const EVENT_RECORD *record)
{
    struct etwas_hot_sample **sample = &hot->open[record->BufferContext.ProcessorIndex];

    if (*sample == NULL) {
        *sample = calloc(1, sizeof **sample);
        hot->out_of_memory |= *sample == NULL;
    }
    return *sample;
}

static void take_sample(struct etwas_hot *hot, const EVENT_RECORD *record, uint64_t address,
                        uint32_t thread)
{
    struct etwas_hot_sample *sample = open_on(hot, record);

    if (sample == NULL) {
        return;
    }
    if (sample->is_open) {
        give_sample(hot, sample);
    }
    sample->address = address;
    sample->thread = thread;
    if (hot->is_left_out) {
        hot->left_out++;
        return;
    }
    if (sample->thread == 0) {
        hot->idle++;
        return;
    }
    sample->is_open = true;
    sample->stamp = record->EventHeader.TimeStamp.QuadPart;
    sample->has_process = false;
    sample->frame_count = 0;
    sample->user_at = 0;
}

/*
 * Takes a part of a sample's stack: the kernel's part comes first, then the program's. An unwound
 * part of the program replaces the recorded one, unless it has fewer frames.
 */
static void take_stack(struct etwas_hot *hot, const EVENT_RECORD *record)
{
    const struct etwas_event_stack stack = etwas_addresses_stack(&hot->addresses, record);
    struct etwas_hot_sample *sample = open_on(hot, record);

    if (sample == NULL || !sample->is_open || stack.count == 0 ||
        sample->stamp != record->EventHeader.TimeStamp.QuadPart ||
        etwas_event_known_frames(&stack) < sample->frame_count - sample->user_at - is_cut(sample)) {
        return;
    }
    sample->has_process = true;
    sample->process = stack.process;
    if (!etwas_address_is_kernel(etwas_event_frame(&stack, 0))) {
        sample->frame_count = sample->user_at;
    }
    for (uint32_t i = 0; i < stack.count && sample->frame_count < ETWAS_HOT_FRAMES; i++) {
        sample->frames[sample->frame_count] = etwas_event_frame(&stack, i);
        sample->is_return[sample->frame_count++] = i >= stack.first_return;
    }
    if (etwas_address_is_kernel(etwas_event_frame(&stack, 0))) {
        sample->user_at = sample->frame_count;
    }
}

static bool is_performance(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 &&
           memcmp(&record->EventHeader.ProviderId, &etwas_names_performance_class,
                  sizeof etwas_names_performance_class) == 0;
}

static void take_performance(struct etwas_hot *hot, const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    uint64_t address;
    uint32_t thread;
    uint32_t interval;

    if (etwas_kernel_sample(record, &address, &thread)) {
        take_sample(hot, record, address, thread);
    } else if ((type == INTERVAL_SET || type == INTERVAL_AT_BEGIN) &&
               record->UserDataLength >= INTERVAL_BYTES) {
        memcpy(&interval, (const uint8_t *)record->UserData + INTERVAL_AT, sizeof interval);
        hot->interval_100ns = interval;
    }
}

void etwas_hot_add_record(struct etwas_hot *hot, const EVENT_RECORD *record)
{
    if (is_performance(record)) {
        take_performance(hot, record);
    } else if (etwas_event_is_stack_walk(record) || etwas_event_is_user_stack(record)) {
        take_stack(hot, record);
    }
}

void etwas_hot_finish(struct etwas_hot *hot)
{
    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        if (hot->open[i] != NULL && hot->open[i]->is_open) {
            give_sample(hot, hot->open[i]);
        }
    }
}

/* The thread is read from the sample's payload, since the header does not have it. */
static bool is_left_out(struct etwas_hot *hot, const struct etwas_input *input,
                        const EVENT_RECORD *record)
{
    uint32_t process = ETWAS_EVENT_UNKNOWN_ID;
    uint64_t address;
    uint32_t thread;

    if (!is_performance(record) || !etwas_kernel_sample(record, &address, &thread)) {
        return false;
    }
    (void)etwas_addresses_process(&hot->addresses, thread, &process);
    return !etwas_choice_has(hot->choice, input, record, process, thread);
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_hot *hot = input->context;

    if (hot->counts && hot->choice != NULL) {
        etwas_choice_add_record(hot->choice, input, record);
        hot->is_left_out = is_left_out(hot, input, record);
    }
    if (hot->counts) {
        etwas_hot_add_record(hot, record);
    } else {
        etwas_addresses_add_record(&hot->addresses, record);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads the file for the second time, and passes on the samples that are still open. */
static int read_again(struct etwas_hot *hot, struct etwas_input *input, const char *path,
                      uint32_t number, const struct etwas_input_callbacks *callbacks)
{
    int result;

    hot->counts = true;
    result = etwas_input_open(input, path, number, callbacks, hot);
    if (result == ETWAS_EXIT_DONE) {
        result = etwas_input_process_one(input);
    }
    etwas_hot_finish(hot);
    return result;
}

bool etwas_hot_open(struct etwas_hot *hot,
                    void (*give_to)(struct etwas_hot *hot, const struct etwas_hot_sample *sample))
{
    *hot = (struct etwas_hot){.give = give_to};
    hot->open = calloc(ETWAS_SCHEDULE_PROCESSORS, sizeof(struct etwas_hot_sample *));
    return hot->open != NULL && etwas_addresses_open(&hot->addresses);
}

bool etwas_hot_is_out_of_memory(const struct etwas_hot *hot)
{
    return hot->out_of_memory || !etwas_addresses_are_whole(&hot->addresses);
}

int etwas_hot_read(struct etwas_hot *hot, struct etwas_input *input, const char *path,
                   uint32_t number, struct etwas_choice *choice)
{
    static const struct etwas_input_callbacks callbacks = {.record = on_record,
                                                           .time = ETWAS_INPUT_RAW};
    bool is_whole = etwas_hot_open(hot, count_sample);
    int result = etwas_input_open(input, path, number, &callbacks, hot);

    hot->choice = choice;
    if (result == ETWAS_EXIT_DONE && is_whole) {
        (void)etwas_input_process_one(input);
        result = read_again(hot, input, path, number, &callbacks);
        etwas_hot_sort(hot);
    } else if (result == ETWAS_EXIT_DONE) {
        CloseTrace(input->trace);
    }
    hot->out_of_memory |= !is_whole;
    return result;
}
