/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe (probe.h) that reports the arguments of each exec: a BPF program at the tracepoint
 * sched_process_exec. At that time the new program's stack exists and the program has not run, so
 * the arguments are those that it is given; for a script, those of its interpreter.
 *
 * The probe needs the kernel's BTF.
 */
#ifndef ETWAS_SYSTEM_NAMES_BPF_PROBES_H
#define ETWAS_SYSTEM_NAMES_BPF_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "system/bpf/reports.h"
#include "system/stream/probe.h"
#include "system/stream/sample.h"

/* Opens the probe for this many processors. Returns false, with nothing open, on failure. */
bool etwas_exec_probe_open(struct etwas_probe *probe, uint32_t processors);

/*
 * Decodes a sample of the probe. Returns false if the sample is not one. No bytes: the arguments
 * could not be read.
 */
bool etwas_exec_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

/*
 * A probe (probe.h) that reports the paths of system calls that open, make, rename or delete files;
 * file_calls.h says which calls have paths. A BPF program at the tracepoint sys_enter reads them,
 * before the kernel does. If a text is not in memory then, another program at sys_exit reads it,
 * after the kernel has fetched it. If it is still not in memory, it was not a path. Another thread
 * of the program may change a text meanwhile.
 */

/*
 * Opens the probe for this many processors. Calls of the thread `own_thread` (the kernel's number)
 * are left out. Returns false, with nothing open, on failure.
 */
bool etwas_path_probe_open(struct etwas_probe *probe, uint32_t processors, uint32_t own_thread);

/* Decodes a sample of the probe. Returns false if the sample is not one. */
bool etwas_path_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

#endif
