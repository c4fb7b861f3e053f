/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe (probe.h) that says which paths a system call is given that opens, makes, renames or deletes a file, for the
 * calls that file_calls.h has paths of: a BPF program at the tracepoint sys_enter, where the kernel has not read them yet.
 * Where the text is not in memory then, another at sys_exit reads it, when the kernel has fetched it; what is not there
 * then either was no path. Another thread of the program can change a text meanwhile.
 */
#ifndef ETWAS_SYSTEM_NAMES_PATH_PROBE_H
#define ETWAS_SYSTEM_NAMES_PATH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/probe.h"
#include "system/stream/sample.h"

/* For so many processors; nothing of one thread, as the kernel numbers it. False: nothing is open. */
bool etwas_path_probe_open(struct etwas_probe *probe, uint32_t processors, uint32_t own_thread);

/* False: the sample is another. */
bool etwas_path_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record);

#endif
