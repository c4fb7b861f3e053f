/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a trace to its end and decodes each event, as `etwas dump` does, for the targets that read
 * files. What must hold whatever is in a file is asserted.
 */
#ifndef TESTS_FUZZ_READ_TRACE_H
#define TESTS_FUZZ_READ_TRACE_H

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

struct read_trace {
    uint32_t code; /* OpenTrace's or ProcessTrace's */
    uint64_t events;
    uint64_t events_of_class; /* whose class is `class_data1` */
    uint32_t class_data1;
    uint64_t damages;
    etwas_trace_information information;
};

/* A file. `mode` is for OpenTrace. `result` says which class to count. */
void read_trace_file(const char *path, uint32_t mode, struct read_trace *result);

/* A session, until it ends. Calls `opened` when it is connected to it. */
void read_trace_live(const char *session, uint32_t mode, void (*opened)(void),
                     struct read_trace *result);

#endif
