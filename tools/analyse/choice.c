/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "analyse/choice.h"

#include "trace/condition.h"
#include "where/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- events ---------------------------------------------------------------------------------- */

bool etwas_choice_open(struct etwas_choice *choice, const char *path,
                       struct etwas_field_paths *paths, struct etwas_shared_descriptions *shared)
{
    return etwas_descriptions_open(&choice->descriptions, path, paths, shared);
}

void etwas_choice_add_record(struct etwas_choice *choice, const struct etwas_input *input,
                             const EVENT_RECORD *record)
{
    (void)etwas_descriptions_add_record(&choice->descriptions, record);
    etwas_descriptions_add_process(&choice->descriptions, input, record);
    if (!choice->window->has_held) {
        (void)etwas_window_holds(choice->window, input, record);
    }
}

bool etwas_choice_has(struct etwas_choice *choice, const struct etwas_input *input,
                      const EVENT_RECORD *record, uint32_t process, uint32_t thread)
{
    struct etwas_current_event *current = &choice->current;
    struct etwas_schema_texts *schema_texts;

    if (!etwas_window_holds(choice->window, input, record)) {
        return false;
    }
    if (!etwas_where_is_given(choice->where)) {
        return true;
    }
    schema_texts = etwas_descriptions_known(&choice->descriptions, record);
    if (schema_texts == NULL) {
        schema_texts = etwas_descriptions_find(&choice->descriptions, record, NULL);
    }
    etwas_current_event_read(current, input, record, &choice->descriptions, schema_texts, NULL);
    if (current->event.process == ETWAS_EVENT_UNKNOWN_ID) {
        current->event.process = process;
    }
    if (current->event.thread == ETWAS_EVENT_UNKNOWN_ID) {
        current->event.thread = thread;
    }
    etwas_current_event_find_provider(current);
    return etwas_condition_holds(choice->where, current);
}

void etwas_choice_close(struct etwas_choice *choice)
{
    etwas_descriptions_close(&choice->descriptions);
    etwas_current_event_free(&choice->current);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct thread {
    uint32_t process; /* or ETWAS_EVENT_UNKNOWN_ID */
    uint32_t thread;
    const char *name; /* name of the process; NULL: not known */
    char text[2][24]; /* buffers for both sides of a comparison */
};

static uint32_t count_values(void *context, const struct etwas_where_operand *operand)
{
    const struct thread *thread = context;

    switch (operand->property) {
    case ETWAS_PROPERTY_PID:
        return thread->process != ETWAS_EVENT_UNKNOWN_ID;
    case ETWAS_PROPERTY_TID:
        return 1;
    default:
        return operand->property == ETWAS_PROPERTY_PROCESS && thread->name != NULL;
    }
}

static struct etwas_where_number number_of(void *context, const struct etwas_where_operand *operand,
                                           uint32_t index)
{
    const struct thread *thread = context;
    struct etwas_where_number number = {.kind = ETWAS_WHERE_UNSIGNED};

    (void)index;
    if (operand->property == ETWAS_PROPERTY_PROCESS) {
        number.kind = ETWAS_WHERE_TEXT;
    } else {
        number.u = operand->property == ETWAS_PROPERTY_PID ? thread->process : thread->thread;
    }
    return number;
}

static const char *text_of(void *context, const struct etwas_where_operand *operand, uint32_t index,
                           unsigned side, size_t *bytes)
{
    struct thread *thread = context;
    const char *text = thread->name;

    if (operand->property != ETWAS_PROPERTY_PROCESS) {
        (void)snprintf(thread->text[side], sizeof thread->text[side], "%" PRIu64,
                       number_of(context, operand, index).u);
        text = thread->text[side];
    }
    *bytes = strlen(text);
    return text;
}

bool etwas_choice_has_thread(struct etwas_where *where, uint32_t process, uint32_t thread,
                             const char *name)
{
    struct thread its = {.process = process, .thread = thread, .name = name};
    const struct etwas_where_values values = {&its, count_values, number_of, text_of};
    bool holds = etwas_where_holds(where, &values);

    where->was_asked = true;
    where->has_held |= holds;
    where->has_process |= name != NULL;
    return holds;
}
