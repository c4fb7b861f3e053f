/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where and when clocks were examined, so that saved reports of several machines can be
 * distinguished.
 */

#include "clocks/clocks.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

/* Reads the first "model name" in /proc/cpuinfo, which not every architecture has. */
static void read_model(char *model, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    model[0] = '\0';
    while (file != NULL && model[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            value += 1 + strspn(value + 1, " \t");
            value[strcspn(value, "\n")] = '\0';
            snprintf(model, bytes, "%s", value);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

void etwas_clocks_machine_read(struct etwas_clocks_machine *machine)
{
    struct utsname names;
    time_t now = time(NULL);
    struct tm parts;

    *machine = (struct etwas_clocks_machine){0};
    if (uname(&names) == 0) {
        snprintf(machine->host, sizeof machine->host, "%.64s", names.nodename);
        snprintf(machine->system, sizeof machine->system, "%.80s %.80s %.80s", names.sysname,
                 names.release, names.machine);
    }
    machine->sequences = etwas_sequences_try();
    read_model(machine->model, sizeof machine->model);
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(machine->examined, sizeof machine->examined, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}
