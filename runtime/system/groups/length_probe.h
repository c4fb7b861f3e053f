/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The lengths of TCP and UDP transfers, on kernels without tracepoints for them (before 6.3): BPF
 * programs of ours after the kernel's functions report what these returned. The functions are found
 * by the kernel's BTF (stream/probe.h). Needs CAP_BPF and CAP_PERFMON.
 */
#ifndef ETWAS_SYSTEM_GROUPS_LENGTH_PROBE_H
#define ETWAS_SYSTEM_GROUPS_LENGTH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/probe.h"
#include "system/stream/sample.h"

/* Whether the kernel has the tracepoints. */
bool etwas_length_has_tracepoints(void);

/*
 * Opens the probe for this many processors. Returns false, with nothing open, on failure and if the
 * kernel has the tracepoints.
 */
bool etwas_length_probe_open(struct etwas_probe *probe, uint32_t processors);

/* Decodes a sample of the probe. Returns false if the sample is not one. */
bool etwas_length_decode(const struct etwas_sample *sample,
                         struct etwas_process_record *process_record);

#endif
