/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe in the kernel that says with which arguments each exec begins: a BPF program at the tracepoint
 * sched_process_exec. There the new program's stack is made and it has not run yet, so what is read is
 * what it will be given: of a script its interpreter's arguments. It writes into the feeds' rings, as samples of
 * an event PERF_COUNT_SW_BPF_OUTPUT that each feed has.
 *
 * Without leave (CAP_BPF and CAP_PERFMON), or where the kernel has no BTF of its own, there is none.
 */
#ifndef ETWAS_SYSTEM_EXEC_PROBE_H
#define ETWAS_SYSTEM_EXEC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/sample.h"

enum {
    ETWAS_EXEC_MOST_BYTES = 16384 /* of arguments; what is longer is cut */
};

struct etwas_exec_probe {
    int outputs; /* -1: there is none */
    int link;
};

/* For so many processors. False: nothing is open. */
bool etwas_exec_probe_open(struct etwas_exec_probe *probe, uint32_t processors);

/* What happens on this processor goes to this event's ring, from now on. */
bool etwas_exec_probe_send(const struct etwas_exec_probe *probe, uint32_t processor, int event);

/* Also of one that is not open; async-signal-safe. In a fork's child the parent's goes on. */
void etwas_exec_probe_close(struct etwas_exec_probe *probe);

/* False: the sample is another. Without bytes the arguments could not be read. */
bool etwas_exec_decode(const struct etwas_sample *sample, struct etwas_sideband *sideband);

#endif
