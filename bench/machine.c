/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the kernel's counters (machine.h). */
#include "machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct bench_thread_counts bench_thread_counts(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0) {
        return (struct bench_thread_counts){0};
    }
    return (struct bench_thread_counts){
        .page_faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt,
        .preemptions = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw,
    };
}

/* Returns the column of the processor in "CPU0 CPU1 …"; -1 if it is off and has none. */
static int column_of(const char *headings, uint32_t processor)
{
    char name[16];
    int column = 0;

    (void)snprintf(name, sizeof name, "CPU%u", processor);
    for (const char *at = headings; *at != '\0'; column++) {
        size_t length;

        at += strspn(at, " \n");
        length = strcspn(at, " \n");
        if (length == strlen(name) && strncmp(at, name, length) == 0) {
            return column;
        }
        at += length;
    }
    return -1;
}

/*
 * Returns a number of "  36:   0   3710532  PCI-MSIX…": 3710532 for column 1; 0 if there are fewer.
 */
static uint64_t number_in(const char *line, int column)
{
    const char *at = strchr(line, ':');
    uint64_t number = 0;

    if (at == NULL) {
        return 0;
    }
    at++;
    for (int index = 0; index <= column; index++) {
        char *end;

        at += strspn(at, " ");
        if (!isdigit((unsigned char)*at)) {
            return 0;
        }
        number = strtoull(at, &end, 10);
        at = end;
    }
    return number;
}

uint64_t bench_interrupts(uint32_t processor)
{
    FILE *file = fopen("/proc/interrupts", "re");
    char *line = NULL;
    size_t size = 0;
    uint64_t sum = 0;
    int column;

    if (file == NULL) {
        return 0;
    }
    column = getline(&line, &size, file) > 0 ? column_of(line, processor) : -1;
    while (column >= 0 && getline(&line, &size, file) > 0) {
        sum += number_in(line, column);
    }
    free(line);
    (void)fclose(file);
    return sum;
}

uint64_t bench_resident_kb(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    unsigned long resident_kb = 0;

    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "Rss: %lu kB", &resident_kb) != 1) {
    }
    (void)fclose(file);
    return resident_kb;
}
