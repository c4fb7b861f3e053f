/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe (probe.h) that says with which arguments each exec begins: a BPF program at the tracepoint
 * sched_process_exec. There the new program's stack is made and it has not run yet, so what is read is
 * what it will be given: of a script its interpreter's arguments.
 *
 * Where the kernel has no BTF of its own, there is none.
 */
#ifndef ETWAS_SYSTEM_NAMES_EXEC_PROBE_H
#define ETWAS_SYSTEM_NAMES_EXEC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/probe.h"
#include "system/stream/sample.h"

enum {
    ETWAS_EXEC_MOST_BYTES = 16384 /* of arguments; what is longer is cut */
};

/* For so many processors. False: nothing is open. */
bool etwas_exec_probe_open(struct etwas_probe *probe, uint32_t processors);

/* False: the sample is another. Without bytes the arguments could not be read. */
bool etwas_exec_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

#endif
