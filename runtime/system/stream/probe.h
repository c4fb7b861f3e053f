/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe in the kernel: BPF programs of ours at tracepoints or after functions, which report what
 * the kernel's events do not. They write into the rings of the streams, as samples of an event
 * PERF_COUNT_SW_BPF_OUTPUT that each stream has.
 *
 * Without CAP_BPF and CAP_PERFMON there is no probe.
 */
#ifndef ETWAS_SYSTEM_STREAM_PROBE_H
#define ETWAS_SYSTEM_STREAM_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_PROBE_LINKS = 6
};

struct etwas_probe {
    int outputs; /* -1: the probe is closed */
    int links[ETWAS_PROBE_LINKS];
};

/* A closed probe. */
#define ETWAS_PROBE_CLOSED ((struct etwas_probe){-1, {-1, -1, -1, -1, -1, -1}})

/* Makes the outputs for so many processors. False: nothing is open. */
bool etwas_probe_begin(struct etwas_probe *probe, uint32_t processors);

/*
 * Runs the program at the tracepoint from now on (NULL: where it was made for) and closes its
 * descriptor. A descriptor of -1 is refused.
 */
bool etwas_probe_attach(struct etwas_probe *probe, int program, const char *tracepoint);

/* Sends what happens on this processor to the ring of this event from now on. */
bool etwas_probe_send(const struct etwas_probe *probe, uint32_t processor, int event);

/*
 * Closes the probe, if it is open. Async-signal-safe. In a fork's child the parent's probe goes on.
 */
void etwas_probe_close(struct etwas_probe *probe);

#endif
