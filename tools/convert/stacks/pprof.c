/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `pprof`: a message Profile of pprof's profile.proto. It is not compressed, which
 * pprof's tools accept. A location is a function. Samples have their process and thread as labels.
 */

#include "convert/stacks/stacks.h"
#include "convert/wire.h"

#include "exit.h"

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
    struct etwas_wire wire;    /* a field of the profile being built */
    struct etwas_output plain; /* a string being built */
};

/* Moves the built field to the output. */
static void write_out(struct profile *profile)
{
    etwas_output_bytes(profile->output, profile->wire.bytes, profile->wire.used);
    etwas_wire_clear(&profile->wire);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Writes a string as valid UTF-8, whatever the file has. */
static void put_string(struct profile *profile, const char *text)
{
    struct etwas_output *plain = etwas_output_anew(&profile->plain);

    etwas_text_utf8(plain, ETWAS_TEXT_PLAIN, text, strnlen(text, ETWAS_STACKS_NAME_BYTES));
    etwas_wire_bytes(&profile->wire, PROFILE_STRING, plain->bytes, plain->used_bytes);
    write_out(profile);
}

static void put_strings(struct profile *profile)
{
    char room[ETWAS_STACKS_NAME_BYTES];
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

/*
 * Returns a function's id: its number plus 1. The id after the last one is for functions beyond the
 * limits.
 */
static uint32_t function_id(const struct etwas_stacks *stacks, uint32_t number)
{
    return 1 + (number != UINT32_MAX ? number : stacks->functions.function_count);
}

static void put_function(struct profile *profile, uint32_t number)
{
    uint32_t id = function_id(profile->stacks, number);
    uint32_t name = number != UINT32_MAX ? STRING_FUNCTIONS + 2 * number : STRING_OTHERS;
    size_t message = etwas_wire_begin(&profile->wire, PROFILE_FUNCTION);
    size_t line;

    etwas_wire_number(&profile->wire, FUNCTION_ID, id);
    etwas_wire_number(&profile->wire, FUNCTION_NAME, name);
    etwas_wire_number(&profile->wire, FUNCTION_SYSTEM_NAME, name);
    if (number != UINT32_MAX) {
        etwas_wire_number(&profile->wire, FUNCTION_FILE, name + 1);
    }
    etwas_wire_end(&profile->wire, message);
    message = etwas_wire_begin(&profile->wire, PROFILE_LOCATION);
    etwas_wire_number(&profile->wire, LOCATION_ID, id);
    line = etwas_wire_begin(&profile->wire, LOCATION_LINE);
    etwas_wire_number(&profile->wire, LINE_FUNCTION, id);
    etwas_wire_end(&profile->wire, line);
    etwas_wire_end(&profile->wire, message);
    write_out(profile);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void put_types(struct profile *profile)
{
    const struct etwas_stacks_value *values;
    uint32_t count = etwas_stacks_values(profile->stacks, &values);

    for (uint32_t i = 0; i < count; i++) {
        size_t message = etwas_wire_begin(&profile->wire, PROFILE_SAMPLE_TYPE);

        etwas_wire_number(&profile->wire, TYPE_NAME, STRING_VALUES + 2 * (uint64_t)i);
        etwas_wire_number(&profile->wire, TYPE_UNIT, STRING_VALUES + 2 * (uint64_t)i + 1);
        etwas_wire_end(&profile->wire, message);
    }
    etwas_wire_number(&profile->wire, PROFILE_DEFAULT_TYPE,
                      STRING_VALUES + 2 * (uint64_t)etwas_stacks_weight(profile->stacks));
    write_out(profile);
}

static void put_label(struct etwas_wire *wire, uint32_t key, uint32_t id)
{
    size_t message;

    if (id != ETWAS_EVENT_UNKNOWN_ID) {
        message = etwas_wire_begin(wire, SAMPLE_LABEL);
        etwas_wire_number(wire, LABEL_KEY, key);
        etwas_wire_number(wire, LABEL_NUMBER, id);
        etwas_wire_end(wire, message);
    }
}

/* Writes a sample, with its locations innermost first. Numbers are packed. */
static void put_sample(struct profile *profile, const struct etwas_stack *stack, uint32_t values)
{
    const struct etwas_stacks *stacks = profile->stacks;
    struct etwas_wire *wire = &profile->wire;
    size_t message = etwas_wire_begin(wire, PROFILE_SAMPLE);
    size_t packed = etwas_wire_begin(wire, SAMPLE_LOCATIONS);

    for (uint32_t i = stack->frame_count; i > 0; i--) {
        etwas_wire_varint(wire, function_id(stacks, stacks->frames[stack->frames_at + i - 1]));
    }
    etwas_wire_end(wire, packed);
    packed = etwas_wire_begin(wire, SAMPLE_VALUES);
    for (uint32_t i = 0; i < values; i++) {
        etwas_wire_varint(wire, stack->values[i]);
    }
    etwas_wire_end(wire, packed);
    put_label(wire, STRING_PROCESS, stack->process);
    put_label(wire, STRING_THREAD, stack->thread);
    etwas_wire_end(wire, message);
    write_out(profile);
}

static void put_profile(struct profile *profile, int64_t start_ns)
{
    const struct etwas_stacks *stacks = profile->stacks;
    const struct etwas_stacks_value *values;
    uint32_t count = etwas_stacks_values(stacks, &values);

    put_strings(profile);
    put_types(profile);
    etwas_wire_number(&profile->wire, PROFILE_TIME_NS, (uint64_t)start_ns);
    write_out(profile);
    for (uint32_t i = 0; i < stacks->functions.function_count; i++) {
        put_function(profile, i);
    }
    put_function(profile, UINT32_MAX);
    for (uint32_t i = 0; i < stacks->count; i++) {
        if (stacks->stacks[i].kind == stacks->kind) {
            put_sample(profile, &stacks->stacks[i], count);
        }
    }
}

static int run(struct etwas_convert *convert)
{
    struct etwas_stacks stacks = {.wants_spans = false};
    struct profile profile = {.output = convert->output, .stacks = &stacks};
    int result = etwas_stacks_gather(convert, &stacks);

    if (!convert->out_of_memory && convert->run.count > 0) {
        convert->out_of_memory = !etwas_wire_open(&profile.wire, ETWAS_WIRE_BYTES);
        if (!convert->out_of_memory) {
            put_profile(&profile, etwas_input_start_ns(&convert->run.inputs[0]));
        }
        free(profile.wire.bytes);
        etwas_output_free(&profile.plain);
    }
    etwas_stacks_clear(&stacks);
    return result;
}

const struct etwas_convert_target etwas_convert_pprof = {
    .name = "pprof", .is_binary = true, .run = run};
