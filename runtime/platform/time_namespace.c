/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/time_namespace.h"

#include <ck_pr.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LINK_BYTES = 64,
};

#define NS_PER_S INT64_C(1000000000)

static const char first[] = "time:[4026531834]"; /* PROC_TIME_INIT_INO: the same on every machine */

/* Without such namespaces each process counts as in the first. */
static void time_namespace_read_link(const char *path, char link[LINK_BYTES])
{
    ssize_t length = readlink(path, link, LINK_BYTES - 1);

    if (length > 0) {
        link[length] = 0;
    } else {
        (void)strcpy(link, first);
    }
}

static int64_t time_namespace_read_offset(void)
{
    FILE *file = fopen("/proc/self/timens_offsets", "re");
    long long seconds = 0;
    long long ns = 0;
    bool is_read = file != NULL && fscanf(file, "monotonic %lld %lld", &seconds, &ns) == 2;

    if (file != NULL) {
        (void)fclose(file);
    }
    return is_read ? seconds * NS_PER_S + ns : ETWAS_TIME_OFFSET_UNKNOWN;
}

/* The file contains the offsets of the namespace of the process's children. */
static int64_t time_namespace_find_offset(void)
{
    char own[LINK_BYTES];
    char of_children[LINK_BYTES];

    time_namespace_read_link("/proc/self/ns/time", own);
    time_namespace_read_link("/proc/self/ns/time_for_children", of_children);
    return strcmp(own, first) == 0         ? 0
           : strcmp(own, of_children) == 0 ? time_namespace_read_offset()
                                           : ETWAS_TIME_OFFSET_UNKNOWN;
}

/*
 * A fork's child may be in another namespace. A thread that finds the process's id also finds its
 * offset.
 */
int64_t etwas_time_offset_ns(void)
{
    static int64_t offset_ns;
    static uint32_t of_process;
    const uint32_t process = (uint32_t)getpid();

    if (ck_pr_load_32(&of_process) != process) {
        ck_pr_store_64((uint64_t *)&offset_ns, (uint64_t)time_namespace_find_offset());
        ck_pr_fence_store();
        ck_pr_store_32(&of_process, process);
    }
    ck_pr_fence_load();
    return (int64_t)ck_pr_load_64((uint64_t *)&offset_ns);
}

int64_t etwas_time_offset_known_ns(void)
{
    int64_t offset_ns = etwas_time_offset_ns();

    return offset_ns != ETWAS_TIME_OFFSET_UNKNOWN ? offset_ns : 0;
}
