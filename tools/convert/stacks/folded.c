/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `folded`: one line for each stack. A line has the functions, outermost first and
 * separated by `;`, a blank, and the weight. Stacks of all threads are merged, and lines are
 * sorted.
 */

#include "convert/stacks/stacks.h"

#include "exit.h"

/* The names of all functions as written in lines, by number. */
struct names {
    char **texts;
    uint32_t count;
};

/* Returns a copy of a name, in which separators of frames, and blanks at the ends, are replaced. */
static char *clean(struct etwas_output *plain, const char *name)
{
    etwas_output_anew(plain);
    etwas_text_utf8(plain, ETWAS_TEXT_PLAIN, name, strnlen(name, ETWAS_STACKS_NAME_BYTES));
    for (size_t i = 0; i < plain->used_bytes; i++) {
        bool is_end = i == 0 || i + 1 == plain->used_bytes;

        if (plain->bytes[i] == ';') {
            plain->bytes[i] = ':';
        } else if (plain->bytes[i] == ' ' && is_end) {
            plain->bytes[i] = '_';
        }
    }
    return etwas_output_copy(plain);
}

static bool make_names(const struct etwas_stacks *stacks, struct names *names)
{
    char room[ETWAS_STACKS_NAME_BYTES];
    struct etwas_output plain = {.bytes = NULL};
    bool is_whole = true;

    names->texts = calloc((size_t)stacks->functions.function_count + 1, sizeof(char *));
    while (names->texts != NULL && is_whole && names->count < stacks->functions.function_count) {
        char *name = clean(&plain, etwas_stacks_function(stacks, names->count, room, sizeof room));

        is_whole = name != NULL;
        names->texts[names->count++] = name;
    }
    etwas_output_free(&plain);
    return names->texts != NULL && is_whole;
}

static void free_names(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->texts[i]);
    }
    free((void *)names->texts);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The data for writing and comparing lines. */
struct lines {
    const struct etwas_stacks *stacks;
    struct names names;
};

static const char *frame_name(const struct lines *lines, const struct etwas_stack *stack,
                              uint32_t frame)
{
    uint32_t number = lines->stacks->frames[stack->frames_at + frame];

    return number < lines->names.count ? lines->names.texts[number] : "[others]";
}

/* A position in a line during a comparison. */
struct place {
    const struct lines *lines;
    const struct etwas_stack *stack;
    uint32_t frame;
    const char *at;
};

static struct place begin(const struct lines *lines, const struct etwas_stack *stack)
{
    return (struct place){lines, stack, 0,
                          stack->frame_count > 0 ? frame_name(lines, stack, 0) : ""};
}

/* Returns the line's next character; 0 after its last frame. */
static unsigned char next(struct place *place)
{
    if (*place->at != '\0') {
        return (unsigned char)*place->at++;
    }
    if (place->frame + 1 >= place->stack->frame_count) {
        return 0;
    }
    place->at = frame_name(place->lines, place->stack, ++place->frame);
    return ';';
}

static int compare(const void *left, const void *right, void *context)
{
    struct place one = begin(context, *(const struct etwas_stack *const *)left);
    struct place other = begin(context, *(const struct etwas_stack *const *)right);
    unsigned char a;
    unsigned char b;

    do {
        a = next(&one);
        b = next(&other);
    } while (a == b && a != 0);
    return a - b;
}

static void put_line(struct etwas_output *output, const struct lines *lines,
                     const struct etwas_stack *stack, uint64_t weight)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        etwas_output_text(output, i > 0 ? ";" : "");
        etwas_output_text(output, frame_name(lines, stack, i));
    }
    etwas_output_char(output, ' ');
    etwas_output_unsigned(output, weight);
    etwas_output_char(output, '\n');
}

static bool put_lines(struct etwas_output *output, struct lines *lines)
{
    const struct etwas_stacks *stacks = lines->stacks;
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
        qsort_r((void *)sorted, count, sizeof(const struct etwas_stack *), compare, lines);
    }
    for (uint32_t i = 0; i < count; i++) {
        weight += sorted[i]->values[which];
        if (i + 1 == count || compare(&sorted[i], &sorted[i + 1], lines) != 0) {
            put_line(output, lines, sorted[i], weight);
            weight = 0;
        }
    }
    free((void *)sorted);
    return sorted != NULL;
}

static int run(struct etwas_convert *convert)
{
    struct etwas_stacks stacks = {.wants_spans = false};
    struct lines lines = {.stacks = &stacks};
    int result = etwas_stacks_gather(convert, &stacks);

    if (!convert->out_of_memory) {
        convert->out_of_memory =
            !make_names(&stacks, &lines.names) || !put_lines(convert->output, &lines);
    }
    free_names(&lines.names);
    etwas_stacks_clear(&stacks);
    return result;
}

const struct etwas_convert_target etwas_convert_folded = {.name = "folded", .run = run};
