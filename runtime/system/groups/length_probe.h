/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How much was sent and received by TCP and UDP, on kernels that have no tracepoints for it (before 6.3): a BPF program
 * behind each of the kernel's functions for it, of our own, hands over what the function returned. The kernel
 * tells where the programs go by its own description (btf.h). Needs CAP_BPF and CAP_PERFMON.
 */
#ifndef ETWAS_SYSTEM_GROUPS_LENGTH_PROBE_H
#define ETWAS_SYSTEM_GROUPS_LENGTH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/probe.h"
#include "system/stream/sample.h"

/* Whether the kernel has the tracepoints. */
bool etwas_length_has_tracepoints(void);

/* For so many processors. False: nothing is open, also where there are tracepoints. */
bool etwas_length_probe_open(struct etwas_probe *probe, uint32_t processors);

/* False: the sample is another. */
bool etwas_length_decode(const struct etwas_sample *sample,
                         struct etwas_process_record *process_record);

#endif
