/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The reports that the BPF programs write into the rings and the probes read. A text takes only its
 * own length in the ring.
 */
#ifndef ETWAS_SYSTEM_BPF_REPORTS_H
#define ETWAS_SYSTEM_BPF_REPORTS_H

#include <stdint.h>

enum {
    ETWAS_EXEC_MOST_BYTES = 16384, /* of the arguments, with their 0s; more are cut */
    ETWAS_PATH_MOST_BYTES = 4096,  /* PATH_MAX */
    ETWAS_PATH_LATE_ROOM = 1024,
    ETWAS_PATH_LATE_SHIFT = 32,
    ETWAS_PATH_SECOND_SHIFT = 16,
    ETWAS_PATH_REGISTER_MASK = 0xFFFF,
};

/* The text is the arguments, each with its 0, as far as they fit. */
struct etwas_exec_report {
    uint64_t bytes; /* of all arguments, including those that did not fit; 0: not known */
    char name[16];
    char text[ETWAS_EXEC_MOST_BYTES + 8]; /* with room for the last argument to be too long */
};

/* One path or two, each with its 0. */
struct etwas_path_report {
    struct etwas_path_report_head {
        uint64_t thread;
        uint64_t call;    /* its number; in the upper half whether it is late */
        uint64_t address; /* of the first path */
    } head;
    char text[2 * ETWAS_PATH_MOST_BYTES + 8];
};

struct etwas_length_report {
    uint64_t socket;
    uint64_t bytes; /* the lower half */
    uint64_t family;
    uint64_t function; /* its index in the table of length_probe.c */
};

#endif
