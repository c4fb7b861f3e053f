/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that runs another program. COMM reports it before the program is there. If there is a
 * probe (bpf_probes.h), it reports the arguments a little later, and then the program is emitted.
 * Otherwise they are read from /proc: at once without a probe; if the probe's sample was lost, when
 * a scan notices it or at the end.
 */
#include <string.h>

#include "system/names/processes_internal.h"

/*
 * Reads the facts of a program that began a while ago. Returns false if the process runs another
 * one by now, or is gone.
 */
static bool read_program(struct etwas_processes *processes, struct etwas_process *process)
{
    const struct etwas_process_facts *facts = &processes->facts;

    if (!processes->source->facts(process->node.id, &processes->facts) ||
        strcmp(facts->name, process->name) != 0 ||
        !etwas_process_started_at(process, facts->start_tick)) {
        return false;
    }
    process->session_id = facts->session_id;
    process->user_id = facts->user_id;
    return true;
}

static void emit_exec(struct etwas_processes *processes, struct etwas_process *process,
                      const struct etwas_record_origin *origin)
{
    process->starting_ns = 0;
    etwas_process_emit(processes, process, origin, ETWAS_PROCESS_RUNDOWN_START, ETWAS_PROCESS_EXEC);
}

void etwas_process_finish_exec(struct etwas_processes *processes, struct etwas_process *process,
                               const struct etwas_record_origin *origin)
{
    if (process->starting_ns == 0) {
        return;
    }
    if (read_program(processes, process) &&
        processes->source->command_line(process->node.id, &processes->facts) &&
        processes->facts.command_line[0] != 0) {
        etwas_process_apply_command_line(process, &processes->facts);
    }
    emit_exec(processes, process, origin);
}

/* The other threads are gone, even if their ends were not recorded. */
static void drop_other_threads(struct etwas_processes *processes, struct etwas_process *process,
                               const struct etwas_record_origin *origin)
{
    while (process->threads != NULL) {
        etwas_process_remove_thread(&processes->table, process->threads->node.id);
    }
    etwas_process_adopt_thread(processes, process, process->node.id, origin);
}

void etwas_process_begin_exec(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_process_record *process_record)
{
    const struct etwas_record_origin origin = etwas_record_origin_of(process_record);

    etwas_process_finish_exec(processes, process, &origin);
    drop_other_threads(processes, process, &origin);
    etwas_process_unload(processes, process, &origin);
    etwas_process_set_name(process, process_record->comm.name);
    etwas_process_forget_command_line(process);
    process->starting_ns = (processes->emits & ETWAS_EMIT_PROCESSES) != 0 ? origin.time_ns : 0;
    if (!processes->has_arguments) {
        etwas_process_finish_exec(processes, process, &origin);
    }
}

void etwas_process_handle_arguments(struct etwas_processes *processes,
                                    struct etwas_process *process,
                                    const struct etwas_process_record *process_record)
{
    const struct etwas_record_origin origin = etwas_record_origin_of(process_record);
    char *line = processes->facts.command_line;

    etwas_process_set_name(process, process_record->exec.name);
    if (process_record->exec.bytes == 0) {
        process->starting_ns = origin.time_ns;
        etwas_process_finish_exec(processes, process, &origin);
        return;
    }
    (void)read_program(processes, process);
    memcpy(line, process_record->exec.arguments, process_record->exec.bytes);
    line[process_record->exec.bytes] = 0;
    etwas_process_join_arguments(line, process_record->exec.bytes);
    etwas_process_set_command_line(
        process, line, process_record->exec.is_cut ? ETWAS_PROCESS_COMMAND_LINE_CUT : 0);
    emit_exec(processes, process, &origin);
}
