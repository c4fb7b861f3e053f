/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that runs another program. COMM says that it will, before the program is there; where there is
 * a probe (exec_probe.h), that says a little later with which arguments it begins, and then it is
 * told. What the probe has not said is read from /proc: at once where there is none; else when its
 * sample was lost, which is noticed when somebody looks for what was lost, or in the end.
 */
#include <string.h>

#include "system/names/processes_internal.h"

/*
 * What /proc says of a program that was begun a while ago, if it is that one which is there now. False: it is
 * another, or nobody.
 */
static bool learn_program(struct etwas_processes *processes, struct etwas_process *process)
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

static void tell_exec(struct etwas_processes *processes, struct etwas_process *process,
                      const struct etwas_place *place)
{
    process->starting_ns = 0;
    etwas_process_tell(processes, process, place, ETWAS_PROCESS_RUNDOWN_START, ETWAS_PROCESS_EXEC);
}

void etwas_process_settle_exec(struct etwas_processes *processes, struct etwas_process *process,
                               const struct etwas_place *place)
{
    if (process->starting_ns == 0) {
        return;
    }
    if (learn_program(processes, process) &&
        processes->source->command_line(process->node.id, &processes->facts) &&
        processes->facts.command_line[0] != 0) {
        etwas_process_believe_command_line(process, &processes->facts);
    }
    tell_exec(processes, process, place);
}

/* Its other threads are gone, whatever was seen of them. */
static void keep_one_thread(struct etwas_processes *processes, struct etwas_process *process,
                            const struct etwas_place *place)
{
    while (process->threads != NULL) {
        etwas_process_remove_thread(&processes->table, process->threads->node.id);
    }
    etwas_process_take_thread(processes, process, process->node.id, place);
}

void etwas_process_begin_exec(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_sideband *sideband)
{
    const struct etwas_place place = etwas_place_of(sideband);

    etwas_process_settle_exec(processes, process, &place);
    keep_one_thread(processes, process, &place);
    etwas_process_unload(processes, process, &place);
    etwas_process_set_name(process, sideband->comm.name);
    etwas_process_forget_command_line(process);
    process->starting_ns = (processes->tells & ETWAS_TELL_PROCESSES) != 0 ? place.time_ns : 0;
    if (!processes->has_arguments) {
        etwas_process_settle_exec(processes, process, &place);
    }
}

void etwas_process_take_arguments(struct etwas_processes *processes, struct etwas_process *process,
                                  const struct etwas_sideband *sideband)
{
    const struct etwas_place place = etwas_place_of(sideband);
    char *line = processes->facts.command_line;

    etwas_process_set_name(process, sideband->exec.name);
    if (sideband->exec.bytes == 0) {
        process->starting_ns = place.time_ns;
        etwas_process_settle_exec(processes, process, &place);
        return;
    }
    (void)learn_program(processes, process);
    memcpy(line, sideband->exec.arguments, sideband->exec.bytes);
    line[sideband->exec.bytes] = 0;
    etwas_process_join_arguments(line, sideband->exec.bytes);
    etwas_process_set_command_line(process, line,
                                   sideband->exec.is_cut ? ETWAS_PROCESS_COMMAND_LINE_CUT : 0);
    tell_exec(processes, process, &place);
}
