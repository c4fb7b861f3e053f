/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes events as lines of columns; each line has all columns. */

#include "dump/dump.h"

#include "print/terminal.h"

#include <etwas/winmeta.h>

void etwas_dump_text_title(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;

    etwas_color_begin(output, ETWAS_COLOR_HEADING);
    etwas_output_char(output, '#');
    for (uint32_t i = 0; i < dump->column_count; i++) {
        char given[ETWAS_DUMP_COLUMN_NAME_BYTES];
        const char *name = etwas_dump_column_name(dump, &dump->columns[i], given);

        etwas_output_char(output, ' ');
        etwas_text_utf8(output, ETWAS_TEXT_WORD, name, strlen(name));
    }
    etwas_color_end(output);
    etwas_output_char(output, '\n');
}

/* Returns the minimum width of a column whose values are right-aligned. */
static unsigned width_of(enum etwas_property property)
{
    switch (property) {
    case ETWAS_PROPERTY_CPU:
        return 4;
    case ETWAS_PROPERTY_PID:
    case ETWAS_PROPERTY_TID:
        return 7;
    default:
        return 1;
    }
}

enum {
    NUMBER_BYTES = 64, /* more than a number takes, with its padding */
};

static void put_column(struct etwas_dump *dump, const struct etwas_dump_column *column)
{
    static const char blanks[] = "       ";
    struct etwas_output *output = dump->output;
    unsigned width = width_of(column->property);
    char *start;
    size_t bytes;

    if (width == 1) {
        if (!etwas_dump_print_column(output, dump, column, true)) {
            etwas_output_char(output, '-');
        }
        return;
    }
    /* Reserves a number and its padding together, so that both are in one piece of the output. */
    start = etwas_output_room(output, NUMBER_BYTES);
    bytes = output->used_bytes;
    if (!etwas_dump_print_column(output, dump, column, true)) {
        etwas_output_char(output, '-');
    }
    bytes = output->used_bytes - bytes;
    if (bytes < width) {
        memmove(start + width - bytes, start, bytes);
        memcpy(start, blanks, width - bytes);
        output->used_bytes += width - bytes;
    }
}

static bool is_origin(const struct etwas_dump_column *column)
{
    return column[0].property == ETWAS_PROPERTY_CPU && column[1].property == ETWAS_PROPERTY_PID &&
           column[2].property == ETWAS_PROPERTY_TID;
}

/* Writes the columns cpu, pid and tid. */
static void put_origin(struct etwas_dump *dump, const struct etwas_dump_column *columns)
{
    const struct etwas_event *event = &dump->current.event;
    struct etwas_output *output = dump->output;
    struct etwas_dump_origin *origin =
        &dump->origins[(event->processor ^ event->thread) & (ETWAS_DUMP_ORIGINS - 1)];
    size_t start;

    if (origin->input == dump->current.input && origin->processor == event->processor &&
        origin->process == event->process && origin->thread == event->thread) {
        memcpy(etwas_output_room(output, sizeof origin->text), origin->text, sizeof origin->text);
        output->used_bytes += origin->bytes;
        return;
    }
    /* Reserves room for all three, so that no column causes a flush of the earlier ones. */
    (void)etwas_output_room(output, 3 * NUMBER_BYTES);
    start = output->used_bytes;
    put_column(dump, &columns[0]);
    etwas_output_char(output, ' ');
    put_column(dump, &columns[1]);
    etwas_output_char(output, ' ');
    put_column(dump, &columns[2]);
    *origin = (struct etwas_dump_origin){
        event->processor,          event->process, event->thread, dump->current.input, {0},
        output->used_bytes - start};
    memcpy(origin->text, output->bytes + start, origin->bytes);
}

/* Returns whether the event is an error, or reports lost events. */
static bool is_wrong(const EVENT_RECORD *record)
{
    static const etwas_guid lost = {
        0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};
    uint8_t level = record->EventHeader.EventDescriptor.Level;

    return level == WINEVENT_LEVEL_CRITICAL || level == WINEVENT_LEVEL_ERROR ||
           memcmp(&record->EventHeader.ProviderId, &lost, sizeof lost) == 0;
}

void etwas_dump_text(struct etwas_dump *dump)
{
    const struct etwas_dump_column *columns = dump->columns;
    bool is_red = is_wrong(dump->current.record);
    uint32_t i = 0;

    if (is_red) {
        etwas_color_begin(dump->output, ETWAS_COLOR_WRONG);
    }
    while (i < dump->column_count) {
        if (i > 0) {
            etwas_output_char(dump->output, ' ');
        }
        if (i + 3 <= dump->column_count && is_origin(&columns[i])) {
            put_origin(dump, &columns[i]);
            i += 3;
        } else {
            put_column(dump, &columns[i]);
            i++;
        }
    }
    if (is_red) {
        etwas_color_end(dump->output);
    }
    etwas_output_char(dump->output, '\n');
}
