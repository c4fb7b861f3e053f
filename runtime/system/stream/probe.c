/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/probe.h"

#include <unistd.h>

static void close_one(int *descriptor)
{
    int closed = *descriptor;

    *descriptor = -1; /* first: see etwas_cpu_stream_forget */
    if (closed >= 0) {
        (void)close(closed);
    }
}

bool etwas_probe_begin(struct etwas_probe *probe, uint32_t processors)
{
    *probe = ETWAS_PROBE_CLOSED;
    probe->outputs = etwas_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t), processors);
    return probe->outputs >= 0;
}

bool etwas_probe_attach(struct etwas_probe *probe, int program, const char *tracepoint)
{
    uint32_t place = 0;

    if (program < 0) {
        return false;
    }
    while (place < ETWAS_PROBE_LINKS - 1 && probe->links[place] >= 0) {
        place++;
    }
    probe->links[place] = etwas_bpf_attach_tracepoint(program, tracepoint);
    close_one(&program);
    return probe->links[place] >= 0;
}

bool etwas_probe_send(const struct etwas_probe *probe, uint32_t processor, int event)
{
    return etwas_bpf_map_set(probe->outputs, processor, (uint32_t)event);
}

void etwas_probe_close(struct etwas_probe *probe)
{
    for (uint32_t place = 0; place < ETWAS_PROBE_LINKS; place++) {
        close_one(&probe->links[place]);
    }
    close_one(&probe->outputs);
}
