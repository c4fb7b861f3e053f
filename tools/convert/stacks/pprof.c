/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `pprof`: a message Profile of pprof's profile.proto, not compressed, which its tools read too. A
 * location is a function. Samples have their process and thread as labels.
 */

#include "convert/protobuf.h"
#include "convert/stacks/stacks.h"

#include "commands.h"

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_NUMBER = 3,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

/* Numbers of strings: some fixed ones, names and units of values, then two for each function. */
enum {
    STRING_NONE,
    STRING_PROCESS,
    STRING_THREAD,
    STRING_OTHERS,
    STRING_VALUES,
    STRING_FUNCTIONS = STRING_VALUES + 2 * ETWAS_STACKS_VALUES,
};

struct profile {
    struct etwas_output *output;
    const struct etwas_stacks *stacks;
    struct etwas_bytes message; /* that is being put together */
    struct etwas_bytes inner;   /* inside of that */
    struct etwas_bytes head;
    bool out_of_memory;
};

/* A field of the profile. */
static void put(struct profile *profile, uint32_t field, const void *data, size_t count)
{
    profile->head.used = 0;
    etwas_protobuf_put_bytes(&profile->head, field, data, count);
    profile->out_of_memory |= profile->head.failed;
    for (size_t done = 0; done < profile->head.used; done += ETWAS_OUTPUT_BYTES) {
        size_t left = profile->head.used - done;

        etwas_output_bytes(profile->output, profile->head.data + done,
                           left < ETWAS_OUTPUT_BYTES ? left : ETWAS_OUTPUT_BYTES);
    }
}

static void put_message(struct profile *profile, uint32_t field)
{
    profile->out_of_memory |= profile->message.failed || profile->inner.failed;
    put(profile, field, profile->message.data, profile->message.used);
    profile->message.used = 0;
}

/* The inner message becomes a field of the other one. */
static void close_inner(struct profile *profile, uint32_t field)
{
    etwas_protobuf_put_bytes(&profile->message, field, profile->inner.data, profile->inner.used);
    profile->inner.used = 0;
}

static void put_number(struct profile *profile, uint32_t field, uint64_t number)
{
    etwas_protobuf_put_number(&profile->message, field, number);
    etwas_output_bytes(profile->output, profile->message.data, profile->message.used);
    profile->message.used = 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Strings are UTF-8, whatever the file had. */
static void put_string(struct profile *profile, const char *text)
{
    static struct etwas_output plain;

    plain.used_bytes = 0;
    etwas_text_utf8(&plain, ETWAS_TEXT_PLAIN, text, strlen(text));
    put(profile, PROFILE_STRING, plain.bytes, plain.used_bytes);
}

static void put_strings(struct profile *profile)
{
    static char room[ETWAS_OUTPUT_BYTES / 8];
    const struct etwas_hot *functions = &profile->stacks->functions;
    const struct etwas_stacks_value *values;
    uint32_t count = etwas_stacks_values(profile->stacks, &values);

    put_string(profile, "");
    put_string(profile, "process");
    put_string(profile, "thread");
    put_string(profile, "[others]");
    for (uint32_t i = 0; i < ETWAS_STACKS_VALUES; i++) {
        put_string(profile, i < count ? values[i].name : "");
        put_string(profile, i < count ? values[i].unit : "");
    }
    for (uint32_t i = 0; i < functions->function_count; i++) {
        put_string(profile, etwas_stacks_function(profile->stacks, i, room, sizeof room));
        put_string(profile,
                   functions->functions[i].image != NULL ? functions->functions[i].image : "");
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Ids are a function's number and 1; behind the last is what is not told apart. */
static uint32_t function_id(const struct etwas_stacks *stacks, uint32_t number)
{
    return 1 + (number != UINT32_MAX ? number : stacks->functions.function_count);
}

static void put_function(struct profile *profile, uint32_t number)
{
    uint32_t id = function_id(profile->stacks, number);
    uint32_t name = number != UINT32_MAX ? STRING_FUNCTIONS + 2 * number : STRING_OTHERS;

    etwas_protobuf_put_number(&profile->message, FUNCTION_ID, id);
    etwas_protobuf_put_number(&profile->message, FUNCTION_NAME, name);
    etwas_protobuf_put_number(&profile->message, FUNCTION_SYSTEM_NAME, name);
    if (number != UINT32_MAX) {
        etwas_protobuf_put_number(&profile->message, FUNCTION_FILE, name + 1);
    }
    put_message(profile, PROFILE_FUNCTION);
    etwas_protobuf_put_number(&profile->message, LOCATION_ID, id);
    etwas_protobuf_put_number(&profile->inner, LINE_FUNCTION, id);
    close_inner(profile, LOCATION_LINE);
    put_message(profile, PROFILE_LOCATION);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void put_types(struct profile *profile)
{
    const struct etwas_stacks_value *values;
    uint32_t count = etwas_stacks_values(profile->stacks, &values);

    for (uint32_t i = 0; i < count; i++) {
        etwas_protobuf_put_number(&profile->message, TYPE_NAME, STRING_VALUES + 2 * i);
        etwas_protobuf_put_number(&profile->message, TYPE_UNIT, STRING_VALUES + 2 * i + 1);
        put_message(profile, PROFILE_SAMPLE_TYPE);
    }
    put_number(profile, PROFILE_DEFAULT_TYPE,
               STRING_VALUES + 2 * (uint64_t)etwas_stacks_weight(profile->stacks));
}

static void put_label(struct profile *profile, uint32_t key, uint32_t id)
{
    if (id != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_protobuf_put_number(&profile->inner, LABEL_KEY, key);
        etwas_protobuf_put_number(&profile->inner, LABEL_NUMBER, id);
        close_inner(profile, SAMPLE_LABEL);
    }
}

/* Innermost first. */
static void put_sample(struct profile *profile, const struct etwas_stack *stack, uint32_t values)
{
    const struct etwas_stacks *stacks = profile->stacks;

    for (uint32_t i = stack->frame_count; i > 0; i--) {
        etwas_protobuf_put_varint(&profile->inner,
                                  function_id(stacks, stacks->frames[stack->frames_at + i - 1]));
    }
    close_inner(profile, SAMPLE_LOCATIONS);
    for (uint32_t i = 0; i < values; i++) {
        etwas_protobuf_put_varint(&profile->inner, stack->values[i]);
    }
    close_inner(profile, SAMPLE_VALUES);
    put_label(profile, STRING_PROCESS, stack->process);
    put_label(profile, STRING_THREAD, stack->thread);
    put_message(profile, PROFILE_SAMPLE);
}

static void put_profile(struct profile *profile, int64_t start_ns)
{
    const struct etwas_stacks *stacks = profile->stacks;
    const struct etwas_stacks_value *values;
    uint32_t count = etwas_stacks_values(stacks, &values);

    put_strings(profile);
    put_types(profile);
    put_number(profile, PROFILE_TIME_NS, (uint64_t)start_ns);
    for (uint32_t i = 0; i < stacks->functions.function_count; i++) {
        put_function(profile, i);
    }
    put_function(profile, UINT32_MAX);
    for (uint32_t i = 0; i < stacks->count && !profile->out_of_memory; i++) {
        if (stacks->stacks[i].kind == stacks->kind) {
            put_sample(profile, &stacks->stacks[i], count);
        }
    }
}

static int run(struct etwas_convert *convert)
{
    static struct etwas_stacks stacks;
    struct profile profile = {.output = convert->output, .stacks = &stacks};
    int result = etwas_stacks_gather(convert, &stacks);

    if (!convert->out_of_memory && convert->run.count > 0) {
        put_profile(&profile, etwas_input_start_ns(&convert->run.inputs[0]));
        convert->out_of_memory = profile.out_of_memory;
    }
    etwas_bytes_free(&profile.message);
    etwas_bytes_free(&profile.inner);
    etwas_bytes_free(&profile.head);
    etwas_stacks_clear(&stacks);
    return result;
}

const struct etwas_convert_target etwas_convert_pprof = {
    .name = "pprof", .is_binary = true, .run = run};
