/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A list of lives in the order in which they begin, each linked to the id's life before it. A hash
 * table has the last ones.
 */

#include "kernel/processes.h"

#include "math/array.h"

#include <stdlib.h>
#include <string.h>

/* Types of the class. */
enum {
    START = 1,
    END = 2,
};

/* ---- the table ------------------------------------------------------------------------------- */

/* Returns the number of an id's last life, from 1; 0 if there is none. */
static uint32_t processes_number(const struct etwas_processes *processes, uint32_t process,
                                 struct etwas_hash_place *place)
{
    uint32_t number = etwas_hash_index_first(&processes->places, process, place);

    while (number != 0 && processes->lives[number - 1].process != process) {
        number = etwas_hash_index_next(&processes->places, place);
    }
    return number;
}

static struct etwas_processes_life *last_of(const struct etwas_processes *processes,
                                            uint32_t process)
{
    struct etwas_hash_place place;
    uint32_t number = processes_number(processes, process, &place);

    return number > 0 ? &processes->lives[number - 1] : NULL;
}

static bool add_life(struct etwas_processes *processes, const struct etwas_processes_life *life,
                     const char *name)
{
    struct etwas_hash_place place;
    struct etwas_processes_life added = *life;

    if (processes->count >= ETWAS_PROCESSES) {
        return false;
    }
    added.before = processes_number(processes, life->process, &place);
    added.name = strdup(name);
    if (added.name == NULL ||
        !etwas_array_reserve(&processes->lives, &processes->capacity, processes->count + 1,
                             sizeof *processes->lives) ||
        (added.before == 0 &&
         !etwas_hash_index_add(&processes->places, life->process, processes->count + 1))) {
        free(added.name);
        processes->out_of_memory = true;
        return false;
    }
    processes->lives[processes->count++] = added;
    if (added.before != 0) {
        etwas_hash_index_replace(&processes->places, &place, processes->count);
    }
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Thread events have the id in TThreadId, events that name a thread in ThreadId. */
static bool is_id(const struct etwas_processes *processes, const char *field)
{
    return processes->is_of_threads
               ? strcmp(field, "TThreadId") == 0 || strcmp(field, "ThreadId") == 0
               : strcmp(field, "ProcessId") == 0;
}

/* Returns false if the record has no id of a process or thread. */
static bool read_fields(const struct etwas_processes *processes, const etwas_schema *schema,
                        const EVENT_RECORD *record, uint32_t *process,
                        char name[ETWAS_PROCESSES_NAME_BYTES])
{
    const char *name_field = processes->is_of_threads ? "ThreadName" : "ImageFileName";
    etwas_number number = {.u = 0};
    bool has_process = false;
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token != ETWAS_TOKEN_VALUE) {
            continue;
        }
        if (is_id(processes, value.field->name)) {
            (void)etwas_value_number(&value, &number);
            has_process = true;
        } else if (strcmp(value.field->name, name_field) == 0) {
            (void)etwas_value_text(&value, name, ETWAS_PROCESSES_NAME_BYTES);
        }
    }
    *process = (uint32_t)number.u;
    return has_process;
}

enum etwas_processes_news etwas_processes_add_record(struct etwas_processes *processes,
                                                     const EVENT_RECORD *record, int64_t time,
                                                     uint32_t *process)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    char name[ETWAS_PROCESSES_NAME_BYTES] = "";
    struct etwas_processes_life *last;
    const etwas_schema *schema;
    struct etwas_processes_life life;

    if (etwas_decoder_schema(processes->decoder, record, &schema) != ERROR_SUCCESS ||
        !read_fields(processes, schema, record, process, name)) {
        return ETWAS_PROCESSES_SAME;
    }
    last = last_of(processes, *process);
    if (last != NULL && type == START && name[0] == '\0') { /* a new process without a name */
        last->until = last->has_ended ? last->until : time;
        last->has_ended = true;
        return ETWAS_PROCESSES_SAME;
    }
    life = (struct etwas_processes_life){
        .process = *process,
        .begins = last == NULL || last->has_ended || type == START,
        .was_there = last == NULL && type != START,
        .has_ended = type == END,
        .from = time,
        .until = time,
    };
    if (last != NULL && !life.begins && (name[0] == '\0' || strcmp(last->name, name) == 0)) {
        last->has_ended = type == END;
        last->until = time;
        return ETWAS_PROCESSES_SAME;
    }
    if (last != NULL && last->has_ended && type == END) { /* its end was recorded twice */
        return ETWAS_PROCESSES_SAME;
    }
    if (name[0] == '\0' || !add_life(processes, &life, name)) {
        return ETWAS_PROCESSES_SAME;
    }
    return life.begins ? ETWAS_PROCESSES_BEGAN : ETWAS_PROCESSES_RENAMED;
}

void etwas_processes_follow(struct etwas_processes *processes, struct etwas_schedule *schedule,
                            const EVENT_RECORD *record, int64_t time_ns)
{
    uint32_t process;

    etwas_schedule_time(schedule, time_ns);
    if (etwas_processes_add_record(processes, record, time_ns, &process) ==
        ETWAS_PROCESSES_RENAMED) {
        /*
         * The processor is known only if the process logged the event itself, and not if another
         * found out later.
         */
        etwas_schedule_exec(schedule, process,
                            record->EventHeader.ThreadId == process
                                ? record->BufferContext.ProcessorIndex
                                : UINT32_MAX);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

uint32_t etwas_processes_life(const struct etwas_processes *processes, uint32_t process,
                              int64_t time)
{
    struct etwas_hash_place place;
    uint32_t number = processes_number(processes, process, &place);

    while (number > 0) {
        const struct etwas_processes_life *life = &processes->lives[number - 1];

        if (life->from <= time || (life->before == 0 && life->was_there)) {
            return number - 1;
        }
        number = life->before;
    }
    return ETWAS_PROCESSES_NONE;
}

const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process,
                                 int64_t time)
{
    uint32_t number = etwas_processes_life(processes, process, time);

    return number != ETWAS_PROCESSES_NONE ? processes->lives[number].name : NULL;
}

/* Returns the number of the first life of the process that this life belongs to. */
static uint32_t first_of(const struct etwas_processes *processes, uint32_t number)
{
    while (!processes->lives[number].begins && processes->lives[number].before > 0) {
        number = processes->lives[number].before - 1;
    }
    return processes->lives[number].was_there ? ETWAS_PROCESSES_NONE : number;
}

uint32_t etwas_processes_now(const struct etwas_processes *processes, uint32_t process)
{
    const struct etwas_processes_life *last = last_of(processes, process);

    return last != NULL ? first_of(processes, (uint32_t)(last - processes->lives))
                        : ETWAS_PROCESSES_NONE;
}

/* Writes the names from the last one backwards. */
const char *etwas_processes_names(const struct etwas_processes *processes, uint32_t process,
                                  uint32_t first, char *room, size_t room_bytes)
{
    const struct etwas_processes_life *last = last_of(processes, process);
    uint32_t number = last != NULL ? (uint32_t)(last - processes->lives) + 1 : 0;
    size_t begin = room_bytes - 1;

    room[begin] = '\0';
    for (; number > 0; number = processes->lives[number - 1].before) {
        const char *name = processes->lives[number - 1].name;
        size_t bytes = strlen(name);
        bool is_last = room[begin] == '\0';

        if (first_of(processes, number - 1) != first || bytes + 2 > begin) {
            continue;
        }
        begin -= is_last ? 0 : 2;
        memcpy(room + begin, is_last ? "" : ", ", is_last ? 0 : 2);
        begin -= bytes;
        memcpy(room + begin, name, bytes);
    }
    return room[begin] != '\0' ? room + begin : NULL;
}

bool etwas_processes_open(struct etwas_processes *processes)
{
    *processes = (struct etwas_processes){.decoder = NULL};
    return etwas_decoder_open(&processes->decoder) == ERROR_SUCCESS;
}

bool etwas_processes_open_threads(struct etwas_processes *processes)
{
    bool is_open = etwas_processes_open(processes);

    processes->is_of_threads = true;
    return is_open;
}

void etwas_processes_close(struct etwas_processes *processes)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        free(processes->lives[i].name);
    }
    free(processes->lives);
    etwas_hash_index_clear(&processes->places);
    etwas_decoder_close(processes->decoder);
    *processes = (struct etwas_processes){.decoder = NULL};
}
