/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/process_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROCESS_ID_BITS = 22, /* the kernel's numbers are smaller */
};

bool etwas_process_table_init(struct etwas_process_table *table)
{
    *table = (struct etwas_process_table){0};
    if (etwas_id_map_init(&table->processes) && etwas_id_map_init(&table->threads) &&
        etwas_id_map_init(&table->files)) {
        return true;
    }
    etwas_id_map_free(&table->processes);
    etwas_id_map_free(&table->threads);
    etwas_id_map_free(&table->files);
    return false;
}

void etwas_process_table_free(struct etwas_process_table *table)
{
    struct etwas_process *process;

    while ((process = etwas_process_after(table, NULL)) != NULL) {
        etwas_process_remove(table, process);
    }
    etwas_id_map_free(&table->processes);
    etwas_id_map_free(&table->threads);
    etwas_id_map_free(&table->files);
}

/* ---- processes ------------------------------------------------------------------------------- */

struct etwas_process *etwas_process_find(const struct etwas_process_table *table,
                                         uint32_t process_id)
{
    return (struct etwas_process *)etwas_id_map_find(&table->processes, process_id);
}

struct etwas_process *etwas_process_add(struct etwas_process_table *table, uint32_t process_id,
                                        int64_t since_ns)
{
    struct etwas_process *process = calloc(1, sizeof *process);

    if (process != NULL) {
        process->node.id = process_id;
        process->since_ns = since_ns;
        process->emitted_ns = since_ns;
        etwas_id_map_add(&table->processes, &process->node);
    }
    return process;
}

void etwas_process_remove(struct etwas_process_table *table, struct etwas_process *process)
{
    while (process->threads != NULL) {
        etwas_process_remove_thread(table, process->threads->node.id);
    }
    etwas_image_list_clear(&process->images, &table->files);
    etwas_process_forget_command_line(process);
    etwas_id_map_remove(&table->processes, &process->node);
    free(process);
}

struct etwas_process *etwas_process_after(const struct etwas_process_table *table,
                                          const struct etwas_process *process)
{
    return (struct etwas_process *)etwas_id_map_after(&table->processes,
                                                      process != NULL ? &process->node : NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct etwas_process_thread *etwas_process_find_thread(const struct etwas_process_table *table,
                                                       uint32_t thread_id)
{
    return (struct etwas_process_thread *)etwas_id_map_find(&table->threads, thread_id);
}

struct etwas_process *etwas_process_of_thread(const struct etwas_process_table *table,
                                              uint32_t thread_id)
{
    const struct etwas_process_thread *thread = etwas_process_find_thread(table, thread_id);

    return thread != NULL ? thread->process : NULL;
}

void etwas_process_add_thread(struct etwas_process_table *table, struct etwas_process *process,
                              uint32_t thread_id)
{
    struct etwas_process_thread *thread = calloc(1, sizeof *thread);

    if (thread == NULL) {
        return;
    }
    thread->node.id = thread_id;
    thread->process = process;
    thread->next = process->threads;
    thread->link = &process->threads;
    if (thread->next != NULL) {
        thread->next->link = &thread->next;
    }
    process->threads = thread;
    etwas_id_map_add(&table->threads, &thread->node);
}

void etwas_process_remove_thread(struct etwas_process_table *table, uint32_t thread_id)
{
    struct etwas_process_thread *thread = etwas_process_find_thread(table, thread_id);

    if (thread == NULL) {
        return;
    }
    *thread->link = thread->next;
    if (thread->next != NULL) {
        thread->next->link = thread->link;
    }
    etwas_id_map_remove(&table->threads, &thread->node);
    free(thread);
}

/* ---- what is known of a process -------------------------------------------------------------- */

void etwas_process_forget_command_line(struct etwas_process *process)
{
    if (process->command_line != NULL && --process->command_line->references == 0) {
        free(process->command_line);
    }
    process->command_line = NULL;
}

void etwas_process_set_command_line(struct etwas_process *process, const char *text, uint32_t flags)
{
    size_t bytes = strlen(text) + 1;
    struct etwas_text *line = malloc(sizeof *line + bytes);

    etwas_process_forget_command_line(process);
    if (line != NULL) {
        line->references = 1;
        line->flags = flags;
        memcpy(line->text, text, bytes);
        process->command_line = line;
    }
}

void etwas_process_set_name(struct etwas_process *process, const char *name)
{
    size_t length = strnlen(name, sizeof process->name - 1);

    memcpy(process->name, name, length);
    process->name[length] = 0;
}

void etwas_process_inherit(struct etwas_process *process, const struct etwas_process *parent)
{
    process->session_id = parent->session_id;
    process->user_id = parent->user_id;
    memcpy(process->name, parent->name, sizeof process->name);
    process->command_line = parent->command_line;
    if (process->command_line != NULL) {
        process->command_line->references++;
    }
}

uint64_t etwas_process_key(uint32_t process_id, uint64_t start_tick)
{
    return start_tick << PROCESS_ID_BITS | process_id;
}

uint64_t etwas_process_start_tick(const struct etwas_process *process)
{
    return process->key >> PROCESS_ID_BITS;
}
