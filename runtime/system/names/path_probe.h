/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe (probe.h) that reports the paths of system calls that open, make, rename or delete files;
 * file_calls.h says which calls have paths. A BPF program at the tracepoint sys_enter reads them,
 * before the kernel does. If a text is not in memory then, another program at sys_exit reads it,
 * after the kernel has fetched it; if it is not in memory then either, it was no path. Another
 * thread of the program may change a text meanwhile.
 */
#ifndef ETWAS_SYSTEM_NAMES_PATH_PROBE_H
#define ETWAS_SYSTEM_NAMES_PATH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/probe.h"
#include "system/stream/sample.h"

/*
 * Opens the probe for so many processors. Calls of one thread, by the kernel's number, are left
 * out. False: nothing is open.
 */
bool etwas_path_probe_open(struct etwas_probe *probe, uint32_t processors, uint32_t own_thread);

/* Decodes a sample of the probe. False: the sample is not one. */
bool etwas_path_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

#endif
