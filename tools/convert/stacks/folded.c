/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `folded`: one line for each stack, with its functions outermost first and `;` between
 * two, a blank, and its weight. Stacks of all threads are merged, and lines are sorted.
 */

#include "convert/stacks/stacks.h"

#include "commands.h"

/* The names of all functions as lines have them, by number. */
struct names {
    char **texts;
    uint32_t count;
};

/* What separates frames, and blanks at the ends, are replaced. */
static char *clean(const char *name)
{
    static struct etwas_output plain;
    char *text;

    etwas_output_anew(&plain);
    etwas_text_utf8(&plain, ETWAS_TEXT_PLAIN, name, strnlen(name, ETWAS_STACKS_NAME_BYTES));
    for (size_t i = 0; i < plain.used_bytes; i++) {
        bool is_end = i == 0 || i + 1 == plain.used_bytes;

        if (plain.bytes[i] == ';') {
            plain.bytes[i] = ':';
        } else if (plain.bytes[i] == ' ' && is_end) {
            plain.bytes[i] = '_';
        }
    }
    text = malloc(plain.used_bytes + 1);
    if (text != NULL) {
        memcpy(text, plain.bytes, plain.used_bytes);
        text[plain.used_bytes] = '\0';
    }
    return text;
}

static bool make_names(const struct etwas_stacks *stacks, struct names *names)
{
    static char room[ETWAS_STACKS_NAME_BYTES];

    names->texts = calloc((size_t)stacks->functions.function_count + 1, sizeof(char *));
    for (; names->texts != NULL && names->count < stacks->functions.function_count;
         names->count++) {
        names->texts[names->count] =
            clean(etwas_stacks_function(stacks, names->count, room, sizeof room));
        if (names->texts[names->count] == NULL) {
            return false;
        }
    }
    return names->texts != NULL;
}

static void free_names(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->texts[i]);
    }
    free((void *)names->texts);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What lines are compared by: qsort has no place for it. */
static const struct etwas_stacks *compared_stacks;
static const struct names *compared_names;

static const char *frame_name(const struct etwas_stack *stack, uint32_t frame)
{
    uint32_t number = compared_stacks->frames[stack->frames_at + frame];

    return number < compared_names->count ? compared_names->texts[number] : "[others]";
}

/* Where in a line a comparison is. */
struct place {
    const struct etwas_stack *stack;
    uint32_t frame;
    const char *at;
};

static struct place begin(const struct etwas_stack *stack)
{
    return (struct place){stack, 0, stack->frame_count > 0 ? frame_name(stack, 0) : ""};
}

/* The line's next character, 0 behind its frames. */
static unsigned char next(struct place *place)
{
    if (*place->at != '\0') {
        return (unsigned char)*place->at++;
    }
    if (place->frame + 1 >= place->stack->frame_count) {
        return 0;
    }
    place->at = frame_name(place->stack, ++place->frame);
    return ';';
}

static int compare(const void *left, const void *right)
{
    struct place one = begin(*(const struct etwas_stack *const *)left);
    struct place other = begin(*(const struct etwas_stack *const *)right);
    unsigned char a;
    unsigned char b;

    do {
        a = next(&one);
        b = next(&other);
    } while (a == b && a != 0);
    return a - b;
}

static void put_line(struct etwas_output *output, const struct etwas_stack *stack, uint64_t weight)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        etwas_output_text(output, i > 0 ? ";" : "");
        etwas_output_text(output, frame_name(stack, i));
    }
    etwas_output_char(output, ' ');
    etwas_output_unsigned(output, weight);
    etwas_output_char(output, '\n');
}

static bool put_lines(struct etwas_output *output, const struct etwas_stacks *stacks)
{
    const struct etwas_stack **sorted =
        calloc((size_t)stacks->count + 1, sizeof(const struct etwas_stack *));
    uint32_t which = etwas_stacks_weight(stacks);
    uint32_t count = 0;
    uint64_t weight = 0;

    for (uint32_t i = 0; sorted != NULL && i < stacks->count; i++) {
        if (stacks->stacks[i].kind == stacks->kind && stacks->stacks[i].frame_count > 0) {
            sorted[count++] = &stacks->stacks[i];
        }
    }
    if (count > 0) {
        qsort((void *)sorted, count, sizeof(const struct etwas_stack *), compare);
    }
    for (uint32_t i = 0; i < count; i++) {
        weight += sorted[i]->values[which];
        if (i + 1 == count || compare(&sorted[i], &sorted[i + 1]) != 0) {
            put_line(output, sorted[i], weight);
            weight = 0;
        }
    }
    free((void *)sorted);
    return sorted != NULL;
}

static int run(struct etwas_convert *convert)
{
    static struct etwas_stacks stacks;
    struct names names = {NULL, 0};
    int result = etwas_stacks_gather(convert, &stacks);

    compared_stacks = &stacks;
    compared_names = &names;
    if (!convert->out_of_memory) {
        convert->out_of_memory =
            !make_names(&stacks, &names) || !put_lines(convert->output, &stacks);
    }
    free_names(&names);
    etwas_stacks_clear(&stacks);
    return result;
}

const struct etwas_convert_target etwas_convert_folded = {.name = "folded", .run = run};
