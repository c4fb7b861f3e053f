/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe in the kernel: BPF programs of ours at tracepoints or behind functions, which say what the kernel's events do not. They write into
 * the feeds' rings, as samples of an event PERF_COUNT_SW_BPF_OUTPUT that each feed has.
 *
 * Without leave (CAP_BPF and CAP_PERFMON) there is none.
 */
#ifndef ETWAS_SYSTEM_STREAM_PROBE_H
#define ETWAS_SYSTEM_STREAM_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_PROBE_LINKS = 6
};

struct etwas_probe {
    int outputs; /* -1: there is none */
    int links[ETWAS_PROBE_LINKS];
};

/* Nothing is open. */
#define ETWAS_PROBE_CLOSED ((struct etwas_probe){-1, {-1, -1, -1, -1, -1, -1}})

/* Its outputs, for so many processors. False: nothing is open. */
bool etwas_probe_begin(struct etwas_probe *probe, uint32_t processors);

/* The program runs there (NULL: where it was made for) from now on; it is closed, or was -1, which is refused. */
bool etwas_probe_attach(struct etwas_probe *probe, int program, const char *tracepoint);

/* What happens on this processor goes to this event's ring, from now on. */
bool etwas_probe_send(const struct etwas_probe *probe, uint32_t processor, int event);

/* Also of one that is not open; async-signal-safe. In a fork's child the parent's goes on. */
void etwas_probe_close(struct etwas_probe *probe);

#endif
