/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe (probe.h) that reports the arguments with which each exec begins: a BPF program at the
 * tracepoint sched_process_exec. At that time the new program's stack exists and the program has
 * not run, so the arguments are those that it is given; for a script, those of its interpreter.
 *
 * Where the kernel has no BTF, there is no such probe.
 */
#ifndef ETWAS_SYSTEM_NAMES_EXEC_PROBE_H
#define ETWAS_SYSTEM_NAMES_EXEC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/bpf/reports.h"
#include "system/stream/probe.h"
#include "system/stream/sample.h"

/* Opens the probe for so many processors. False: nothing is open. */
bool etwas_exec_probe_open(struct etwas_probe *probe, uint32_t processors);

/*
 * Decodes a sample of the probe. False: the sample is not one. No bytes: the arguments could not be
 * read.
 */
bool etwas_exec_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

#endif
