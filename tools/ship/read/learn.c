/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Brings the decoder to the beginning of a block. Usually it is there already, since the previous
 * block ended there. Otherwise, as in a new process, all earlier records are read again.
 */

#include "ship/read/file_inside.h"

void etwas_ship_learned_free(struct etwas_ship_learned *learned)
{
    if (learned->is_open) {
        etwas_current_event_free(&learned->current);
        learned->current = (struct etwas_current_event){.record = NULL};
        etwas_output_free(&learned->text);
        etwas_descriptions_close(&learned->descriptions);
        learned->is_open = false;
    }
}

static bool begin_anew(struct etwas_ship_file *file)
{
    static struct etwas_field_paths none;
    struct etwas_ship_learned *learned = &file->learned;

    etwas_ship_learned_free(learned);
    if (!etwas_descriptions_open(&learned->descriptions, NULL, &none, NULL)) {
        return etwas_ship_file_fail(file, "there is no memory for what describes its events");
    }
    learned->is_open = true;
    learned->is_sound = true;
    learned->ahead_until = 0;
    learned->at = (struct etwas_ship_position){0, 0};
    return true;
}

static bool has_memory(struct etwas_ship_file *file)
{
    return !file->learned.descriptions.out_of_memory ||
           etwas_ship_file_fail(file, "there is no memory for what describes its events");
}

/* ---- ahead ----------------------------------------------------------------------------------- */

/*
 * In files of etwas, only buffers of descriptions are read. In others, descriptions may be
 * anywhere.
 */
static uint32_t begin_ahead(const etwas_trace_buffer *buffer, void *context)
{
    struct etwas_ship_file *file = context;

    file->learned.ahead_until = buffer->file_offset + buffer->file_bytes;
    return !file->is_own || buffer->kind == ETWAS_BUFFER_DESCRIPTIONS ? ETWAS_BUFFER_READ
                                                                      : ETWAS_BUFFER_PASS;
}

static void take_ahead(EVENT_RECORD *record, void *context)
{
    struct etwas_ship_file *file = context;
    struct etwas_descriptions *descriptions = &file->learned.descriptions;
    uint32_t code = etwas_decoder_learn_ahead(descriptions->decoder, record);

    descriptions->out_of_memory |= code == ERROR_NOT_ENOUGH_MEMORY;
    if (code != ERROR_NOT_FOUND) {
        memset(descriptions->kinds, 0, sizeof descriptions->kinds);
    }
}

static bool learn_ahead(struct etwas_ship_file *file, uint64_t until)
{
    const struct etwas_ship_reader reader = {begin_ahead, NULL, take_ahead, file};

    return (until <= file->learned.ahead_until ||
            etwas_ship_file_read(file, file->learned.ahead_until, until, &reader)) &&
           has_memory(file);
}

/* ---- in their turn --------------------------------------------------------------------------- */

static void take_in_turn(EVENT_RECORD *record, void *context)
{
    struct etwas_ship_file *file = context;

    (void)etwas_descriptions_add_record(&file->learned.descriptions, record);
}

/* Earlier records of the same buffer are read with the block. */
static bool learn_in_turn(struct etwas_ship_file *file, const struct etwas_ship_position *until)
{
    const struct etwas_ship_reader reader = {NULL, NULL, take_in_turn, file};

    if (until->offset > 0 && !etwas_ship_file_read(file, 0, until->offset, &reader)) {
        return false;
    }
    file->learned.at = *until;
    return has_memory(file);
}

bool etwas_ship_learn(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      uint64_t until)
{
    struct etwas_ship_learned *learned = &file->learned;
    bool is_there = learned->is_open && learned->is_sound && learned->ahead_until <= until &&
                    learned->at.offset == from->offset && learned->at.pos == from->pos;

    if (is_there) {
        return learn_ahead(file, until);
    }
    if (!begin_anew(file)) {
        return false;
    }
    learned->is_sound = learn_ahead(file, until) && learn_in_turn(file, from);
    return learned->is_sound;
}
