/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the kernel's events about processes in files, and looks names up in them. */

#include "trace/process_names.h"

#include "kernel/kernel.h"
#include "kernel/processes.h"
#include "math/array.h"
#include "trace/moment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct etwas_process_names_file {
    const char *path; /* as on the command line; NULL: the file is not on it */
    int64_t boot_filetime;
    struct etwas_processes processes;
};

/* ---- reading --------------------------------------------------------------------------------- */

static void on_record(EVENT_RECORD *record)
{
    struct etwas_processes *processes = record->UserContext;
    uint32_t process;

    if (etwas_kernel_is_process(record)) {
        (void)etwas_processes_add_record(processes, record, record->EventHeader.TimeStamp.QuadPart,
                                         &process);
    }
}

static bool add_file(struct etwas_process_names *names, const struct etwas_process_names_file *file)
{
    if (file->processes.count == 0 ||
        !etwas_array_reserve(&names->files, &names->capacity, names->count + 1, sizeof *file)) {
        return file->processes.count == 0;
    }
    names->files[names->count++] = *file;
    return true;
}

/* Does not report errors in the file: the command does when it reads the events. */
static void read_file(struct etwas_process_names *names, const char *path, bool is_given)
{
    struct etwas_process_names_file file = {.path = is_given ? path : NULL};
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
        .EventRecordCallback = on_record,
        .Context = &file.processes,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);
    uint32_t before = names->count;

    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        return;
    }
    if (etwas_input_is_kernel(&logfile)) {
        file.boot_filetime = logfile.LogfileHeader.BootTime.QuadPart;
        if (etwas_processes_open(&file.processes)) {
            (void)ProcessTrace(&trace, 1, NULL, NULL);
            names->out_of_memory |= file.processes.out_of_memory || !add_file(names, &file);
        } else {
            names->out_of_memory = true;
        }
        if (names->count == before) {
            etwas_processes_close(&file.processes);
        }
    }
    CloseTrace(trace);
}

/*
 * Reads NAME.etl or NAME, beside which `etwas record` wrote NAME.programs.etl, unless it is given
 * on the command line.
 */
static void read_file_beside(struct etwas_process_names *names, const char *path,
                             char *const *paths, uint32_t count)
{
    static const char programs[] = ".programs.etl";
    static const char *const suffixes[] = {".etl", ""};
    size_t length = strlen(path);
    char beside[PATH_MAX];

    if (length <= strlen(programs) || strcmp(path + length - strlen(programs), programs) != 0) {
        return;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        bool is_given = snprintf(beside, sizeof beside, "%.*s%s", (int)(length - strlen(programs)),
                                 path, suffixes[i]) >= (int)sizeof beside;

        for (uint32_t k = 0; k < count; k++) {
            is_given |= strcmp(paths[k], beside) == 0;
        }
        if (!is_given) {
            read_file(names, beside, false);
        }
    }
}

void etwas_process_names_read(struct etwas_process_names *names, char *const *paths, uint32_t count)
{
    if (names->is_read) {
        return;
    }
    names->is_read = true;
    for (uint32_t i = 0; i < count; i++) {
        read_file_beside(names, paths[i], paths, count);
        if (count > 1) {
            read_file(names, paths[i], true);
        }
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Returns the life of a process id that includes a time; NULL if none is known. */
static const struct etwas_processes_life *life_at(const struct etwas_process_names_file *file,
                                                  uint32_t process, int64_t time_ns)
{
    uint32_t number = etwas_processes_life(&file->processes, process, time_ns);
    const struct etwas_processes_life *life =
        number != ETWAS_PROCESSES_NONE ? &file->processes.lives[number] : NULL;

    return life != NULL && (!life->has_ended || time_ns <= life->until) ? life : NULL;
}

const char *etwas_process_names_find(const struct etwas_process_names *names,
                                     const struct etwas_input *input, const EVENT_RECORD *record,
                                     uint32_t process)
{
    int64_t boot_filetime = input->logfile.LogfileHeader.BootTime.QuadPart;
    const struct etwas_processes_life *found = NULL;
    int64_t time_ns;

    if (names->count == 0) {
        return NULL;
    }
    time_ns = etwas_input_shown_ns(input, record);
    for (uint32_t i = 0; i < names->count; i++) {
        const struct etwas_process_names_file *file = &names->files[i];
        const struct etwas_processes_life *life =
            (file->path == NULL || strcmp(file->path, input->path) != 0) &&
                    etwas_moments_are_of_one_boot(file->boot_filetime, boot_filetime)
                ? life_at(file, process, time_ns)
                : NULL;

        /* Prefer the last name recorded before the event, else the first one after it. */
        if (life != NULL && (found == NULL || (life->from <= time_ns ? life->from > found->from ||
                                                                           found->from > time_ns
                                                                     : life->from < found->from))) {
            found = life;
        }
    }
    return found != NULL ? found->name : NULL;
}

void etwas_process_names_free(struct etwas_process_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        etwas_processes_close(&names->files[i].processes);
    }
    free(names->files);
    *names = (struct etwas_process_names){0};
}
